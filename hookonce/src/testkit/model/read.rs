//! What people and workers read of the model.

use bytes::Bytes;

use super::rows::{Event, Rows};
use crate::store::EventView;
use crate::view::{Page, Query, Raw};

/// The verb. Lists are the business of the stores that people look at; here stands what a test asks for.
pub fn read(rows: &Rows, query: &Query) -> Page {
    match query {
        Query::EventRaw { id } => raw(rows, *id).map_or(Page::None, Page::Raw),
        Query::Tally => Page::Tally(tally(rows)),
        _ => Page::None,
    }
}

fn tally(rows: &Rows) -> Vec<(String, String, i64)> {
    rows.counters.tally.iter().map(|((source, verdict), n)| (source.clone(), verdict.clone(), *n)).collect()
}

fn raw(rows: &Rows, id: i64) -> Option<Raw> {
    let event = rows.event.get(&id)?;
    let payload = rows.payload.get(&event.payload)?;
    Some(Raw {
        target: payload.target.clone(),
        headers: super::decoded(&payload.headers),
        body: item_bytes(rows, event)?,
    })
}

/// An event with the bytes of its item.
pub fn event_view(rows: &Rows, id: i64) -> Option<EventView> {
    let event = rows.event.get(&id)?;
    let payload = rows.payload.get(&event.payload)?;
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
        headers: super::decoded(&payload.headers),
        body: item_bytes(rows, event)?,
        part: event.span_start.is_some(),
    })
}

fn item_bytes(rows: &Rows, event: &Event) -> Option<Bytes> {
    let body = &rows.payload.get(&event.payload)?.body;
    let range = match (event.span_start, event.span_end) {
        (Some(start), Some(end)) => usize::try_from(start).ok()?..usize::try_from(end).ok()?,
        _ => 0..body.len(),
    };
    body.get(range).map(Bytes::copy_from_slice)
}
