//! Requests: the accepted ones read from their events, refused ones from their samples, the others from their rows.

use hookonce_core::id::{self, Named};

use crate::testkit::model::rows::{Event, Request, Rows, Sample};
use crate::view::{Raw, Reached, RequestRow};

pub fn list(
    rows: &Rows,
    source: Option<&str>,
    verdict: Option<&str>,
    after: Option<Reached>,
    limit: usize,
) -> Vec<RequestRow> {
    let mut reached = after.unwrap_or(Reached::NOTHING);
    // The newest first; of one instant samples, then requests, then events, each by its own numbers.
    let events = rows.event.values().filter(|e| e.id < reached.event && was_accepted(e));
    let events = events.map(|e| (e.received, 0, e.id, accepted(e)));
    let requests = rows.request.values().filter(|r| r.id < reached.request);
    let requests = requests.map(|r| (r.at, 1, r.id, requested(rows, r)));
    let samples = rows.sample.values().filter(|s| s.id < reached.sample);
    let samples = samples.map(|s| (s.received, 2, s.id, sampled(s)));
    let mut all: Vec<(i64, u8, i64, RequestRow)> = events.chain(requests).chain(samples).collect();
    all.sort_by_key(|(at, kind, id, _)| std::cmp::Reverse((*at, *kind, *id)));
    all.retain(|(.., row)| source.is_none_or(|s| s == row.source) && verdict.is_none_or(|v| v == row.verdict));
    let page = all.into_iter().take(limit).map(|(_, kind, id, row)| {
        match kind {
            0 => reached.event = id,
            1 => reached.request = id,
            _ => reached.sample = id,
        }
        RequestRow { cursor: reached, ..row }
    });
    page.collect()
}

fn was_accepted(event: &Event) -> bool {
    !matches!(event.origin.as_str(), "copy" | "import")
}

fn accepted(e: &Event) -> RequestRow {
    RequestRow {
        cursor: Reached::NOTHING,
        id: id::text(Named::Event, e.id),
        at: e.received,
        source: e.source.clone(),
        verdict: "accepted".into(),
        event: Some(e.id),
        reason: e.hold_reason.clone(),
        secret: e.secret.clone(),
        provider_delivery: e.provider_delivery.clone(),
        attempt_mark: e.attempt_mark.clone(),
        item: Some(e.item),
        decided: None,
    }
}

fn requested(rows: &Rows, r: &Request) -> RequestRow {
    RequestRow {
        cursor: Reached::NOTHING,
        id: id::text(Named::Request, r.id),
        at: r.at,
        source: r.source.clone(),
        verdict: r.verdict.clone(),
        event: r.event,
        reason: r.reason.clone(),
        secret: r.secret.clone(),
        provider_delivery: r.provider_delivery.clone(),
        attempt_mark: r.attempt_mark.clone(),
        item: r.item,
        decided: rows.unmapped.get(&r.id).and_then(|u| u.decided.clone()),
    }
}

fn sampled(s: &Sample) -> RequestRow {
    RequestRow {
        cursor: Reached::NOTHING,
        id: id::text(Named::Request, s.id),
        at: s.received,
        source: s.source.clone(),
        verdict: "refused".into(),
        event: None,
        reason: Some(s.reason.clone()),
        secret: None,
        provider_delivery: None,
        attempt_mark: None,
        item: None,
        decided: None,
    }
}

pub fn one(rows: &Rows, id: i64) -> Option<RequestRow> {
    let request = rows.request.get(&id).map(|r| requested(rows, r));
    request.or_else(|| rows.sample.get(&id).map(sampled))
}

/// The first one and what came after it.
pub fn of_event(rows: &Rows, event: i64) -> Vec<RequestRow> {
    let first = rows.event.get(&event).filter(|e| was_accepted(e)).map(accepted);
    let later = rows.request.values().filter(|r| r.event == Some(event));
    let later = later.map(|r| RequestRow { decided: None, ..requested(rows, r) });
    first.into_iter().chain(later.take(crate::view::PAGE_MAX)).collect()
}

/// Duplicates have no bytes of their own: they are those of the event.
pub fn raw(rows: &Rows, id: i64) -> Option<Raw> {
    if let Some(s) = rows.sample.get(&id) {
        let headers = super::super::decoded(&s.headers);
        return Some(Raw { target: s.target.clone(), headers, body: s.body.clone().into() });
    }
    let request = rows.request.get(&id)?;
    let Some(payload) = request.payload.and_then(|id| rows.payload.get(&id)) else { return conflicting(rows, request) };
    let headers = super::super::decoded(&payload.headers);
    Some(Raw { target: payload.target.clone(), headers, body: payload.body.clone().into() })
}

/// Which of the contents that are kept for its key it came with.
fn conflicting(rows: &Rows, request: &Request) -> Option<Raw> {
    let digest = rows.event.get(&request.event?)?.digest;
    let kept = rows.conflict.get(&(digest, request.fingerprint?))?;
    let headers = super::super::decoded(&kept.headers);
    Some(Raw { target: String::new(), headers, body: kept.body.clone().into() })
}
