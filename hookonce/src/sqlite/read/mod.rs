//! Reads for people, a file a noun. They see what is committed, on read-only connections with a time limit.
//!
//! A list goes from the newest back; `after` is what the last row of the page before calls its cursor.

use hookonce_core::time::Micros;

use super::bodies::{item, span, stored_headers};
use super::inbox::read_tally;
use super::reader::Reader;
use crate::sql::call::{Arg, Row};
use crate::sql::sqlite as sql;
use crate::store::StoreError;
use crate::view::{PAGE_MAX, Page, Query, Raw};

mod configured;
mod consumers;
mod deliveries;
mod events;
mod requests;

pub fn page(reader: &Reader, query: &Query, now: Micros) -> Result<Page, StoreError> {
    match query {
        Query::Events { source, status, after, limit } => {
            events::list(reader, source.as_deref(), status.as_deref(), *after, bounded(*limit), now)
        }
        Query::Event { id } => events::one(reader, *id, now),
        Query::EventRaw { id } => event_raw(reader, *id),
        Query::Requests { source, verdict, after, limit } => {
            requests::list(reader, source.as_deref(), verdict.as_deref(), *after, bounded(*limit))
        }
        Query::Request { id } => requests::one(reader, *id),
        Query::Unmapped { id } => requests::unmapped(reader, *id),
        Query::RequestRaw { id } => requests::raw(reader, *id),
        Query::Deliveries { consumer, state, event, after, limit } => {
            let wanted = deliveries::Wanted::new(reader, consumer.as_deref(), state.as_deref(), *event)?;
            deliveries::list(reader, wanted, *after, bounded(*limit), now)
        }
        Query::Delivery { id } => deliveries::one(reader, *id, now),
        Query::Dead { after, limit } => deliveries::dead(reader, *after, bounded(*limit), now),
        Query::Held { after, limit } => events::held(reader, *after, bounded(*limit)),
        Query::Consumers => consumers::list(reader, now),
        Query::Configured => configured::all(reader),
        Query::Tally => tally(reader),
        Query::Why { event } => events::why(reader, *event, now),
    }
}

fn bounded(limit: usize) -> usize {
    limit.clamp(1, PAGE_MAX)
}

/// Behind this one; nothing: from the newest.
fn before(after: Option<i64>) -> Arg<'static> {
    Arg::Int(after.unwrap_or(i64::MAX))
}

fn count(limit: usize) -> Arg<'static> {
    Arg::Int(i64::try_from(limit).unwrap_or(i64::MAX))
}

fn event_raw(reader: &Reader, id: i64) -> Result<Page, StoreError> {
    let Some(mut row) = reader.inbox.row(sql::READ_EVENT_RAW, &[Arg::Int(id)])? else { return Ok(Page::None) };
    let span = span(row.opt_int(3)?, row.opt_int(4)?);
    let Raw { target, headers, body } = raw(&mut row)?;
    let body = item(&headers, body, span)?;
    Ok(Page::Raw(Raw { target, headers, body }))
}

fn raw(row: &mut Row) -> Result<Raw, StoreError> {
    Ok(Raw { target: row.text(0)?, headers: stored_headers(&row.blob(1)?)?, body: row.blob(2)?.into() })
}

fn tally(reader: &Reader) -> Result<Page, StoreError> {
    let mut sums = std::collections::BTreeMap::new();
    for (source, verdict, count) in read_tally(&reader.inbox)? {
        *sums.entry((source, verdict)).or_insert(0i64) += i64::try_from(count).unwrap_or(i64::MAX);
    }
    Ok(Page::Tally(sums.into_iter().map(|((source, verdict), count)| (source, verdict, count)).collect()))
}
