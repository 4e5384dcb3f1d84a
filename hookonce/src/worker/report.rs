//! What a loop says of its runs: one line each, where it is known how they ended, and a count.

use hookonce_core::delivery::Outcome;
use hookonce_core::destination::Sent;
use hookonce_core::settle::{Ending, How};
use hookonce_core::time::Micros;
use tokio::task::JoinError;

use crate::gauges::{ATTEMPT_DURATION, ATTEMPTS, EVENT_LATENCY, seconds};

/// An ending that was written. `received`: when the event came that was done with it.
pub(super) fn kept(consumer: &str, ending: &Ending, received: Option<Micros>) {
    let (event, number) = (ending.event, ending.attempts);
    let attempt = &ending.attempt;
    count(consumer, attempt.outcome);
    let record = |name: &'static str, micros: Micros| {
        metrics::histogram!(name, "consumer" => consumer.to_owned()).record(seconds(micros));
    };
    record(ATTEMPT_DURATION, attempt.took);
    if let Some(received) = received {
        record(EVENT_LATENCY, attempt.started.saturating_add(attempt.took).saturating_sub(received));
    }
    match &ending.how {
        How::Closed(_) => {}
        How::Later { delay, .. } => tracing::info!(
            consumer,
            event.id = event,
            attempt.number = number,
            delay_ms = delay / 1_000,
            "{}: {}",
            attempt.outcome,
            attempt.detail
        ),
        How::Halted { kind, reason, .. } => {
            tracing::warn!(consumer, event.id = event, attempt.number = number, "{}: {reason}", kind.state().name());
        }
    }
}

/// A run whose lease is somebody else's by now.
pub(super) fn lost(consumer: &str, event: i64, epoch: i64) {
    count(consumer, "lease_lost");
    tracing::warn!(consumer, event.id = event, epoch, "lease lost: the run is given up, the work is somebody else's");
}

/// An ending that came too late: the store did not take it.
pub(super) fn fenced(consumer: &str, event: i64, epoch: i64) {
    count(consumer, "lease_lost");
    tracing::warn!(
        consumer,
        event.id = event,
        epoch,
        "lease lost: its ending changes nothing, the work is somebody else's"
    );
}

fn count(consumer: &str, outcome: &'static str) {
    metrics::counter!(ATTEMPTS, "consumer" => consumer.to_owned(), "outcome" => outcome).increment(1);
}

/// A panic in a run is one failed attempt, with its message. (A run is only ever aborted when it was given up before.)
pub(super) fn panicked(error: JoinError) -> Sent {
    let reason = match error.try_into_panic() {
        Err(e) => e.to_string(),
        Ok(panic) => match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
            (Some(text), _) => format!("panicked: {text}"),
            (_, Some(text)) => format!("panicked: {text}"),
            _ => "panicked".into(),
        },
    };
    Outcome::Retry { reason, after: None }.into()
}
