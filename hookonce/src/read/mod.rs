//! Reads for people, a file a noun: what both databases have in common once their statements have been answered. They
//! see what is committed, on read-only connections with a time limit.
//!
//! Here: which questions make a page ([`tables::Look`]), and how rows become what a person sees. Not here: SQL, which
//! each backend has in files of the same names. A list goes from the newest back; `after` is what the last row of the
//! page before calls its cursor.

use hookonce_core::time::Micros;

use crate::sql::call::{Arg, Row};
use crate::sql::stored;
use crate::store::StoreError;
use crate::view::{PAGE_MAX, Page, Query, Raw};

mod configured;
mod consumers;
mod deliveries;
mod events;
mod requests;
pub mod tables;
mod walk;

use tables::{Look, Tables};

pub async fn page(tables: &impl Tables, query: &Query, now: Micros) -> Result<Page, StoreError> {
    match query {
        Query::Events { source, status, after, limit } => {
            let wanted = events::Wanted { source: source.as_deref(), status: status.as_deref() };
            events::list(tables, wanted, *after, bounded(*limit), now).await
        }
        Query::Event { id } => events::one(tables, *id, now).await,
        Query::EventRaw { id } => event_raw(tables, *id).await,
        Query::Requests { source, verdict, after, limit } => {
            requests::list(tables, source.as_deref(), verdict.as_deref(), *after, bounded(*limit)).await
        }
        Query::Request { id } => requests::one(tables, *id).await,
        Query::Unmapped { id } => requests::unmapped(tables, *id).await,
        Query::RequestRaw { id } => requests::raw(tables, *id).await,
        Query::Deliveries { consumer, state, event, after, limit } => {
            let wanted = deliveries::Wanted::new(tables, consumer.as_deref(), state.as_deref(), *event).await?;
            deliveries::list(tables, wanted, *after, bounded(*limit), now).await
        }
        Query::Delivery { id } => deliveries::one(tables, *id, now).await,
        Query::Dead { after, limit } => deliveries::dead(tables, *after, bounded(*limit), now).await,
        Query::Held { after, limit } => events::held(tables, *after, bounded(*limit)).await,
        Query::Consumers => consumers::list(tables, now).await,
        Query::Configured => configured::all(tables).await,
        Query::Tally => tally(tables).await,
        Query::Why { event } => events::why(tables, *event, now).await,
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

async fn event_raw(tables: &impl Tables, id: i64) -> Result<Page, StoreError> {
    let Some(mut row) = tables.row(Look::EventRaw, &[Arg::Int(id)]).await? else { return Ok(Page::None) };
    let span = stored::span(row.opt_int(3)?, row.opt_int(4)?);
    let Raw { target, headers, body } = raw(&mut row)?;
    let body = stored::item(&headers, body, span)?;
    Ok(Page::Raw(Raw { target, headers, body }))
}

fn raw(row: &mut Row) -> Result<Raw, StoreError> {
    Ok(Raw { target: row.text(0)?, headers: stored::headers(&row.blob(1)?)?, body: row.blob(2)?.into() })
}

async fn tally(tables: &impl Tables) -> Result<Page, StoreError> {
    let mut sums = std::collections::BTreeMap::new();
    for mut row in tables.rows(Look::Tally, &[]).await? {
        for (source, verdict, count) in stored::counts(&row.text(0)?)? {
            *sums.entry((source, verdict)).or_insert(0i64) += i64::try_from(count).unwrap_or(i64::MAX);
        }
    }
    Ok(Page::Tally(sums.into_iter().map(|((source, verdict), count)| (source, verdict, count)).collect()))
}
