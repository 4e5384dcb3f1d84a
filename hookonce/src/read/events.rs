//! Events with their derived status, holds, and everything `why` says.

use hookonce_core::delivery::State;
use hookonce_core::event::HoldReason;
use hookonce_core::time::Micros;

use super::deliveries::{self, Facts};
use super::tables::{Look, Tables};
use super::walk::{STRETCH, Walk};
use super::{before, count, requests};
use crate::sql::call::Row;
use crate::store::StoreError;
use crate::view::{EventRow, HeldRow, Page, Why};

/// What a list is to hold.
#[derive(Clone, Copy)]
pub struct Wanted<'q> {
    pub source: Option<&'q str>,
    pub status: Option<&'q str>,
}

impl Wanted<'_> {
    /// Whether rows are looked at that may not be shown.
    fn filters(self) -> bool {
        self.source.is_some() || self.status.is_some()
    }
}

pub async fn list(
    tables: &impl Tables,
    wanted: Wanted<'_>,
    after: Option<i64>,
    limit: usize,
    now: Micros,
) -> Result<Page, StoreError> {
    let size = if wanted.filters() { STRETCH } else { limit };
    let (mut walk, mut from) = (Walk::new(limit), after);
    loop {
        let ids = candidates(tables, wanted.status, from, size).await?;
        from = ids.last().copied();
        let mut rows = of_ids(tables, &ids).await?;
        rows.retain(|row| wanted.source.is_none_or(|source| source == row.source));
        if wanted.status.is_none() {
            rows.truncate(walk.wanted());
        }
        judge(tables, &mut rows, now).await?;
        rows.retain(|row| wanted.status.is_none_or(|status| status == row.status));
        if walk.take(size, ids.len(), from, rows, |row| row.id) {
            let (rows, next) = walk.page();
            return Ok(Page::Events(rows, next));
        }
    }
}

/// Events that may have the status, from the newest back. What is held or waits for a person is found from its own small
/// table.
async fn candidates(
    tables: &impl Tables,
    status: Option<&str>,
    from: Option<i64>,
    size: usize,
) -> Result<Vec<i64>, StoreError> {
    let look = match status {
        Some("held" | "unmatched") => Look::Holds,
        Some("needs_attention") => Look::Attention,
        _ => Look::Numbers,
    };
    let rows = tables.rows(look, &[before(from), count(size)]).await?;
    rows.iter().map(|row| row.int(0)).collect()
}

/// The events of these numbers, in their order; without those that are gone.
async fn of_ids(tables: &impl Tables, ids: &[i64]) -> Result<Vec<EventRow>, StoreError> {
    let found = tables.each([Look::Event], ids).await?;
    found.into_iter().flat_map(|[rows]| rows).map(event_row).collect()
}

fn event_row(mut row: Row) -> Result<EventRow, StoreError> {
    Ok(EventRow {
        id: row.int(0)?,
        source: row.text(1)?,
        kind: row.text(2)?,
        key: row.text(3)?,
        key_kind: row.text(4)?,
        variant: row.int(5)?,
        aggregate: row.opt_text(6)?,
        version: row.opt_text(7)?,
        event_time: row.opt_int(8)?,
        received: row.int(9)?,
        status: String::new(),
        attempts: 0,
        secret: row.opt_text(10)?,
        origin: row.text(11)?,
        hold_reason: row.opt_text(12)?,
        body_hash: row.blob(13)?.iter().map(|b| format!("{b:02x}")).collect(),
        size: row.int(14)?,
        conflicts: row.int(15)?,
        seen: row.int(16)?,
        last_seen: row.int(17)?,
        purged: row.flag(18)?,
    })
}

/// Fills in what follows from the deliveries, the hold and the router's place.
async fn judge(tables: &impl Tables, rows: &mut [EventRow], now: Micros) -> Result<(), StoreError> {
    let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
    let found = tables.each([Look::EventDeliveries, Look::Hold, Look::Unrouted], &ids).await?;
    for (row, [deliveries, holds, unrouted]) in rows.iter_mut().zip(found) {
        let deliveries = deliveries::facts_of(deliveries, now)?;
        row.attempts = deliveries.iter().map(|facts| facts.row.attempts).sum();
        let hold = hold(holds)?;
        if let Some(hold) = &hold {
            row.hold_reason = Some(hold.reason.clone());
        }
        row.status = status(unrouted.is_empty(), hold.as_ref(), &deliveries).to_owned();
    }
    Ok(())
}

/// The status that follows (`design.md` section 2).
fn status(routed: bool, hold: Option<&Hold>, deliveries: &[Facts]) -> &'static str {
    let any = |wanted: &[State]| deliveries.iter().any(|facts| wanted.contains(&facts.state));
    match hold.filter(|hold| hold.released.is_none()) {
        Some(hold) if hold.reason == HoldReason::NoConsumer.name() => "unmatched",
        Some(_) => "held",
        None if any(&[State::Parked, State::PermanentlyFailed]) => "needs_attention",
        None if any(&[State::Waiting, State::Ready, State::Processing, State::RetryableFailed]) => "in_progress",
        None if routed || !deliveries.is_empty() => "done",
        None => "received",
    }
}

struct Hold {
    reason: String,
    evidence: Option<String>,
    since: Micros,
    released: Option<bool>,
}

fn hold(found: Vec<Row>) -> Result<Option<Hold>, StoreError> {
    let Some(mut row) = found.into_iter().next() else { return Ok(None) };
    let released = row.opt_int(3)?.map(|released| released != 0);
    Ok(Some(Hold { reason: row.text(0)?, evidence: row.opt_text(1)?, since: row.int(2)?, released }))
}

pub async fn one(tables: &impl Tables, id: i64, now: Micros) -> Result<Page, StoreError> {
    Ok(found(tables, id, now).await?.map_or(Page::None, |row| Page::Events(vec![row], None)))
}

async fn found(tables: &impl Tables, id: i64, now: Micros) -> Result<Option<EventRow>, StoreError> {
    let mut rows = of_ids(tables, &[id]).await?;
    judge(tables, &mut rows, now).await?;
    Ok(rows.pop())
}

pub async fn held(tables: &impl Tables, after: Option<i64>, limit: usize) -> Result<Page, StoreError> {
    let (mut ids, mut holds) = (Vec::new(), Vec::new());
    for mut row in tables.rows(Look::Holds, &[before(after), count(limit)]).await? {
        ids.push(row.int(0)?);
        holds.push(Hold { reason: row.text(1)?, evidence: row.opt_text(2)?, since: row.int(3)?, released: None });
    }
    let events = tables.each([Look::Event], &ids).await?;
    let mut rows = Vec::new();
    for ([event], hold) in events.into_iter().zip(holds) {
        if let Some(event) = event.into_iter().next() {
            rows.push(held_row(&event_row(event)?, hold));
        }
    }
    Ok(Page::Held(rows))
}

fn held_row(event: &EventRow, hold: Hold) -> HeldRow {
    HeldRow {
        event: event.id,
        source: event.source.clone(),
        kind: event.kind.clone(),
        key: event.key.clone(),
        reason: hold.reason,
        evidence: hold.evidence,
        since: hold.since,
    }
}

pub async fn why(tables: &impl Tables, id: i64, now: Micros) -> Result<Page, StoreError> {
    let Some(event) = found(tables, id, now).await? else { return Ok(Page::None) };
    let looks = [Look::EventDeliveries, Look::Hold, Look::Unrouted];
    let [deliveries, holds, unrouted] = tables.each(looks, &[id]).await?.pop().unwrap_or_default();
    let facts = deliveries::facts_of(deliveries, now)?;
    let why = Why {
        requests: requests::of_event(tables, id).await?,
        deliveries: deliveries::whole(tables, facts.into_iter().map(|facts| facts.row).collect()).await?,
        hold: hold(holds)?.filter(|hold| hold.released.is_none()).map(|hold| held_row(&event, hold)),
        routed: unrouted.is_empty(),
        event,
    };
    Ok(Page::Why(Box::new(why)))
}
