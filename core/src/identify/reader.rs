//! What a rule reads from one item of one request: places to values, alternatives to keys, types and aggregates.
//!
//! The rule of reading: an alternative holds only if each of its places is there as one text, number or boolean.
//! Containers, `null` and blank text are absent, because a blank id is no id.

use std::borrow::Cow;
use std::cell::OnceCell;

use super::form::Form;
use super::json::{Kind, NotJson, Value};
use super::path::Root;
use super::plan::{Found, Plan};
use super::rule::{Alternative, Part, Source};
use super::{event_time, text};
use crate::event::{Hash, Key, KeyKind};
use crate::frame;
use crate::request::Request;
use crate::time::Micros;

/// The parts of a request that are parsed at most once, and only if a rule asks.
pub struct Shared<'a> {
    pub request: &'a Request,
    /// `None`: not JSON, or nothing asks for JSON.
    pub document: Option<Found>,
    pub not_json: Option<NotJson>,
    form: OnceCell<Form<'a>>,
    query: OnceCell<Form<'a>>,
}

/// One item as the rule sees it.
pub struct View<'v, 'r> {
    pub shared: &'v Shared<'r>,
    pub item: Option<&'v Found>,
    pub parent: Option<&'v Found>,
    /// SHA-256 of the item without its volatile values.
    pub content: Hash,
}

impl<'a> Shared<'a> {
    pub fn new(request: &'a Request, plan: &Plan) -> Self {
        let (document, not_json) = match plan.is_idle() {
            true => (None, None),
            false => match plan.document(&request.decoded) {
                Ok(found) => (Some(found), None),
                Err(why) => (None, Some(why)),
            },
        };
        Shared { request, document, not_json, form: OnceCell::new(), query: OnceCell::new() }
    }

    /// The body as a form. What is JSON is none, so that a large document is not searched for `&`.
    pub fn form(&self) -> &Form<'a> {
        self.form.get_or_init(|| {
            let body: &[u8] = &self.request.decoded;
            let json = matches!(body.trim_ascii_start().first(), Some(b'{' | b'['));
            Form::parse(if json { b"" } else { body })
        })
    }

    fn query(&self) -> &Form<'a> {
        self.query.get_or_init(|| Form::parse(self.request.query().as_bytes()))
    }

    pub fn query_values<'t>(&'t self, name: &'t str) -> impl Iterator<Item = Cow<'t, [u8]>> {
        let query = self.query();
        query.all(name).map(|field| query.text(field))
    }

    /// A field of the body, in a request without one of the query.
    fn field(&self, name: &str) -> Option<Cow<'a, [u8]>> {
        if self.request.decoded.is_empty() { self.query().last(name) } else { self.form().last(name) }
    }

    /// A header that stands there twice with different values is ambiguous: proxies and consumers would disagree on it.
    fn header(&self, name: &str) -> Option<&'a [u8]> {
        let mut values = self.request.headers.all(name);
        let first = values.next()?;
        values.all(|value| value == first).then_some(first)
    }
}

impl View<'_, '_> {
    /// The text at a place, if there is one.
    pub fn text<'t>(&'t self, source: &'t Source) -> Option<Cow<'t, [u8]>> {
        let shared = self.shared;
        let text = match source {
            Source::Json(root, slot) => text::of(&self.value(*root, *slot)?, &shared.request.decoded)?,
            Source::Header(name) => Cow::Borrowed(shared.header(name)?),
            Source::Query(name) => shared.query().last(name)?,
            Source::Form(name) => shared.field(name)?,
            Source::FormJson(name, plan) => inside_field(&shared.field(name)?, plan)?,
            Source::Constant(text) => Cow::Borrowed(text.as_bytes()),
            Source::BodyHash => Cow::Owned(frame::hex(&self.content).into_bytes()),
            Source::Present(source) => return self.text(source).map(|_| Cow::Borrowed([].as_slice())),
        };
        (!text::absent(&text)).then_some(text)
    }

    fn value(&self, root: Root, slot: usize) -> Option<Value> {
        let found = match root {
            Root::Document => self.shared.document.as_ref(),
            Root::Item => self.item,
            Root::Parent => self.parent,
        };
        *found?.slots.get(slot)?
    }

    /// Whether something stands there; for `require` an object or a list is something too.
    pub fn has(&self, alternative: &Alternative) -> bool {
        alternative.parts.iter().all(|part| match part {
            Part::Value(Source::Json(root, slot)) => self.value(*root, *slot).is_some_and(|value| {
                let text = text::of(&value, &self.shared.request.decoded);
                matches!(value.kind, Kind::Array | Kind::Object) || text.is_some_and(|t| !text::absent(&t))
            }),
            Part::Value(source) => self.text(source).is_some(),
            Part::Literal(_) => true,
        })
    }

    /// The first alternative that holds, with the texts of its parts in order.
    fn first<'t, 'l: 't>(&'t self, list: &'l [Alternative]) -> Option<Reading<'l, 't>> {
        list.iter().find_map(|alternative| self.read(alternative))
    }

    pub fn read<'t, 'l: 't>(&'t self, alternative: &'l Alternative) -> Option<Reading<'l, 't>> {
        // Most alternatives of a profile do not hold; they are left before anything is collected.
        if alternative.parts.iter().any(|part| self.is_empty(part)) {
            return None;
        }
        let mut texts = Vec::with_capacity(alternative.parts.len());
        for part in &alternative.parts {
            texts.push(match part {
                Part::Literal(literal) => Cow::Borrowed(literal.as_bytes()),
                Part::Value(source) => self.text(source)?,
            });
        }
        Some(Reading { alternative, texts })
    }

    fn is_empty(&self, part: &Part) -> bool {
        matches!(part, Part::Value(Source::Json(root, slot)) if self.value(*root, *slot).is_none())
    }

    /// The first alternative that holds, as one text for people.
    pub fn shown(&self, list: &[Alternative]) -> Option<String> {
        self.first(list).map(|reading| reading.shown())
    }

    /// The first that holds and is what it should be.
    pub fn shown_if(&self, list: &[Alternative], fits: impl Fn(&[u8]) -> bool) -> Option<String> {
        let mut readings = list.iter().filter_map(|alternative| self.read(alternative));
        readings.find(|reading| fits(&reading.texts.concat())).map(|reading| reading.shown())
    }

    /// The first that holds and is a time.
    pub fn time(&self, list: &[Alternative]) -> Option<Micros> {
        let received = self.shared.request.received;
        let mut readings = list.iter().filter_map(|alternative| self.read(alternative));
        readings.find_map(|reading| event_time::of(&reading.texts.concat(), received))
    }

    pub fn aggregate(&self, list: &[Alternative]) -> Option<String> {
        self.first(list).map(|reading| reading.aggregate())
    }

    /// The key, and the alternative that gave it.
    pub fn key<'l>(&self, list: &'l [Alternative]) -> Option<(Key, &'l Alternative)> {
        let reading = self.first(list)?;
        Some((reading.key(&self.content), reading.alternative))
    }
}

fn inside_field(field: &[u8], plan: &Plan) -> Option<Cow<'static, [u8]>> {
    let found = plan.document(field).ok()?;
    let value = (*found.slots.first()?)?;
    Some(Cow::Owned(text::of(&value, field)?.into_owned()))
}

/// An alternative that holds, and its texts.
pub struct Reading<'l, 't> {
    alternative: &'l Alternative,
    texts: Vec<Cow<'t, [u8]>>,
}

impl Reading<'_, '_> {
    fn parts(&self) -> impl Iterator<Item = (&Part, &[u8])> {
        self.alternative.parts.iter().zip(self.texts.iter().map(|text| &**text))
    }

    fn shown(&self) -> String {
        let mut shown = String::new();
        for text in &self.texts {
            text::push_shown(&mut shown, text, |_| false);
        }
        shown
    }

    /// One value is compared as it is; several are framed, with the literal text between them, but for the colons that
    /// only separate.
    fn key(&self, content: &Hash) -> Key {
        match self.alternative.parts.as_slice() {
            [Part::Value(Source::BodyHash)] => body_key(content),
            [Part::Value(_)] => Key { kind: KeyKind::Provider, bytes: self.texts.concat(), text: self.shown() },
            _ => {
                let mut bytes = Vec::new();
                for (part, text) in self.parts() {
                    match part {
                        Part::Value(_) => frame::push(&mut bytes, text),
                        Part::Literal(literal) => match literal.trim_matches(':') {
                            "" => {}
                            literal => frame::push(&mut bytes, literal.as_bytes()),
                        },
                    }
                }
                Key { kind: KeyKind::Template, bytes, text: self.shown() }
            }
        }
    }

    /// Parts are what stands between colons. A colon inside a value is escaped; so is, where one part holds several
    /// values, the character that would end the value. Values without anything between them get a colon.
    fn aggregate(&self) -> String {
        let mut joined = String::new();
        let mut previous_value = false;
        for (n, (part, text)) in self.parts().enumerate() {
            let value = matches!(part, Part::Value(_));
            if value && previous_value {
                joined.push(':');
            }
            let end = self.end_of_value(n);
            text::push_shown(&mut joined, text, |c| value && (matches!(c, ':' | '\\') || Some(c) == end));
            previous_value = value;
        }
        joined
    }

    /// The first character of the literal between this value and the next one of the same part.
    fn end_of_value(&self, n: usize) -> Option<char> {
        match self.alternative.parts.get(n + 1..)? {
            [Part::Literal(literal), _, ..] if !literal.contains(':') => literal.chars().next(),
            _ => None,
        }
    }
}

/// The key of an item that has no id: the hash of its content.
pub fn body_key(content: &Hash) -> Key {
    Key { kind: KeyKind::Body, bytes: content.to_vec(), text: frame::hex(content) }
}
