//! What the store held when the process was dead: plain rows of both files.
//!
//! Read by [`read`] from copies made by [`copy`]; the checker sees only these values, so its tests write them by
//! hand. Columns that no check asks for are left out.

mod copy;
mod read;
mod shared;

use std::collections::BTreeMap;

use anyhow::Result;

use crate::rig::Place;

pub use copy::{Copied, inbox_of, take};
pub use read::read;

/// Copies of what the store at that place holds, wherever it holds it.
pub fn of(place: &Place) -> Result<Copied> {
    match &place.shared {
        None => take(&place.database(), &place.look()),
        Some(url) => shared::take(url, &place.look()),
    }
}

#[derive(Debug, Clone, Default)]
pub struct Dump {
    pub inbox: Inbox,
    pub work: Work,
    /// Answers of `PRAGMA integrity_check` other than `ok`, with the file's name.
    pub damage: Vec<String>,
}

#[derive(Debug, Clone, Default)]
pub struct Inbox {
    pub settings: BTreeMap<String, String>,
    pub events: Vec<Event>,
    pub ledger: Vec<Ledger>,
    pub conflicts: Vec<Conflict>,
    /// Body digests of undecided unmapped requests.
    pub unmapped: Vec<String>,
}

#[derive(Debug, Clone, Default)]
pub struct Work {
    pub settings: BTreeMap<String, String>,
    pub passes: Vec<Pass>,
    /// Names by id; a name keeps its id over all versions of its definition.
    pub consumers: BTreeMap<i64, String>,
    pub deliveries: Vec<Delivery>,
    pub work: Vec<WorkRow>,
    pub halted: Vec<Halted>,
    pub holds: Vec<Hold>,
    pub requeue: u64,
    /// Lanes that the router looks at again: such a one may be without a head for a moment. Only where many write.
    pub checks: Vec<i64>,
    pub attempts: Vec<Attempt>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Event {
    pub id: i64,
    /// Its place in the order that lanes follow. Where one writes, it is the number; none: no pass has met it.
    pub pos: Option<i64>,
    pub namespace: String,
    pub key_kind: String,
    pub key: Vec<u8>,
    /// 0 for the first content of a key.
    pub variant: i64,
    pub source: String,
    pub event_type: String,
    pub aggregate: Option<String>,
    /// SHA-256 of the stored body, computed by us; of one that retention took, what the server says it was.
    pub digest: Option<String>,
    pub origin: String,
    pub hold_reason: Option<String>,
    /// The digest of the key, as the ledger has it.
    pub ledger: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    pub digest: String,
    pub event: i64,
    pub seen: i64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conflict {
    /// The ledger's digest of the key.
    pub ledger: String,
    pub fingerprint: String,
    /// SHA-256 of the kept body, computed by us.
    pub digest: Option<String>,
    pub seen: i64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pass {
    pub n: i64,
    pub pos: i64,
    pub seq: i64,
    pub own: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Delivery {
    pub id: i64,
    pub lane: i64,
    pub seq: i64,
    pub consumer: i64,
    pub event: i64,
    pub generation: i64,
    pub open: bool,
    pub state: String,
    pub attempts: i64,
    pub ended: Option<i64>,
    pub decided: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkRow {
    pub seq: i64,
    pub id: i64,
    pub lane: i64,
    pub consumer: i64,
    pub event: i64,
    pub epoch: i64,
    pub leased: bool,
    pub attempts: i64,
    pub lost: i64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Halted {
    pub id: i64,
    pub lane: i64,
    pub seq: i64,
    pub event: i64,
    pub kind: String,
    pub reason: String,
    pub attempts: i64,
    pub lost: i64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hold {
    pub event: i64,
    pub reason: String,
    pub open: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attempt {
    pub delivery: i64,
    pub no: i64,
    /// By the store's clock.
    pub started: i64,
    pub ended: i64,
    pub outcome: String,
}

impl Event {
    /// Whether the passes up to that place have gone over it.
    pub fn routed(&self, to: i64) -> bool {
        self.pos.is_some_and(|pos| pos <= to)
    }
}

impl Inbox {
    /// The last event number that was given out.
    pub fn counter(&self) -> Option<i64> {
        self.settings.get("event_counter").and_then(|v| v.parse().ok())
    }
}

impl Work {
    /// How far the common router has come: the last pass that is not a consumer's own.
    pub fn routed(&self) -> i64 {
        self.passes.iter().filter(|p| !p.own).max_by_key(|p| p.n).map_or(0, |p| p.pos)
    }
}
