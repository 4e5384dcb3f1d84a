//! A verified request becomes items: one, one for each element of a batch, or none of an empty batch.
//!
//! Nothing here decides about duplicates; that is `admit`, and it needs the ledger. Nothing here fails on what a
//! request says, but for batches over the limit: what cannot be mapped is kept with a reason.

use std::collections::HashMap;

use super::fingerprint::Hashes;
use super::json::Span;
use super::plan::{Element, Found};
use super::reader::{Shared, View, body_key};
use super::rule::{Alternative, Rule};
use super::spec::VersionKind;
use super::{batch, event_time, fingerprint};
use crate::event::{Guard, Hash, HoldReason, Item, Key, KeyKind, Mapped};
use crate::frame;
use crate::provider::{Fallback, IdGuard};
use crate::request::Request;

/// Items of one request.
pub const MAX_ITEMS: usize = 10_000;
/// Bytes of keys, types and aggregates of one request: a long value outside the items is copied into each of them.
pub const MAX_TEXTS: usize = 64 * 1024 * 1024;
/// The type of an event whose rule finds none.
pub const UNKNOWN: &str = "unknown";

/// The request is refused as too large; the source says so to its sender with 413.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a request may carry {MAX_ITEMS} items, and {MAX_TEXTS} bytes of keys, types and aggregates")]
pub struct TooManyItems;

/// What a rule makes of a verified request.
pub fn items(rule: &Rule, request: &Request) -> Result<Vec<Mapped>, TooManyItems> {
    let shared = Shared::new(request, &rule.plans.document);
    let whole = Span { start: 0, end: request.decoded.len() };
    let elements = match shared.document.as_ref().filter(|_| rule.batch) {
        Some(found) => batch::elements(found, rule.plans.document.batch_paths())?,
        None => None,
    };
    let mut run = Run { rule, shared: &shared, seen: HashMap::new(), texts: 0 };
    match elements {
        None => Ok(vec![run.single(whole)]),
        Some(elements) => run.batch(&elements),
    }
}

struct Run<'a> {
    rule: &'a Rule,
    shared: &'a Shared<'a>,
    /// How often each key made of a hash was given, and each guarded content.
    seen: HashMap<Vec<u8>, u32>,
    texts: usize,
}

/// Where an item stands in its request.
#[derive(Clone, Copy)]
struct Position {
    number: u32,
    span: Span,
    batch: bool,
}

impl<'a> Run<'a> {
    fn single(&mut self, span: Span) -> Mapped {
        let position = Position { number: 0, span, batch: false };
        if !self.rule.batch {
            let document = self.shared.document.as_ref();
            return self.item(position, document, document);
        }
        // A batch rule whose paths found no array: item and parent are the document.
        let bytes = &self.shared.request.decoded;
        let item = self.rule.plans.item.document(bytes).ok();
        let parent = self.rule.plans.parent.document(bytes).ok();
        self.item(position, item.as_ref(), parent.as_ref())
    }

    fn batch(&mut self, elements: &[Element]) -> Result<Vec<Mapped>, TooManyItems> {
        let bytes = &self.shared.request.decoded;
        let plans = &self.rule.plans;
        let mut mapped = Vec::with_capacity(elements.len());
        let mut parent: Option<(usize, Option<Found>)> = None;
        for (number, element) in elements.iter().enumerate() {
            let item = plans.item.value_at(bytes, element.span.start).ok();
            // Siblings share their parent: walked once, or a batch would cost its square.
            if !plans.parent.is_idle() && parent.as_ref().is_none_or(|(start, _)| *start != element.parent) {
                parent = Some((element.parent, plans.parent.value_at(bytes, element.parent).ok()));
            }
            let above = parent.as_ref().and_then(|(_, found)| found.as_ref());
            let position = Position { number: number as u32, span: element.span, batch: true };
            mapped.push(self.item(position, item.as_ref(), above));
            if self.texts > MAX_TEXTS {
                return Err(TooManyItems);
            }
        }
        Ok(mapped)
    }

    fn item(&mut self, position: Position, item: Option<&Found>, parent: Option<&Found>) -> Mapped {
        let hashes = fingerprint::hashes(self.rule, self.shared, position.span, item);
        let view = View { shared: self.shared, item, parent, content: hashes.content };
        let (key, alternative) = match self.key(&view, position).and_then(|key| self.require(&view).map(|()| key)) {
            Ok(found) => found,
            Err(reason) => return Mapped::Unmapped { item: position.number, span: position.in_body(), reason },
        };
        let guard = self.guard(alternative, &hashes.content, position);
        let item = self.build(&view, position, &hashes, key, guard);
        self.texts += length(&item);
        Mapped::Item(Box::new(item))
    }

    fn build(&self, view: &View<'_, '_>, position: Position, hashes: &Hashes, key: Key, guard: Option<Guard>) -> Item {
        let rule = self.rule;
        let schema_version = view.shown(&rule.schema_version);
        Item {
            source: rule.source.clone(),
            namespace: rule.namespace.clone(),
            rule: rule.number,
            digest: frame::digest(&rule.namespace, key.kind, &key.bytes),
            key,
            fingerprint: hashes.fingerprint,
            body_hash: hashes.body,
            kind: view.shown(&rule.kind).unwrap_or_else(|| UNKNOWN.into()),
            aggregate: view.aggregate(&rule.aggregate),
            version: version(rule, view),
            event_time: view.time(&rule.time),
            hold: hold(rule, schema_version.as_deref()),
            schema_version,
            span: position.in_body(),
            item: position.number,
            provider_delivery: view.shown(&rule.delivery_id),
            attempt_mark: view.shown(&rule.attempt_mark),
            guard,
        }
    }

    fn require(&self, view: &View<'_, '_>) -> Result<(), String> {
        match self.rule.require.iter().find(|place| !view.has(place)) {
            Some(missing) => Err(format!("required `{}` is missing", missing.text)),
            None => Ok(()),
        }
    }

    /// Key by the first alternative that holds, else by the fallback.
    fn key(&mut self, view: &View<'_, '_>, position: Position) -> Result<(Key, Option<&'a Alternative>), String> {
        let rule = self.rule;
        let (mut key, alternative) = match view.key(&rule.key) {
            Some((key, alternative)) => (key, Some(alternative)),
            None if rule.fallback == Fallback::Body => (body_key(&view.content), None),
            None => return Err(no_key(rule, view)),
        };
        if position.batch {
            let hashed = alternative.is_none_or(|a| a.body_hash);
            let copies = if hashed { self.copies(&key.bytes) } else { 0 };
            if copies > 0 {
                number(&mut key, "copy", copies);
            }
            if alternative.is_some_and(|a| !a.own) {
                number(&mut key, "item", position.number);
                key.kind = KeyKind::Template;
            }
        }
        Ok((key, alternative))
    }

    /// How many items before this one had the same bytes: identical elements of one batch are all meant.
    fn copies(&mut self, bytes: &[u8]) -> u32 {
        let seen = self.seen.entry(bytes.to_vec()).or_insert(0);
        *seen += 1;
        *seen - 1
    }

    /// Only where the id of this item came from outside the signature, and there is signed content to know it by.
    fn guard(&mut self, key: Option<&Alternative>, content: &Hash, position: Position) -> Option<Guard> {
        let then = self.rule.id_guard;
        if then == IdGuard::Accept || !key?.unsigned || position.span.start == position.span.end {
            return None;
        }
        let mut guarded = content.to_vec();
        if position.batch {
            let copies = self.copies(&[&b"guard"[..], content].concat());
            frame::push(&mut guarded, &copies.to_be_bytes());
        }
        Some(Guard { digest: frame::digest(&self.rule.namespace, KeyKind::Guard, &guarded), then })
    }
}

impl Position {
    fn in_body(self) -> Option<(u64, u64)> {
        self.batch.then_some((self.span.start as u64, self.span.end as u64))
    }
}

/// Adds what tells an item from its copies or siblings in the same request.
fn number(key: &mut Key, what: &str, number: u32) {
    let mut bytes = Vec::with_capacity(key.bytes.len() + 32);
    for part in [&key.bytes, what.as_bytes(), &number.to_be_bytes()] {
        frame::push(&mut bytes, part);
    }
    key.bytes = bytes;
    key.text = format!("{}:{number}", key.text);
}

fn no_key(rule: &Rule, view: &View<'_, '_>) -> String {
    let names: Vec<String> = rule.key.iter().map(|a| format!("`{}`", a.text)).collect();
    let why = view.shared.not_json.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
    format!("no key: {} is missing or blank{why}", names.join(", "))
}

/// The version as written, if it is of the declared kind; what is not would be no version of this aggregate.
fn version(rule: &Rule, view: &View<'_, '_>) -> Option<String> {
    match rule.version_kind {
        VersionKind::Any => view.shown(&rule.version),
        VersionKind::Number => view.shown_if(&rule.version, is_number),
        VersionKind::Time => view.shown_if(&rule.version, |text| event_time::parse(text).is_some()),
    }
}

fn is_number(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let (whole, fraction) = match digits.iter().position(|b| *b == b'.') {
        Some(point) => (digits.get(..point), digits.get(point + 1..)),
        None => (Some(digits), Some(&b"0"[..])),
    };
    [whole, fraction].iter().all(|part| part.is_some_and(|p| !p.is_empty() && p.iter().all(u8::is_ascii_digit)))
}

/// An event of a schema that nobody has listed is held, where the source is strict about it.
fn hold(rule: &Rule, version: Option<&str>) -> Option<HoldReason> {
    let known = version.is_some_and(|v| rule.schema_versions.iter().any(|listed| listed == v));
    (rule.schema_strict && !known).then_some(HoldReason::SchemaVersion)
}

fn length(item: &Item) -> usize {
    let optional = [&item.aggregate, &item.version, &item.schema_version, &item.provider_delivery, &item.attempt_mark];
    let optional: usize = optional.into_iter().flatten().map(String::len).sum();
    item.key.bytes.len() + item.key.text.len() + item.kind.len() + optional
}
