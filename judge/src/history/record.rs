//! The records of the evidence. Times are microseconds of one clock ([`crate::rig::Clock`]), so "answered before
//! it was sent again" can be read off two records.

use serde::{Deserialize, Serialize};

/// A line of `history`: a send, and later at most one of answer or unknown with the same `n`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Entry {
    Send(Sent),
    Answer { n: u64, status: u16, at: u64 },
    Unknown { n: u64, why: String, at: u64 },
}

impl Entry {
    pub fn n(&self) -> u64 {
        match self {
            Self::Send(s) => s.n,
            Self::Answer { n, .. } | Self::Unknown { n, .. } => *n,
        }
    }
}

/// One request as it left us. `key` is what the *sender* calls one occurrence; how the server writes keys down is
/// its own affair, the checker compares bodies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    pub n: u64,
    pub source: String,
    pub key: String,
    pub event_type: String,
    pub aggregate: Option<String>,
    /// SHA-256 of the body, lower-case hex.
    pub digest: String,
    pub copy: Kind,
    pub validity: Validity,
    pub at: u64,
}

/// Why this request was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    First,
    Duplicate,
    Parallel,
    /// The provider's own retry of a send whose outcome it never learned.
    Retry,
    /// A known key with another body.
    Conflict,
    Forged,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Validity {
    Valid,
    /// Signed truly, then altered.
    Tampered,
    /// Signed with a secret that the source does not have.
    WrongSignature,
}

/// A line of `sink`: one request that reached the receiver, written before the receiver answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrival {
    pub consumer: String,
    /// `webhook-id`.
    pub message: String,
    /// `hookonce-source`, `hookonce-key`, `hookonce-event`.
    pub source: String,
    pub key: String,
    pub event: String,
    pub version: Version,
    pub digest: String,
    /// Whether our own code found the Standard Webhooks signature right.
    pub signed: bool,
    pub reply: Reply,
    pub at: u64,
}

/// `hookonce-version`, where it was sent.
pub type Version = Option<String>;

/// What the receiver did with an arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// Done, 200.
    Done,
    /// Not done, 500.
    Failed,
    /// Done, and the connection was closed without a word: the sender cannot know.
    DoneThenSilence,
    /// Not done, and silent until the sender or the run gave up.
    Silence,
}

impl Reply {
    /// The receiver's business took place.
    pub fn did_it(self) -> bool {
        matches!(self, Self::Done | Self::DoneThenSilence)
    }
}

/// A line of `effects`: the receiver's business table. A repeat of a known message id adds no row: recognising
/// repeats by that id is exactly what the receiver is promised it can do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    pub consumer: String,
    pub message: String,
    pub digest: String,
    pub at: u64,
}

/// A line of `faults`: something was broken on purpose, or was meant to be (`hit` false) and did not happen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    pub what: String,
    pub cycle: u64,
    pub seed: u64,
    pub hit: bool,
    pub at: u64,
}
