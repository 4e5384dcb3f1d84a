//! An identity rule, compiled once when the configuration is read: texts become paths, paths become plans.
//!
//! Here: what a rule is made of. How one is made, and all that can be wrong with it, stands in `build`; how it is applied
//! to a request in `items`, how single values are read in `reader`.

use std::sync::Arc;

use super::build::Build;
use super::path::Root;
use super::plan::{Plan, Slot};
use super::spec::{Definition, Fingerprint, RuleSpec, Unreadable, VersionKind};
use crate::provider::{Fallback, IdGuard};

/// One thing that is wrong, with its place: the field as the configuration names it, the entry of its list, and the
/// byte in that text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{field}`: {message}")]
pub struct RuleError {
    pub field: &'static str,
    pub entry: usize,
    pub offset: usize,
    pub message: String,
}

/// A stored rule that this version does not understand; its keys cannot be looked up.
#[derive(Debug, thiserror::Error)]
pub enum StoredError {
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    #[error("stored identity rule {number} is refused: {first}")]
    Refused { number: i64, first: RuleError },
}

/// A place with its path resolved to a slot of one of the plans.
#[derive(Clone, Debug)]
pub enum Source {
    Json(Root, Slot),
    Header(String),
    Query(String),
    Form(String),
    FormJson(String, Box<Plan>),
    Constant(String),
    BodyHash,
    /// Holds if something stands there, and adds no text.
    Present(Box<Source>),
}

/// One alternative, ready to be read.
#[derive(Clone, Debug)]
pub struct Alternative {
    pub parts: Vec<Part>,
    /// Reads something that the signature does not cover.
    pub unsigned: bool,
    /// Reads something of the item itself, so that it can tell two items of one request apart.
    pub own: bool,
    pub body_hash: bool,
    /// The text form, for messages.
    pub text: String,
}

#[derive(Clone, Debug)]
pub enum Part {
    Literal(String),
    Value(Source),
}

/// The plans of a rule, one for each root. Without a batch all roots are the document.
#[derive(Clone, Debug, Default)]
pub struct Plans {
    pub document: Plan,
    pub item: Plan,
    pub parent: Plan,
}

#[derive(Clone, Debug)]
pub struct Rule {
    /// The store's number for this definition; 0 until it has given one.
    pub number: i64,
    pub source: Arc<str>,
    pub namespace: Arc<str>,
    pub key: Vec<Alternative>,
    pub kind: Vec<Alternative>,
    pub aggregate: Vec<Alternative>,
    pub time: Vec<Alternative>,
    pub version: Vec<Alternative>,
    pub version_kind: VersionKind,
    pub delivery_id: Vec<Alternative>,
    pub attempt_mark: Vec<Alternative>,
    pub schema_version: Vec<Alternative>,
    pub schema_versions: Vec<String>,
    pub schema_strict: bool,
    pub require: Vec<Alternative>,
    /// Form fields with volatile values; JSON paths are in the plans.
    pub volatile_fields: Vec<String>,
    /// There are batch paths.
    pub batch: bool,
    pub plans: Plans,
    pub fallback: Fallback,
    pub fingerprint: Fingerprint,
    /// `Accept`: no guard row is written.
    pub id_guard: IdGuard,
    /// Places outside the signature that key, type or aggregate are read from.
    pub unsigned: Vec<Source>,
    pub definition: String,
}

impl Rule {
    pub fn compile(source: &str, namespace: &str, spec: &RuleSpec) -> Result<Rule, Vec<RuleError>> {
        let mut build = Build::new(spec);
        let rule = build.rule(source, namespace);
        if build.errors.is_empty() { Ok(rule) } else { Err(build.errors) }
    }

    /// A rule of earlier days, from the definition that the store kept: enough to ask what a request's digests were.
    pub fn stored(source: &str, namespace: &str, number: i64, definition: &str) -> Result<Rule, StoredError> {
        let spec = Definition::parse(definition)?.spec();
        match Rule::compile(source, namespace, &spec) {
            Ok(rule) => Ok(rule.numbered(number)),
            Err(mut errors) => Err(StoredError::Refused { number, first: errors.swap_remove(0) }),
        }
    }

    /// The same rule under the number that the store has given to its definition.
    pub fn numbered(self, number: i64) -> Rule {
        Rule { number, ..self }
    }
}
