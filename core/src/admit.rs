//! Admission: what a request becomes once the ledger has been asked.
//!
//! The store inserts the key or finds it taken; what a taken key means is decided here. Start at [`verdict`].

use std::sync::Arc;

use bytes::Bytes;

use crate::event::{EventNo, Hash, HoldReason, Item, Mapped};
use crate::provider::IdGuard;
use crate::request::Headers;
use crate::time::Micros;

/// Bodies kept for one key that came with other content. A ninth is recorded without its body, answered 409, alarmed.
pub const CONFLICT_BODIES: usize = 8;
/// Duplicate and conflict rows kept for one event; beyond it they are only counted.
pub const REQUEST_ROWS: i64 = 1_000;
/// An event time so much later than its receipt counts as none: it would let a wrong clock close the floor.
pub const FUTURE_EVENT: Micros = crate::time::DAY;

/// A verified request on its way into the store: re-runnable, because a group that fails is run again from its values.
#[derive(Clone, Debug)]
pub struct Submission {
    pub source: Arc<str>,
    pub namespace: Arc<str>,
    pub received: Micros,
    /// Method, path and query, as one text: `POST /in/crm?x=1`.
    pub target: String,
    /// Already without the deny-list of secrets.
    pub headers: Headers,
    pub body: Bytes,
    /// Name of the secret that matched; `None` for `verify = "none"`.
    pub secret: Option<Arc<str>>,
    pub mapped: Vec<Mapped>,
    /// `receive`, or how else it came: `admit` (an unmapped or refused request admitted by a person).
    pub origin: Origin,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Receive,
    /// A person admits the unmapped row of this number: its `decided` mark and the audit row commit with the event.
    Admit {
        unmapped: i64,
        actor: String,
        reason: String,
    },
}

/// What the ledger holds under an item's digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    pub event: EventNo,
    pub fingerprint: Hash,
    pub body_hash: Hash,
    pub rule: i64,
    pub kind: String,
    pub aggregate: Option<String>,
    pub conflicts: Vec<KnownConflict>,
}

/// One other content already on record under that key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownConflict {
    pub fingerprint: Hash,
    pub body_hash: Hash,
    /// Set once it was released as an event of its own: then this row is the variant's ledger row.
    pub event: Option<EventNo>,
}

/// What the two copies of a key differ in, in words a person can act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Differs {
    Payload,
    Type,
    Aggregate,
}

impl Differs {
    pub fn name(self) -> &'static str {
        match self {
            Differs::Payload => "payload",
            Differs::Type => "type",
            Differs::Aggregate => "aggregate",
        }
    }
}

/// What is written for an item whose key is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// `seen` and `last_seen` of the ledger row, or of the released variant's conflict row.
    Duplicate { of: EventNo, variant: bool },
    /// A conflict row: new with its body, known already, or (full) none.
    Conflict { with: EventNo, differs: Differs, store: KeepBody },
    /// Known under an older rule with other bytes: cannot be compared. A variant, held, its conflict row set at once.
    Unknown { of: EventNo },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepBody {
    New,
    /// The content on record that it is a copy of; under an older rule that one has another fingerprint.
    Again(Hash),
    Full,
}

impl KeepBody {
    /// The fingerprint of the conflict row that holds this content; `None`: its body is not kept.
    pub fn content(self, item: &Item) -> Option<Hash> {
        match self {
            KeepBody::New => Some(item.fingerprint),
            KeepBody::Again(fingerprint) => Some(fingerprint),
            KeepBody::Full => None,
        }
    }
}

/// Mirror M1: whether a copy counts as seen. Equal fingerprints are equal content whatever the rule, for a volatile
/// value leaves a byte that no text has; unequal ones of different rules say nothing, then equal bytes decide.
pub fn counts(item: &Item, fingerprint: &Hash, body_hash: &Hash, rule: i64) -> bool {
    item.fingerprint == *fingerprint || (rule != item.rule && item.body_hash == *body_hash)
}

/// What a taken key means (invariant 3: nothing of the first one is ever touched).
pub fn taken(item: &Item, known: &Known) -> Taken {
    if counts(item, &known.fingerprint, &known.body_hash, known.rule) {
        return Taken::Duplicate { of: known.event, variant: false };
    }
    match known.conflicts.iter().find(|c| counts(item, &c.fingerprint, &c.body_hash, known.rule)) {
        Some(KnownConflict { event: Some(of), .. }) => Taken::Duplicate { of: *of, variant: true },
        Some(same) => conflict(item, known, KeepBody::Again(same.fingerprint)),
        None if known.conflicts.len() >= CONFLICT_BODIES => conflict(item, known, KeepBody::Full),
        None if known.rule != item.rule => Taken::Unknown { of: known.event },
        None => conflict(item, known, KeepBody::New),
    }
}

fn conflict(item: &Item, known: &Known, store: KeepBody) -> Taken {
    let differs = if item.kind != known.kind {
        Differs::Type
    } else if item.aggregate != known.aggregate {
        Differs::Aggregate
    } else {
        Differs::Payload
    };
    Taken::Conflict { with: known.event, differs, store }
}

/// What stands beside a new key: the event that its guard row belongs to already, and the namespace's floor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beside {
    pub guard: Option<EventNo>,
    pub floor: Option<Micros>,
}

/// How a new key enters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fresh {
    Event {
        hold: Option<HoldReason>,
    },
    /// Equal signed content under another id, and the source takes that for a copy: origin `copy`, no deliveries.
    Copy {
        of: EventNo,
    },
}

/// Mirror M2: a guard row or the floor makes a copy or a hold.
pub fn aside(item: &Item, received: Micros, beside: &Beside) -> Fresh {
    if let (Some(guard), Some(of)) = (item.guard, beside.guard) {
        match guard.then {
            IdGuard::Duplicate => return Fresh::Copy { of },
            IdGuard::Hold => return Fresh::Event { hold: Some(HoldReason::SuspectedReplay) },
            IdGuard::Accept => {}
        }
    }
    let below = match (beside.floor, believed(item.event_time, received)) {
        (Some(floor), Some(time)) => time <= floor,
        _ => false,
    };
    Fresh::Event { hold: if below { Some(HoldReason::BeyondRetention) } else { item.hold } }
}

/// An event time that can be believed.
pub fn believed(event_time: Option<Micros>, received: Micros) -> Option<Micros> {
    event_time.filter(|t| *t <= received.saturating_add(FUTURE_EVENT))
}

/// The verdict on one item, after its commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Accepted { event: EventNo, hold: Option<HoldReason> },
    Duplicate { of: EventNo },
    Conflict { with: EventNo, differs: Differs, kept: bool },
    Unmapped { id: i64, reason: String },
}

impl Verdict {
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Accepted { .. } => "accepted",
            Verdict::Duplicate { .. } => "duplicate",
            Verdict::Conflict { .. } => "conflict",
            Verdict::Unmapped { .. } => "unmapped",
        }
    }
}

/// All verdicts on one request, in the order of its items; empty for a batch without elements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Admission {
    pub verdicts: Vec<Verdict>,
}

/// `variant` of an event that shares its key with another: the first eight bytes of its fingerprint, never 0.
pub fn variant(fingerprint: &Hash) -> i64 {
    let mut first = [0u8; 8];
    first.copy_from_slice(&fingerprint[..8]);
    match i64::from_be_bytes(first) {
        0 => 1,
        n => n,
    }
}
