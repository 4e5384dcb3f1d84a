//! Events with their derived status, holds, and everything `why` says.

use hookonce_core::delivery::State;
use hookonce_core::event::HoldReason;
use hookonce_core::time::Micros;

use super::deliveries::{self, Facts};
use super::{before, count, requests};
use crate::sql::call::{Arg, Row};
use crate::sql::sqlite as sql;
use crate::sqlite::reader::Reader;
use crate::sqlite::route;
use crate::store::StoreError;
use crate::view::{EventRow, HeldRow, Page, Why};

/// Events looked at in one statement of a filtered list.
const STRETCH: usize = 500;

pub fn list(
    reader: &Reader,
    source: Option<&str>,
    status: Option<&str>,
    after: Option<i64>,
    limit: usize,
    now: Micros,
) -> Result<Page, StoreError> {
    let mut rows = Vec::new();
    let mut from = after;
    loop {
        let (found, next) = stretch(reader, source, status, from, limit)?;
        for mut row in found {
            judge(reader, &mut row, now)?;
            if status.is_none_or(|wanted| wanted == row.status) {
                rows.push(row);
            }
        }
        if next.is_none() || rows.len() >= limit {
            rows.truncate(limit);
            return Ok(Page::Events(rows));
        }
        from = next;
    }
}

/// Events that may have the status, and where the next stretch begins. What is held or waits for a person is found
/// from its own small table; the rest by walking back, until the reader's time limit.
fn stretch(
    reader: &Reader,
    source: Option<&str>,
    status: Option<&str>,
    from: Option<i64>,
    limit: usize,
) -> Result<(Vec<EventRow>, Option<i64>), StoreError> {
    let few = match status {
        Some("held" | "unmatched") => Some(sql::READ_HOLDS),
        Some("needs_attention") => Some(sql::READ_ATTENTION),
        _ => None,
    };
    let Some(few) = few else {
        let size = if status.is_some() { STRETCH } else { limit };
        let rows = between(reader, from.unwrap_or(i64::MAX), i64::MIN, source, size)?;
        let next = (rows.len() == size).then(|| rows.last().map(|row| row.id)).flatten();
        return Ok((rows, next));
    };
    let ids = reader.work.rows(few, &[before(from), count(STRETCH)])?;
    let ids = ids.iter().map(|row| row.int(0)).collect::<Result<Vec<_>, _>>()?;
    let mut rows = Vec::new();
    for id in &ids {
        rows.extend(between(reader, id + 1, *id, source, 1)?);
    }
    Ok((rows, (ids.len() == STRETCH).then(|| ids.last().copied()).flatten()))
}

/// Numbers below `below` and not below `least`.
fn between(
    reader: &Reader,
    below: i64,
    least: i64,
    source: Option<&str>,
    limit: usize,
) -> Result<Vec<EventRow>, StoreError> {
    let args = [Arg::Int(below), Arg::Int(least), Arg::text(source), count(limit)];
    reader.inbox.rows(sql::READ_EVENTS, &args)?.into_iter().map(event_row).collect()
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
    })
}

/// Fills in what the work file says of it.
fn judge(reader: &Reader, row: &mut EventRow, now: Micros) -> Result<(), StoreError> {
    let deliveries = deliveries::facts_of(reader, row.id, now)?;
    row.attempts = deliveries.iter().map(|facts| facts.row.attempts).sum();
    let hold = hold(reader, row.id)?;
    if let Some(hold) = &hold {
        row.hold_reason = Some(hold.reason.clone());
    }
    row.status = status(row.id <= position(reader)?, hold.as_ref(), &deliveries).to_owned();
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

fn position(reader: &Reader) -> Result<i64, StoreError> {
    Ok(route::last(&reader.work)?.map_or(0, |pass| pass.pos))
}

struct Hold {
    reason: String,
    evidence: Option<String>,
    since: Micros,
    released: Option<bool>,
}

fn hold(reader: &Reader, event: i64) -> Result<Option<Hold>, StoreError> {
    let Some(mut row) = reader.work.row(sql::READ_HOLD, &[Arg::Int(event)])? else { return Ok(None) };
    let released = row.opt_int(3)?.map(|released| released != 0);
    Ok(Some(Hold { reason: row.text(0)?, evidence: row.opt_text(1)?, since: row.int(2)?, released }))
}

pub fn one(reader: &Reader, id: i64, now: Micros) -> Result<Page, StoreError> {
    Ok(found(reader, id, now)?.map_or(Page::None, |row| Page::Events(vec![row])))
}

fn found(reader: &Reader, id: i64, now: Micros) -> Result<Option<EventRow>, StoreError> {
    let row = between(reader, id.saturating_add(1), id, None, 1)?.pop();
    row.map(|mut row| judge(reader, &mut row, now).map(|()| row)).transpose()
}

pub fn held(reader: &Reader, after: Option<i64>, limit: usize) -> Result<Page, StoreError> {
    let mut rows = Vec::new();
    for mut row in reader.work.rows(sql::READ_HOLDS, &[before(after), count(limit)])? {
        let id = row.int(0)?;
        let hold = Hold { reason: row.text(1)?, evidence: row.opt_text(2)?, since: row.int(3)?, released: None };
        if let Some(event) = between(reader, id.saturating_add(1), id, None, 1)?.pop() {
            rows.push(held_row(&event, hold));
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

pub fn why(reader: &Reader, id: i64, now: Micros) -> Result<Page, StoreError> {
    let Some(event) = found(reader, id, now)? else { return Ok(Page::None) };
    let deliveries = deliveries::facts_of(reader, id, now)?.into_iter();
    let deliveries = deliveries.map(|facts| deliveries::whole(reader, facts.row)).collect::<Result<_, _>>()?;
    let why = Why {
        requests: requests::of_event(reader, id)?,
        deliveries,
        hold: hold(reader, id)?.filter(|hold| hold.released.is_none()).map(|hold| held_row(&event, hold)),
        routed: id <= position(reader)?,
        event,
    };
    Ok(Page::Why(Box::new(why)))
}
