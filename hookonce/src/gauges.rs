//! What the engine shows of itself in numbers (prefix `hookonce_`). Labels are names of consumers and fixed words:
//! nothing that an event says makes a new series (S39).
//!
//! Here: names and texts, and the gauges of consumers. Counters stand where their things happen.

use hookonce_core::time::{Micros, SECOND};
use metrics::{Unit, describe_counter, describe_gauge, describe_histogram, gauge};

use crate::janitor::PAUSED;
use crate::view::ConsumerRow;

pub const ATTEMPTS: &str = "hookonce_attempts_total";
pub const ATTEMPT_DURATION: &str = "hookonce_attempt_duration_seconds";
pub const EVENT_LATENCY: &str = "hookonce_event_latency_seconds";
/// By `what`: bodies, events.
pub const DELETED: &str = "hookonce_retention_deleted_total";
pub const STORE_SIZE: &str = "hookonce_store_size_bytes";
pub const STORE_WAL: &str = "hookonce_store_wal_bytes";
pub const STORE_FREE: &str = "hookonce_store_free_bytes";

pub const REPLICATED: &str = "hookonce_store_replicated";

const PENDING: &str = "hookonce_consumer_pending_events";
const RETRYING: &str = "hookonce_consumer_retrying_events";
const INFLIGHT: &str = "hookonce_consumer_inflight_events";
const PARKED: &str = "hookonce_consumer_parked_events";
const DEAD: &str = "hookonce_consumer_dead_events";
const PAUSE: &str = "hookonce_consumer_paused";
const OLDEST: &str = "hookonce_consumer_oldest_pending_age_seconds";

/// What each consumer owes, from a look that the janitor takes anyway.
pub fn consumers(rows: &[ConsumerRow], now: Micros) {
    for row in rows {
        let set = |name: &'static str, value: f64| gauge!(name, "consumer" => row.name.clone()).set(value);
        set(PENDING, (row.ready + row.retrying) as f64);
        set(RETRYING, row.retrying as f64);
        set(INFLIGHT, row.processing as f64);
        set(PARKED, row.parked as f64);
        set(DEAD, row.dead as f64);
        set(PAUSE, f64::from(row.state == PAUSED));
        set(OLDEST, row.oldest.map_or(0.0, |received| seconds(now.saturating_sub(received))));
    }
}

pub fn seconds(micros: Micros) -> f64 {
    micros.max(0) as f64 / SECOND as f64
}

/// Texts for whoever exports the metrics.
pub fn describe() {
    describe_counter!(ATTEMPTS, "runs that ended, by consumer and outcome");
    describe_histogram!(ATTEMPT_DURATION, Unit::Seconds, "length of a run");
    describe_histogram!(EVENT_LATENCY, Unit::Seconds, "from the receipt of an event to its success at a consumer");
    describe_counter!(DELETED, "what retention has deleted: payloads, events");
    describe_gauge!(PENDING, "deliveries that can run now or later; those behind them in their lanes are not counted");
    describe_gauge!(RETRYING, "deliveries that have failed and are tried again");
    describe_gauge!(INFLIGHT, "deliveries under a lease");
    describe_gauge!(PARKED, "deliveries that wait for a decision");
    describe_gauge!(DEAD, "deliveries that were given up and wait for a decision");
    describe_gauge!(PAUSE, "1: nothing is handed to it");
    describe_gauge!(OLDEST, Unit::Seconds, "age of the oldest event that a consumer still owes; 0: none");
    describe_gauge!(REPLICATED, "1: what is answered 2xx is on a standby, too; 0: on the primary alone");
    describe_gauge!(STORE_SIZE, Unit::Bytes, "size of a file of the store");
    describe_gauge!(STORE_WAL, Unit::Bytes, "size of its log on the disk");
    describe_gauge!(STORE_FREE, Unit::Bytes, "free on the disk of the store");
}
