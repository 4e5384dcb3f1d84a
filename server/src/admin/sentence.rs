//! `why`: one sentence that says where an event stands and, if it does not go on, what it waits for.

use hookonce::view::{DeliveryRow, Why};
use hookonce_core::id;

/// Reads the evidence in the order in which it decides: held, not routed, then each consumer's delivery.
pub fn of(why: &Why) -> String {
    let event = &why.event;
    let head = format!("{} ({} from {}) was {}", id::event(event.id), event.kind, event.source, times(event.seen));
    let tail = match (&why.hold, why.deliveries.as_slice()) {
        (Some(hold), _) if hold.reason == "no_consumer" => "no consumer takes it; it is kept until one does".to_owned(),
        (Some(hold), _) => format!("it is held ({}) and waits for `hookonce held release|drop`", hold.reason),
        (None, []) if !why.routed => "the router has not come to it yet".to_owned(),
        (None, []) => "it has no deliveries".to_owned(),
        (None, deliveries) => deliveries.iter().map(delivery).collect::<Vec<_>>().join("; "),
    };
    let conflicts = match event.conflicts {
        0 => String::new(),
        1 => " One copy of its key came with other content and was kept apart.".to_owned(),
        n => format!(" {n} copies of its key came with other content and were kept apart."),
    };
    format!("{head}: {tail}.{conflicts}")
}

fn times(seen: i64) -> String {
    match seen {
        1 => "received once".to_owned(),
        2 => "received twice and stored once".to_owned(),
        n => format!("received {n} times and stored once"),
    }
}

fn delivery(row: &DeliveryRow) -> String {
    let to = &row.consumer;
    let reason = row.reason.as_deref().filter(|r| !r.is_empty()).map(|r| format!(" ({r})")).unwrap_or_default();
    match row.state.as_str() {
        "succeeded" => format!("{to} handled it, {}", attempts(row.attempts)),
        "ready" => format!("{to} has not begun it"),
        "processing" => format!("{to} is working on it"),
        "waiting" => format!("{to} waits for an earlier event of the same aggregate"),
        "retryable_failed" => format!("{to} failed{reason} and will try again, {} so far", attempts(row.attempts)),
        "permanently_failed" => format!("{to} gave up{reason}; `hookonce dead retry` tries again"),
        "parked" => format!("{to} parked it{reason}"),
        "cancelled" => format!("{to} discarded it{reason}"),
        other => format!("{to}: {other}{reason}"),
    }
}

fn attempts(n: i64) -> String {
    if n == 1 { "1 attempt".to_owned() } else { format!("{n} attempts") }
}
