//! From a verified request to items: key, type, aggregate, version, times, fingerprint, each by the rule of its source.
//!
//! Start at [`items()`]. A rule is written as [`RuleSpec`] (texts of the configuration, defaults of the provider) and
//! compiled to a [`Rule`] once; per request there is one walk over the JSON with all paths of the rule in it (`plan` over
//! `json`), and no document tree: values are spans, and a value is decoded only when it is read (`reader`).
//!
//! Not here: verification (before, in `signature`) and the verdict (after, in `admit`, with the ledger's rows).

mod batch;
mod build;
mod canonical;
mod event_time;
mod expr;
mod fingerprint;
pub(crate) mod form;
mod items;
pub mod json;
mod path;
mod plan;
mod reader;
mod rule;
mod spec;
pub mod text;
mod walk;

pub use event_time::parse as parse_time;
pub use expr::{Expr, ExprError, Place};
pub use items::{MAX_ITEMS, TooManyItems, UNKNOWN, items};
pub use path::{Path, PathError, Root, Step};
pub use plan::{Found, Plan};
pub use rule::{Rule, RuleError, StoredError};
pub use spec::{Coverage, Definition, Fingerprint, RuleSpec, Unreadable, VersionKind, VersionSpec};

#[cfg(test)]
mod tests;
