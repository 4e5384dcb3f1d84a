//! What is left of refused requests: counts, and a bounded, redacted copy of a few of them. Both live apart from the
//! inbox (invariant 22): forged traffic must never be able to touch an event.

use std::sync::Arc;

use crate::request::Headers;
use crate::time::Micros;

/// A refused request, sampled: redacted and cut before it comes here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    pub source: Arc<str>,
    /// Method, path and query, without what in them is secret.
    pub target: String,
    pub headers: Headers,
    pub body: Vec<u8>,
    pub reason: String,
    pub received: Micros,
}

/// What a second of refused traffic comes to: one commit, however many they were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusals {
    pub samples: Vec<Sample>,
    /// (source, reason, how many).
    pub counts: Vec<(Arc<str>, String, u64)>,
}
