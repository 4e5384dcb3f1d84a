//! What people ask of a store, and what they see: plain data for the API, the CLI and the dashboard.

use std::collections::BTreeMap;
use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Rows of a list at the most; a cursor goes on behind them.
pub const PAGE_MAX: usize = 500;
/// Rows that one page of a filtered list looks at, at the most.
pub const WALK_MAX: usize = 5_000;

#[derive(Clone, Debug)]
pub enum Query {
    Events {
        source: Option<String>,
        status: Option<String>,
        after: Option<i64>,
        limit: usize,
    },
    Event {
        id: i64,
    },
    /// Original bytes of an event.
    EventRaw {
        id: i64,
    },
    Requests {
        source: Option<String>,
        verdict: Option<String>,
        after: Option<Reached>,
        limit: usize,
    },
    Request {
        id: i64,
    },
    RequestRaw {
        id: i64,
    },
    /// An unmapped row; its number is that of its request row.
    Unmapped {
        id: i64,
    },
    Deliveries {
        consumer: Option<String>,
        state: Option<String>,
        event: Option<i64>,
        after: Option<i64>,
        limit: usize,
    },
    Delivery {
        id: i64,
    },
    Dead {
        after: Option<i64>,
        limit: usize,
    },
    Held {
        after: Option<i64>,
        limit: usize,
    },
    Consumers,
    /// What was configured last.
    Configured,
    /// Counters that survive a crash: (source, verdict, count).
    Tally,
    /// Everything `why` says of an event in one answer.
    Why {
        event: i64,
    },
}

#[derive(Clone, Debug)]
pub enum Page {
    /// And the cursor behind which the list goes on: where the page is full, and where a filter looked at so many rows
    /// that the page ends early, perhaps with nothing in it.
    Events(Vec<EventRow>, Option<i64>),
    Requests(Vec<RequestRow>),
    /// And where it goes on, as for events.
    Deliveries(Vec<DeliveryRow>, Option<i64>),
    Held(Vec<HeldRow>),
    Consumers(Vec<ConsumerRow>),
    Configured(Configured),
    Tally(Vec<(String, String, i64)>),
    Raw(Raw),
    Why(Box<Why>),
    None,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EventRow {
    pub id: i64,
    pub source: String,
    pub kind: String,
    pub key: String,
    pub key_kind: String,
    pub variant: i64,
    pub aggregate: Option<String>,
    pub version: Option<String>,
    pub event_time: Option<i64>,
    pub received: i64,
    pub status: String,
    pub seen: i64,
    pub last_seen: i64,
    pub attempts: i64,
    pub secret: Option<String>,
    pub origin: String,
    pub hold_reason: Option<String>,
    pub body_hash: String,
    /// Its bytes are gone; key, hashes and history are there.
    pub purged: bool,
    pub size: i64,
    pub conflicts: i64,
}

/// How far back a list of requests has come in each of the three tables that it is read from. Their numbers, not a time:
/// a commit gives hundreds of requests one and the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reached {
    pub event: i64,
    pub request: i64,
    pub sample: i64,
}

impl Reached {
    /// Before the newest of all.
    pub const NOTHING: Reached = Reached { event: i64::MAX, request: i64::MAX, sample: i64::MAX };
}

impl fmt::Display for Reached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.event, self.request, self.sample)
    }
}

impl FromStr for Reached {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Reached, ParseIntError> {
        let mut parts = text.splitn(3, '.').map(str::parse);
        let mut next = || parts.next().unwrap_or_else(|| "".parse());
        Ok(Reached { event: next()?, request: next()?, sample: next()? })
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RequestRow {
    /// What `after` of the next page names: lists go from the newest back.
    pub cursor: Reached,
    /// `req_` number, or for an accepted one that of its event, `evt_`.
    pub id: String,
    pub at: i64,
    pub source: String,
    pub verdict: String,
    pub event: Option<i64>,
    pub reason: Option<String>,
    pub secret: Option<String>,
    pub provider_delivery: Option<String>,
    pub attempt_mark: Option<String>,
    pub item: Option<i64>,
    /// Of an unmapped one: who decided what.
    pub decided: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DeliveryRow {
    pub id: i64,
    pub seq: i64,
    pub lane: i64,
    pub consumer: String,
    pub event: i64,
    pub generation: i64,
    pub state: String,
    pub attempts: i64,
    pub lost: i64,
    pub due: Option<i64>,
    pub ended: Option<i64>,
    pub reason: Option<String>,
    /// `arrival` lanes: what stands before it.
    pub behind: Option<i64>,
    pub history: Vec<AttemptRow>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AttemptRow {
    pub no: i64,
    pub started: i64,
    pub ended: i64,
    pub outcome: String,
    pub detail: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HeldRow {
    pub event: i64,
    pub source: String,
    pub kind: String,
    pub key: String,
    pub reason: String,
    pub evidence: Option<String>,
    pub since: i64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ConsumerRow {
    pub id: i64,
    pub name: String,
    pub state: String,
    pub pos: i64,
    pub ready: i64,
    pub processing: i64,
    pub retrying: i64,
    pub dead: i64,
    pub parked: i64,
    pub oldest: Option<i64>,
}

/// What a new configuration is compared with (`change`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configured {
    pub consumers: Vec<Defined>,
    /// Of each source the identity rule that was used last, in normal form.
    pub rules: BTreeMap<String, String>,
    /// The newest event: what begins now begins behind it.
    pub newest: Option<i64>,
}

/// A consumer that was configured once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defined {
    pub name: String,
    /// Whether the configuration in force lists it.
    pub listed: bool,
    /// Its normal form.
    pub definition: String,
}

#[derive(Clone, Debug)]
pub struct Raw {
    pub target: String,
    pub headers: hookonce_core::request::Headers,
    pub body: bytes::Bytes,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Why {
    pub event: EventRow,
    pub requests: Vec<RequestRow>,
    pub deliveries: Vec<DeliveryRow>,
    pub hold: Option<HeldRow>,
    /// Position of the router against the event's.
    pub routed: bool,
}
