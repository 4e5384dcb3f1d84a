//! Events with the status that follows from what is owed for them.

use hookonce_core::delivery::State;
use hookonce_core::time::Micros;

use super::{deliveries, requests};
use crate::testkit::model::rows::{Event, Halted, Hold, Rows};
use crate::testkit::model::state;
use crate::view::{EventRow, HeldRow, Why};

pub fn row(rows: &Rows, e: &Event, now: Micros) -> EventRow {
    let ledger = rows.ledger.get(&e.digest).filter(|l| l.event == e.id).map(|l| (l.seen, l.last_seen));
    let of_key = || rows.conflict.values().filter(|c| c.digest == e.digest);
    let variant = of_key().find(|c| c.event == Some(e.id)).map(|c| (c.seen, c.last_seen));
    let (seen, last_seen) = ledger.or(variant).unwrap_or((1, e.received));
    let size = rows.payload.get(&e.payload).map_or(0, |p| p.body.len() as i64);
    EventRow {
        id: e.id,
        source: e.source.clone(),
        kind: e.kind.clone(),
        key: e.key_text.clone(),
        key_kind: e.key_kind.clone(),
        variant: e.variant,
        aggregate: e.aggregate.clone(),
        version: e.version.clone(),
        event_time: e.event_time,
        received: e.received,
        status: status(rows, e.id, now).to_owned(),
        seen,
        last_seen,
        attempts: deliveries::of_event(rows, e.id, now).map(|d| d.attempts).sum(),
        secret: e.secret.clone(),
        origin: e.origin.clone(),
        hold_reason: rows.hold.get(&e.id).map(|h| h.reason.clone()).or_else(|| e.hold_reason.clone()),
        body_hash: e.body_hash.iter().map(|b| format!("{b:02x}")).collect(),
        size: e.span_end.zip(e.span_start).map_or(size, |(end, start)| end - start),
        conflicts: of_key().count() as i64,
        purged: !rows.payload.contains_key(&e.payload),
    }
}

fn status(rows: &Rows, event: i64, now: Micros) -> &'static str {
    let of = rows.delivery.values().filter(|d| d.event == event);
    let states: Vec<State> = of.map(|d| state::of_delivery(rows, d, now)).collect();
    let any = |wanted: &[State]| states.iter().any(|state| wanted.contains(state));
    match rows.hold.get(&event).filter(|hold| hold.released.is_none()) {
        Some(hold) if hold.reason == "no_consumer" => "unmatched",
        Some(_) => "held",
        None if any(&[State::Parked, State::PermanentlyFailed]) => "needs_attention",
        None if any(&[State::Waiting, State::Ready, State::Processing, State::RetryableFailed]) => "in_progress",
        None if routed(rows, event) || !states.is_empty() => "done",
        None => "received",
    }
}

/// Whether a list of that status looks at it: what is held or waits for a person has a table of its own.
pub fn may_be(rows: &Rows, event: i64, status: Option<&str>) -> bool {
    let waits = |h: &Halted| h.event == event && matches!(h.kind.as_str(), "dead" | "parked");
    match status {
        Some("held" | "unmatched") => rows.hold.get(&event).is_some_and(|hold| hold.released.is_none()),
        Some("needs_attention") => rows.halted.values().any(waits),
        _ => true,
    }
}

/// The router's own position is at it or behind it.
fn routed(rows: &Rows, event: i64) -> bool {
    rows.pass.values().rev().find(|p| p.own.is_none()).is_some_and(|p| event <= p.pos)
}

pub fn held(rows: &Rows, after: Option<i64>) -> impl Iterator<Item = HeldRow> + '_ {
    let open = rows.hold.values().rev().filter(|h| h.released.is_none());
    let below = open.filter(move |h| after.is_none_or(|after| h.event < after));
    below.filter_map(|hold| held_row(rows, hold))
}

fn held_row(rows: &Rows, hold: &Hold) -> Option<HeldRow> {
    let event = rows.event.get(&hold.event)?;
    Some(HeldRow {
        event: hold.event,
        source: event.source.clone(),
        kind: event.kind.clone(),
        key: event.key_text.clone(),
        reason: hold.reason.clone(),
        evidence: hold.evidence.clone(),
        since: hold.since,
    })
}

pub fn why(rows: &Rows, id: i64, now: Micros) -> Option<Why> {
    let event = rows.event.get(&id)?;
    let deliveries = rows.delivery.values().filter(|d| d.event == id);
    Some(Why {
        event: row(rows, event, now),
        requests: requests::of_event(rows, id),
        deliveries: deliveries.filter_map(|d| deliveries::whole(rows, d.id, now)).collect(),
        hold: rows.hold.get(&id).filter(|h| h.released.is_none()).and_then(|h| held_row(rows, h)),
        routed: routed(rows, id),
    })
}
