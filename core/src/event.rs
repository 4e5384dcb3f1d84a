//! Events and what becomes one: the items that identification makes of a verified request.

use std::sync::Arc;

use crate::provider::IdGuard;
use crate::time::Micros;

/// Number of an event in the store. Dense on SQLite, so that it is the position in the log as well.
pub type EventNo = i64;
/// First 16 bytes of SHA-256 over the framed (namespace, key kind, key): what the ledger is keyed by.
pub type Digest = [u8; 16];
/// SHA-256.
pub type Hash = [u8; 32];
/// 0, else the first eight bytes of the fingerprint of a released conflict.
pub type Variant = i64;

/// Where a key came from. Part of the digest: equal texts of different kinds are different keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyKind {
    /// One value that the provider sent: a field, a header, a query parameter.
    Provider,
    /// Several values, length-framed, so that they cannot slide into each other.
    Template,
    /// SHA-256 of the item's bytes (of an empty body together with the target).
    Body,
    /// Ledger rows beside the event's own: equal signed content under another id.
    Guard,
}

impl KeyKind {
    pub fn name(self) -> &'static str {
        match self {
            KeyKind::Provider => "provider",
            KeyKind::Template => "template",
            KeyKind::Body => "body",
            KeyKind::Guard => "guard",
        }
    }

    pub fn parse(name: &str) -> Option<KeyKind> {
        [KeyKind::Provider, KeyKind::Template, KeyKind::Body, KeyKind::Guard].into_iter().find(|k| k.name() == name)
    }
}

/// `bytes` is compared (framed for templates), `text` is shown to people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub kind: KeyKind,
    pub bytes: Vec<u8>,
    pub text: String,
}

/// Why an accepted event is not passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HoldReason {
    BeyondRetention,
    SuspectedReplay,
    BusinessKey,
    SchemaVersion,
    UnknownDifference,
    NoConsumer,
}

impl HoldReason {
    pub const ALL: [HoldReason; 6] = [
        HoldReason::BeyondRetention,
        HoldReason::SuspectedReplay,
        HoldReason::BusinessKey,
        HoldReason::SchemaVersion,
        HoldReason::UnknownDifference,
        HoldReason::NoConsumer,
    ];

    pub fn name(self) -> &'static str {
        match self {
            HoldReason::BeyondRetention => "beyond_retention",
            HoldReason::SuspectedReplay => "suspected_replay",
            HoldReason::BusinessKey => "business_key",
            HoldReason::SchemaVersion => "schema_version",
            HoldReason::UnknownDifference => "unknown_difference",
            HoldReason::NoConsumer => "no_consumer",
        }
    }

    pub fn parse(name: &str) -> Option<HoldReason> {
        Self::ALL.into_iter().find(|r| r.name() == name)
    }
}

/// One business occurrence as the request claims it, before the ledger has been asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub source: Arc<str>,
    pub namespace: Arc<str>,
    pub rule: i64,
    pub key: Key,
    pub digest: Digest,
    pub fingerprint: Hash,
    pub body_hash: Hash,
    /// `unknown` where the rule finds none.
    pub kind: String,
    /// Framed parts for comparison are folded into the text form here: parts joined by `:`, each escaped, so that two
    /// different part lists never give one text. `None`: deliveries of it have no lane.
    pub aggregate: Option<String>,
    /// As written by the provider; compared as values by `order`, never as text.
    pub version: Option<String>,
    pub event_time: Option<Micros>,
    pub schema_version: Option<String>,
    /// Byte range in the decoded body; `None`: the whole of it.
    pub span: Option<(u64, u64)>,
    /// Position in the batch, 0 for a single event.
    pub item: u32,
    pub provider_delivery: Option<String>,
    pub attempt_mark: Option<String>,
    /// Where the source guards ids that stand outside the signature.
    pub guard: Option<Guard>,
    /// A reason that identification itself has found (schema version).
    pub hold: Option<HoldReason>,
}

/// A second ledger row over the signed content (digest of kind `guard` over the body hash).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    pub digest: Digest,
    pub then: IdGuard,
}

/// What identification makes of one element of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mapped {
    Item(Box<Item>),
    /// Authentic, but the rules cannot map it: kept as it is, with the reason in words.
    Unmapped {
        item: u32,
        span: Option<(u64, u64)>,
        reason: String,
    },
}
