//! What is known of a provider, as data. The constants stand in `signature/catalog.rs`; this is their shape.
//!
//! Identity is written in the very text forms of the configuration (`$.id`, `header:X-GitHub-Delivery`,
//! `{Entity}.{Action}`), so that a profile can never say what a user could not, and `identify` has one parser.

use crate::signature::Scheme;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confidence {
    High,
    Medium,
    Low,
}

/// What to do with an item whose key rule finds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// Key is the SHA-256 of the item's bytes.
    Body,
    Unmapped,
}

/// What equal signed content under another unsigned id means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdGuard {
    Hold,
    Duplicate,
    Accept,
}

#[derive(Clone, Copy, Debug)]
pub struct Provider {
    pub id: &'static str,
    pub name: &'static str,
    pub confidence: (Confidence, Confidence),
    /// First is the default scheme; a header of the request never selects another.
    pub schemes: &'static [&'static Scheme],
    pub handshakes: &'static [&'static str],
    pub identity: Identity,
    pub methods: &'static [&'static str],
    pub max_body: Option<u64>,
    pub id_guard: Option<IdGuard>,
    pub fallback: Fallback,
    /// Seconds the provider waits for our answer; `None`: not known.
    pub timeout_seconds: Option<u64>,
    /// Whether it tries again by itself; `None`: not known.
    pub retries: Option<bool>,
    /// Its schedule in words.
    pub retry_text: &'static str,
    pub retry_window_seconds: Option<u64>,
    pub manual_window_seconds: Option<u64>,
    pub retry_429: bool,
    /// The delays of its retries, for the simulated sender and the docs.
    pub retry_delays_seconds: &'static [u64],
    /// Where to click, known traps: lines for `hookonce providers NAME`.
    pub notes: &'static [&'static str],
}

/// Alternatives in order of preference, in the text forms of the configuration. Empty: not known.
#[derive(Clone, Copy, Debug, Default)]
pub struct Identity {
    pub key: &'static [&'static str],
    pub kind: &'static [&'static str],
    pub aggregate: &'static [&'static str],
    pub time: &'static [&'static str],
    pub version: &'static [&'static str],
    pub delivery_id: &'static [&'static str],
    pub attempt_mark: &'static [&'static str],
    pub volatile: &'static [&'static str],
    pub items: &'static [&'static str],
}
