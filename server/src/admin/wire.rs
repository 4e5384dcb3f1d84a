//! What the API sends: public ids, RFC 3339 times, the words of the design. Additive within a major version.

use hookonce::view;
use hookonce_core::id;
use serde::{Deserialize, Serialize};

/// A list: `items`, and where to go on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct List<T> {
    pub items: Vec<T>,
    /// `after` of the next page; absent on the last one. A page may have fewer items than were asked for, even none, and
    /// still name it: a filter that finds little ends its page after so many rows that it looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Event {
    pub id: String,
    pub source: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub status: String,
    pub key: String,
    pub key_kind: String,
    pub aggregate: Option<String>,
    pub version: Option<String>,
    pub event_time: Option<String>,
    pub received_at: String,
    pub last_seen_at: String,
    /// Copies that came, the first one included.
    pub seen: i64,
    pub attempts: i64,
    pub conflicts: i64,
    pub secret: Option<String>,
    pub origin: String,
    pub hold_reason: Option<String>,
    pub body_sha256: String,
    /// Its bytes are not kept any more.
    pub payload_purged: bool,
    pub size: i64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Request {
    pub id: String,
    pub at: String,
    pub source: String,
    pub verdict: String,
    pub event: Option<String>,
    pub item: Option<i64>,
    pub reason: Option<String>,
    pub secret: Option<String>,
    pub provider_delivery: Option<String>,
    pub attempt_mark: Option<String>,
    pub decided: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Delivery {
    /// event/consumer/generation.
    pub id: String,
    pub event: String,
    pub consumer: String,
    pub generation: i64,
    pub state: String,
    pub attempts: i64,
    /// Leases that ended without an outcome.
    pub lost: i64,
    /// When it runs next, or when its lease ends.
    pub due_at: Option<String>,
    pub ended_at: Option<String>,
    pub reason: Option<String>,
    /// The unfinished delivery before it in its lane.
    pub behind: Option<i64>,
    pub history: Vec<Attempt>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Attempt {
    pub no: i64,
    pub started_at: String,
    pub ended_at: String,
    pub took_ms: f64,
    pub outcome: String,
    pub detail: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Held {
    pub event: String,
    pub source: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub key: String,
    pub reason: String,
    pub evidence: Option<String>,
    pub since: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Consumer {
    pub name: String,
    pub state: String,
    pub ready: i64,
    pub processing: i64,
    pub retrying: i64,
    pub dead: i64,
    pub parked: i64,
    /// Since when the oldest unfinished delivery waits.
    pub oldest: Option<String>,
}

/// Everything known of one event, and the sentence that sums it up.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Why {
    pub id: String,
    pub sentence: String,
    pub event: Event,
    pub requests: Vec<Request>,
    pub deliveries: Vec<Delivery>,
    pub hold: Option<Held>,
}

/// What a command did: the audit row that records it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Done {
    pub done: String,
    pub target: String,
    pub audit: i64,
}

/// Micros since the epoch as RFC 3339; what cannot be a time is shown as the number.
pub fn time(micros: i64) -> String {
    // Always six digits, so that columns stand below each other.
    jiff::Timestamp::from_microsecond(micros).map_or_else(|_| micros.to_string(), |t| format!("{t:.6}"))
}

impl From<view::EventRow> for Event {
    fn from(row: view::EventRow) -> Event {
        Event {
            id: id::event(row.id),
            source: row.source,
            kind: row.kind,
            status: row.status,
            key: row.key,
            key_kind: row.key_kind,
            aggregate: row.aggregate,
            version: row.version,
            event_time: row.event_time.map(time),
            received_at: time(row.received),
            last_seen_at: time(row.last_seen),
            seen: row.seen,
            attempts: row.attempts,
            conflicts: row.conflicts,
            secret: row.secret,
            origin: row.origin,
            hold_reason: row.hold_reason,
            body_sha256: row.body_hash,
            payload_purged: row.purged,
            size: row.size,
        }
    }
}

impl From<view::RequestRow> for Request {
    fn from(row: view::RequestRow) -> Request {
        Request {
            id: row.id,
            at: time(row.at),
            source: row.source,
            verdict: row.verdict,
            event: row.event.map(id::event),
            item: row.item,
            reason: row.reason,
            secret: row.secret,
            provider_delivery: row.provider_delivery,
            attempt_mark: row.attempt_mark,
            decided: row.decided,
        }
    }
}

impl From<view::DeliveryRow> for Delivery {
    fn from(row: view::DeliveryRow) -> Delivery {
        let event = id::event(row.event);
        Delivery {
            id: format!("{event}/{}/{}", row.consumer, row.generation),
            event,
            consumer: row.consumer,
            generation: row.generation,
            state: row.state,
            attempts: row.attempts,
            lost: row.lost,
            due_at: row.due.map(time),
            ended_at: row.ended.map(time),
            reason: row.reason,
            behind: row.behind,
            history: row.history.into_iter().map(Attempt::from).collect(),
        }
    }
}

impl From<view::AttemptRow> for Attempt {
    fn from(row: view::AttemptRow) -> Attempt {
        Attempt {
            no: row.no,
            started_at: time(row.started),
            ended_at: time(row.ended),
            took_ms: (row.ended - row.started) as f64 / 1_000.0,
            outcome: row.outcome,
            detail: row.detail,
        }
    }
}

impl From<view::HeldRow> for Held {
    fn from(row: view::HeldRow) -> Held {
        Held {
            event: id::event(row.event),
            source: row.source,
            kind: row.kind,
            key: row.key,
            reason: row.reason,
            evidence: row.evidence,
            since: time(row.since),
        }
    }
}

impl From<view::ConsumerRow> for Consumer {
    fn from(row: view::ConsumerRow) -> Consumer {
        Consumer {
            name: row.name,
            state: row.state,
            ready: row.ready,
            processing: row.processing,
            retrying: row.retrying,
            dead: row.dead,
            parked: row.parked,
            oldest: row.oldest.map(time),
        }
    }
}
