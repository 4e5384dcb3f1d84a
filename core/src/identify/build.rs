//! From the texts of a rule to its compiled form, with every error and its place.

use super::expr::{Expr, Piece, Place};
use super::path::{Path, Root, Step};
use super::plan::Plan;
use super::rule::{Alternative, Part, Plans, Rule, RuleError, Source};
use super::spec::{Definition, RuleSpec};
use crate::provider::{Fallback, IdGuard};

/// Entries of one list: alternatives, required places, volatile places, batch paths.
pub const MAX_ENTRIES: usize = 64;

/// A rule under construction; every error is kept, so that they are told all at once.
pub struct Build<'a> {
    spec: &'a RuleSpec,
    batch: bool,
    plans: Plans,
    unsigned: Vec<Place>,
    definition: Definition,
    pub errors: Vec<RuleError>,
}

impl<'a> Build<'a> {
    pub fn new(spec: &'a RuleSpec) -> Self {
        Build {
            spec,
            batch: spec.items.as_ref().is_some_and(|items| !items.is_empty()),
            plans: Plans::default(),
            unsigned: Vec::new(),
            definition: Definition::default(),
            errors: Vec::new(),
        }
    }

    pub fn rule(&mut self, source: &str, namespace: &str) -> Rule {
        let spec = self.spec;
        self.items();
        let volatile_fields = self.volatile();
        let key = self.key();
        let kind = self.covered("type", &spec.kind);
        let aggregate = self.covered("aggregate", &spec.aggregate);
        let fallback = spec.fallback.unwrap_or_else(|| default_fallback(&key));
        let id_guard = self.id_guard(&key);
        let version = spec.version.as_ref();
        Rule {
            number: 0,
            source: source.into(),
            namespace: namespace.into(),
            time: self.list("time", &spec.time),
            version: self.list("version", &version.map(|v| v.from.clone())),
            version_kind: version.map(|v| v.kind).unwrap_or_default(),
            delivery_id: self.list("delivery_id", &spec.delivery_id),
            attempt_mark: self.list("attempt_mark", &spec.attempt_mark),
            schema_version: self.list("schema_version", &spec.schema_version),
            schema_versions: self.schema_versions(),
            schema_strict: spec.schema_strict,
            require: self.list("require", &spec.require),
            volatile_fields,
            batch: self.batch,
            fallback,
            fingerprint: spec.fingerprint.unwrap_or_default(),
            id_guard,
            unsigned: self.covered_sources(),
            definition: self.define(&key, &kind, &aggregate, fallback),
            key,
            kind,
            aggregate,
            plans: std::mem::take(&mut self.plans),
        }
    }

    fn error(&mut self, field: &'static str, entry: usize, offset: usize, message: impl Into<String>) {
        self.errors.push(RuleError { field, entry, offset, message: message.into() });
    }

    fn key(&mut self) -> Vec<Alternative> {
        let key = self.covered("key", &self.spec.key);
        if self.spec.key.as_ref().is_none_or(Vec::is_empty) {
            self.error("key", 0, 0, "a source without a provider says what its key is. hint: `key = \"$.id\"`, `\"header:NAME\"` or `\"body-sha256\"`");
        }
        for (entry, alternative) in key.iter().enumerate() {
            let constant = |part: &Part| matches!(part, Part::Literal(_) | Part::Value(Source::Constant(_)));
            if alternative.parts.iter().all(constant) {
                self.error("key", entry, 0, "a constant cannot tell events apart");
            }
        }
        key
    }

    fn schema_versions(&mut self) -> Vec<String> {
        let known = self.spec.schema_versions.clone().unwrap_or_default();
        if self.spec.schema_version.is_none() && (!known.is_empty() || self.spec.schema_strict) {
            self.error("schema_versions", 0, 0, "`schema_version` says where the version stands, and is missing");
        }
        known
    }

    /// A list whose unsigned places go into the fingerprint.
    fn covered(&mut self, field: &'static str, texts: &Option<Vec<String>>) -> Vec<Alternative> {
        let exprs = self.exprs(field, texts);
        for place in exprs.iter().flat_map(Expr::places) {
            if !self.is_signed(place) && !self.unsigned.contains(place) {
                self.unsigned.push(place.clone());
            }
        }
        exprs.iter().map(|expr| self.alternative(expr)).collect()
    }

    fn list(&mut self, field: &'static str, texts: &Option<Vec<String>>) -> Vec<Alternative> {
        let exprs = self.exprs(field, texts);
        exprs.iter().map(|expr| self.alternative(expr)).collect()
    }

    fn exprs(&mut self, field: &'static str, texts: &Option<Vec<String>>) -> Vec<Expr> {
        let mut exprs = Vec::new();
        for (entry, text) in self.limited(field, texts).iter().enumerate() {
            match Expr::parse(text) {
                Ok(expr) => exprs.push(expr),
                Err(e) => self.error(field, entry, e.offset, e.message),
            }
        }
        exprs
    }

    fn limited<'t>(&mut self, field: &'static str, texts: &'t Option<Vec<String>>) -> &'t [String] {
        let texts = texts.as_deref().unwrap_or_default();
        if texts.len() > MAX_ENTRIES {
            self.error(field, MAX_ENTRIES, 0, format!("at most {MAX_ENTRIES} entries"));
        }
        texts.get(..MAX_ENTRIES).unwrap_or(texts)
    }

    fn alternative(&mut self, expr: &Expr) -> Alternative {
        let mut parts = Vec::with_capacity(expr.pieces.len());
        for piece in &expr.pieces {
            parts.push(match piece {
                Piece::Literal(text) => Part::Literal(text.clone()),
                Piece::Value(place) => Part::Value(self.source(place)),
            });
        }
        Alternative {
            parts,
            unsigned: expr.places().any(|place| !self.is_signed(place)),
            own: expr.places().any(|place| self.is_own(place)),
            body_hash: expr.places().any(|place| *place == Place::BodyHash),
            text: expr.to_string(),
        }
    }

    fn is_signed(&self, place: &Place) -> bool {
        match place {
            Place::Header(name) => self.spec.coverage.headers.iter().any(|h| h.eq_ignore_ascii_case(name)),
            Place::Query(_) => self.spec.coverage.target,
            Place::Present(place) => self.is_signed(place),
            _ => true,
        }
    }

    fn is_own(&self, place: &Place) -> bool {
        match place {
            Place::Json(path) => path.root == Root::Item,
            Place::BodyHash => true,
            Place::Present(place) => self.is_own(place),
            _ => false,
        }
    }

    fn source(&mut self, place: &Place) -> Source {
        match place {
            Place::Json(path) => {
                let root = if self.batch { path.root } else { Root::Document };
                Source::Json(root, self.plan(root).slot(path))
            }
            Place::Header(name) => Source::Header(name.clone()),
            Place::Query(name) => Source::Query(name.clone()),
            Place::Form(name) => Source::Form(name.clone()),
            Place::FormJson(name, path) => {
                let mut plan = Plan::default();
                plan.slot(path);
                Source::FormJson(name.clone(), Box::new(plan))
            }
            Place::Constant(text) => Source::Constant(text.clone()),
            Place::BodyHash => Source::BodyHash,
            Place::Present(place) => Source::Present(Box::new(self.source(place))),
        }
    }

    fn plan(&mut self, root: Root) -> &mut Plan {
        match root {
            Root::Document => &mut self.plans.document,
            Root::Item => &mut self.plans.item,
            Root::Parent => &mut self.plans.parent,
        }
    }

    fn covered_sources(&mut self) -> Vec<Source> {
        let places = std::mem::take(&mut self.unsigned);
        self.definition.unsigned = places.iter().map(Place::to_string).collect();
        places.iter().map(|place| self.source(place)).collect()
    }

    /// Batch paths, with and without the wildcard behind them: `$.events` and `$.events[*]` are the same items.
    fn items(&mut self) {
        let spec = self.spec;
        for (entry, text) in self.limited("items", &spec.items).iter().enumerate() {
            match batch_path(text) {
                Ok(path) if self.definition.items.contains(&path.to_string()) => {
                    self.error("items", entry, 0, "this path stands here twice");
                }
                Ok(path) => {
                    let arrays = path.steps.strip_suffix(&[Step::Any]).unwrap_or(&path.steps);
                    self.plans.document.items(arrays);
                    self.definition.items.push(path.to_string());
                }
                Err((offset, message)) => self.error("items", entry, offset, message),
            }
        }
    }

    /// Volatile values stand in the item: as paths, which go into the plans, or as form fields, which come back.
    fn volatile(&mut self) -> Vec<String> {
        let spec = self.spec;
        let mut fields = Vec::new();
        for (entry, text) in self.limited("volatile", &spec.volatile).iter().enumerate() {
            match volatile_place(text) {
                Ok(Volatile::Path(path)) => {
                    let root = if self.batch { Root::Item } else { Root::Document };
                    self.plan(root).volatile(&path);
                    self.definition.volatile.push(path.to_string());
                }
                Ok(Volatile::Field(name)) => {
                    self.definition.volatile.push(format!("form:{name}"));
                    fields.push(name);
                }
                Err((offset, message)) => self.error("volatile", entry, offset, message),
            }
        }
        self.definition.volatile.sort();
        fields
    }

    /// Where an id stands outside the signature, equal signed content under another id is suspicious by default.
    fn id_guard(&self, key: &[Alternative]) -> IdGuard {
        if self.spec.coverage.nothing || !key.iter().any(|a| a.unsigned) {
            return IdGuard::Accept;
        }
        self.spec.id_guard.unwrap_or(IdGuard::Hold)
    }

    fn define(
        &mut self,
        key: &[Alternative],
        kind: &[Alternative],
        aggregate: &[Alternative],
        fallback: Fallback,
    ) -> String {
        let texts = |list: &[Alternative]| list.iter().map(|a| a.text.clone()).collect();
        let mut definition = std::mem::take(&mut self.definition);
        definition.key = texts(key);
        definition.kind = texts(kind);
        definition.aggregate = texts(aggregate);
        definition.fingerprint = self.spec.fingerprint.unwrap_or_default();
        definition.fallback = if fallback == Fallback::Body { "body" } else { "unmapped" }.into();
        definition.text()
    }
}

/// Ids in the body: its hash stands in for a blank one. Ids in a header: nobody knows which event it is.
fn default_fallback(key: &[Alternative]) -> Fallback {
    let header = |part: &Part| matches!(part, Part::Value(Source::Header(_) | Source::Query(_)));
    if key.iter().any(|a| a.parts.iter().any(header)) { Fallback::Unmapped } else { Fallback::Body }
}

fn batch_path(text: &str) -> Result<Path, (usize, String)> {
    if text.starts_with("form:") {
        return Err((0, "items inside a form field are not built yet".into()));
    }
    let mut path = Path::parse(text).map_err(|e| (e.offset, e.message))?;
    if path.root == Root::Parent {
        return Err((0, "items are looked for in the whole document. hint: begin with `$`".into()));
    }
    path.root = Root::Item;
    if path.steps.last() != Some(&Step::Any) {
        path.steps.push(Step::Any);
    }
    Ok(path)
}

enum Volatile {
    Path(Path),
    Field(String),
}

fn volatile_place(text: &str) -> Result<Volatile, (usize, String)> {
    if let Some(name) = text.strip_prefix("form:") {
        return match Expr::parse(text).map_err(|e| (e.offset, e.message))?.single() {
            Some(Place::Form(_)) => Ok(Volatile::Field(name.to_owned())),
            _ => Err((0, "a volatile form field is named whole".into())),
        };
    }
    let path = Path::parse(text).map_err(|e| (e.offset, e.message))?;
    if path.root != Root::Item {
        return Err((0, "volatile values stand in the event itself. hint: begin with `$.`".into()));
    }
    if path.steps.is_empty() {
        return Err((0, "the whole event cannot be volatile".into()));
    }
    Ok(Volatile::Path(path))
}
