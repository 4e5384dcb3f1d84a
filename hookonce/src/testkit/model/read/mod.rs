//! What people and workers read of the model: the straight way, over all rows.

use bytes::Bytes;
use hookonce_core::coding;
use hookonce_core::request::Headers;
use hookonce_core::time::Micros;

use super::rows::{Event, Payload, Rows};
use crate::store::EventView;
use crate::view::{PAGE_MAX, Page, Query, Raw, WALK_MAX};

mod deliveries;
mod events;
mod requests;

/// The verb.
pub fn read(rows: &Rows, query: &Query, now: Micros) -> Page {
    match query {
        Query::Events { source, status, after, limit } => {
            let wanted = |e: &crate::view::EventRow| {
                source.as_ref().is_none_or(|s| *s == e.source) && status.as_ref().is_none_or(|s| *s == e.status)
            };
            let below = rows.event.values().rev().filter(|e| after.is_none_or(|after| e.id < after));
            let below = below.filter(|e| events::may_be(rows, e.id, status.as_deref()));
            let (found, next) = walked(below.map(|e| events::row(rows, e, now)), wanted, *limit, |e| e.id);
            Page::Events(found, next)
        }
        Query::Event { id } => {
            one(rows.event.get(id).map(|e| events::row(rows, e, now)), |found| Page::Events(found, None))
        }
        Query::EventRaw { id } => raw(rows, *id).map_or(Page::None, Page::Raw),
        Query::Requests { source, verdict, after, limit } => {
            Page::Requests(requests::list(rows, source.as_deref(), verdict.as_deref(), *after, bounded(*limit)))
        }
        Query::Request { id } => one(requests::one(rows, *id), Page::Requests),
        Query::Unmapped { id } => one(rows.unmapped.get(id).and_then(|_| requests::one(rows, *id)), Page::Requests),
        Query::RequestRaw { id } => requests::raw(rows, *id).map_or(Page::None, Page::Raw),
        Query::Deliveries { consumer, state, event, after, limit } => {
            let wanted = deliveries::Wanted { consumer: consumer.as_deref(), state: state.as_deref(), event: *event };
            deliveries_page(rows, &wanted, *after, *limit, now)
        }
        Query::Delivery { id } => one(deliveries::whole(rows, *id, now), |found| Page::Deliveries(found, None)),
        Query::Dead { after, limit } => {
            let wanted = deliveries::Wanted { consumer: None, state: Some("permanently_failed"), event: None };
            deliveries_page(rows, &wanted, *after, *limit, now)
        }
        Query::Held { after, limit } => Page::Held(first(events::held(rows, *after), *limit)),
        Query::Consumers => Page::Consumers(deliveries::consumers(rows, now)),
        Query::Configured => Page::Configured(super::configure::configured(rows)),
        Query::Tally => Page::Tally(tally(rows)),
        Query::Why { event } => events::why(rows, *event, now).map_or(Page::None, |why| Page::Why(Box::new(why))),
    }
}

fn bounded(limit: usize) -> usize {
    limit.clamp(1, PAGE_MAX)
}

fn first<T>(of: impl Iterator<Item = T>, limit: usize) -> Vec<T> {
    of.take(bounded(limit)).collect()
}

/// What is wanted among at most so many candidates, and the cursor behind which the next page goes on.
fn walked<T>(
    candidates: impl Iterator<Item = T>,
    wanted: impl Fn(&T) -> bool,
    limit: usize,
    cursor: fn(&T) -> i64,
) -> (Vec<T>, Option<i64>) {
    let (mut found, mut looked, mut last) = (Vec::new(), 0, None);
    for row in candidates.take(WALK_MAX) {
        looked += 1;
        last = Some(cursor(&row));
        if wanted(&row) {
            found.push(row);
        }
        if found.len() == bounded(limit) {
            return (found, last);
        }
    }
    (found, last.filter(|_| looked == WALK_MAX))
}

fn deliveries_page(
    rows: &Rows,
    wanted: &deliveries::Wanted<'_>,
    after: Option<i64>,
    limit: usize,
    now: Micros,
) -> Page {
    let (found, next) = walked(deliveries::list(rows, wanted, after, now), |_| true, limit, |d| d.id);
    Page::Deliveries(found, next)
}

fn one<T>(found: Option<T>, page: fn(Vec<T>) -> Page) -> Page {
    found.map_or(Page::None, |row| page(vec![row]))
}

fn tally(rows: &Rows) -> Vec<(String, String, i64)> {
    rows.counters.tally.iter().map(|((source, verdict), n)| (source.clone(), verdict.clone(), *n)).collect()
}

fn raw(rows: &Rows, id: i64) -> Option<Raw> {
    let event = rows.event.get(&id)?;
    let payload = rows.payload.get(&event.payload)?;
    let headers = super::decoded(&payload.headers);
    let body = item_bytes(event, payload, &headers)?;
    Some(Raw { target: payload.target.clone(), headers, body })
}

/// An event with the bytes of its item.
pub fn event_view(rows: &Rows, id: i64) -> Option<EventView> {
    let event = rows.event.get(&id)?;
    let payload = rows.payload.get(&event.payload)?;
    let headers = super::decoded(&payload.headers);
    Some(EventView {
        id,
        source: event.source.clone(),
        namespace: event.namespace.clone(),
        key_kind: event.key_kind.clone(),
        key: event.key.clone(),
        key_text: event.key_text.clone(),
        variant: event.variant,
        kind: event.kind.clone(),
        aggregate: event.aggregate.clone(),
        version: event.version.clone(),
        received: event.received,
        body: item_bytes(event, payload, &headers)?,
        headers,
        part: event.span_start.is_some(),
    })
}

fn item_bytes(event: &Event, payload: &Payload, headers: &Headers) -> Option<Bytes> {
    let span = event.span_start.zip(event.span_end);
    let span = span.map(|(start, end)| (start.unsigned_abs(), end.unsigned_abs()));
    coding::item(headers, &Bytes::copy_from_slice(&payload.body), span)
}
