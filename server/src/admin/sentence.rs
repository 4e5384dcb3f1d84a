//! `why`: one sentence that says where an event stands and, if it does not go on, what it waits for.

use hookonce::view::{ConsumerRow, DeliveryRow, Why};
use hookonce_core::id;
use hookonce_core::settle::PURGED;

/// Reads the evidence in the order in which it decides: held, not routed, then each consumer's delivery.
pub fn of(why: &Why, consumers: &[ConsumerRow]) -> String {
    let event = &why.event;
    let head = format!("{} ({} from {}) was {}", id::event(event.id), event.kind, event.source, times(event.seen));
    let tail = match (&why.hold, why.deliveries.as_slice()) {
        (Some(hold), _) if hold.reason == "no_consumer" => "no consumer takes it; it is kept until one does".to_owned(),
        (Some(hold), _) => format!("it is held ({}) and waits for `hookonce held release|drop`", hold.reason),
        (None, []) if !why.routed => "the router has not come to it yet".to_owned(),
        (None, []) => "it has no deliveries".to_owned(),
        (None, deliveries) => {
            deliveries.iter().map(|row| delivery(row, paused(row, consumers))).collect::<Vec<_>>().join("; ")
        }
    };
    let conflicts = match event.conflicts {
        0 => String::new(),
        1 => " One copy of its key came with other content and was kept apart.".to_owned(),
        n => format!(" {n} copies of its key came with other content and were kept apart."),
    };
    let purged = if event.purged { " Its bytes are not kept any more." } else { "" };
    format!("{head}: {tail}.{conflicts}{purged}")
}

fn times(seen: i64) -> String {
    match seen {
        1 => "received once".to_owned(),
        2 => "received twice and stored once".to_owned(),
        n => format!("received {n} times and stored once"),
    }
}

/// Whether this is what an unfinished delivery waits for.
fn paused(row: &DeliveryRow, consumers: &[ConsumerRow]) -> bool {
    consumers.iter().any(|consumer| consumer.name == row.consumer && consumer.state == "paused")
}

fn delivery(row: &DeliveryRow, paused: bool) -> String {
    let to = &row.consumer;
    let reason = row.reason.as_deref().filter(|r| !r.is_empty()).map(|r| format!(" ({r})")).unwrap_or_default();
    match row.state.as_str() {
        "succeeded" => format!("{to} handled it, {}", attempts(row.attempts)),
        "ready" | "waiting" | "retryable_failed" if paused => {
            format!("{to} is paused{reason}; `hookonce consumers resume {to}` lets it go on")
        }
        "ready" => format!("{to} has not begun it"),
        "processing" => format!("{to} is working on it"),
        "waiting" => format!("{to} waits for an earlier event of the same aggregate"),
        "retryable_failed" => format!("{to} failed{reason} and will try again, {} so far", attempts(row.attempts)),
        "permanently_failed" => format!("{to} gave up{reason}; `hookonce dead retry` tries again"),
        "parked" => format!("{to} parked it{reason}"),
        "cancelled" if row.reason.as_deref() == Some(PURGED) => {
            format!("{to} came too late for it: its bytes were not kept any more")
        }
        "cancelled" => format!("{to} discarded it{reason}"),
        other => format!("{to}: {other}{reason}"),
    }
}

fn attempts(n: i64) -> String {
    if n == 1 { "1 attempt".to_owned() } else { format!("{n} attempts") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(state: &str, reason: Option<&str>, attempts: i64) -> DeliveryRow {
        DeliveryRow {
            id: 1,
            seq: 1,
            lane: 1,
            consumer: "app".into(),
            event: 1,
            generation: 0,
            state: state.into(),
            attempts,
            lost: 0,
            due: None,
            ended: None,
            reason: reason.map(str::to_owned),
            behind: None,
            history: Vec::new(),
        }
    }

    #[test]
    fn each_state_says_what_it_waits_for() {
        for (state, reason, attempts, going, stopped) in [
            ("succeeded", None, 1, "app handled it, 1 attempt", None),
            ("ready", None, 0, "app has not begun it", Some("app is paused")),
            ("processing", None, 0, "app is working on it", None),
            ("waiting", None, 0, "app waits for an earlier event of the same aggregate", Some("app is paused")),
            (
                "retryable_failed",
                Some("answered 500"),
                2,
                "failed (answered 500) and will try again, 2 attempts so far",
                Some("app is paused (answered 500)"),
            ),
            ("permanently_failed", Some("answered 422"), 1, "app gave up (answered 422); `hookonce dead retry`", None),
            ("parked", Some("deleted"), 1, "app parked it (deleted)", None),
            ("cancelled", None, 0, "app discarded it", None),
            ("cancelled", Some(PURGED), 0, "app came too late for it", None),
            ("stale", None, 1, "app: stale", None),
        ] {
            let row = row(state, reason, attempts);
            assert!(delivery(&row, false).contains(going), "{}", delivery(&row, false));
            assert!(delivery(&row, true).contains(stopped.unwrap_or(going)), "{}", delivery(&row, true));
        }
    }
}
