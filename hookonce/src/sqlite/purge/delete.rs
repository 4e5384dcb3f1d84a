//! The inbox writer's part: deletes what was said to go, if nothing has come under its key since. The floor of the
//! namespace rises in the same commit, so that no copy can find neither its key nor the floor.

use hookonce_core::event::EventNo;
use hookonce_core::retain::{self, Done, Retention, SAMPLES, STEP_ROWS, Verdict, What};
use hookonce_core::time::Micros;

use super::Survivors;
use super::look::stretch;
use crate::sql::call::Arg;
use crate::sql::retain::Looked;
use crate::sql::sqlite as sql;
use crate::sqlite::conn::Conn;
use crate::sqlite::open;
use crate::store::StoreError;

/// Where the walk over requests stands.
const REQUESTS: &str = "purged_request";

pub fn payloads(conn: &Conn, ids: &[i64]) -> Result<(), StoreError> {
    ids.iter().try_for_each(|id| conn.exec(sql::PURGE_PAYLOAD, &[Arg::Int(*id)]).map(drop))
}

pub fn events(conn: &Conn, retention: &Retention, ids: &[EventNo], now: Micros) -> Result<Survivors, StoreError> {
    let mut survivors = Survivors::new();
    for id in ids {
        for one in stretch(conn, id - 1, *id, 1)? {
            // Whether its work is done was asked when it was said to go; what has ended stays ended.
            let verdict = retain::may_go(retention, What::Event, &one.aged, Done::default(), now);
            match verdict {
                Verdict::Goes => event(conn, &one)?,
                other => survivors.extend(retain::again(other, now).map(|due| (*id, due))),
            }
        }
    }
    Ok(survivors)
}

fn event(conn: &Conn, one: &Looked) -> Result<(), StoreError> {
    let (id, digest) = (Arg::Int(one.aged.event), Arg::Blob(&one.digest));
    if let Some(floor) = retain::floor(one.event_time, one.aged.received) {
        conn.exec(sql::PURGE_FLOOR, &[Arg::Text(&one.namespace), Arg::Int(floor)])?;
    }
    if let Some(guard) = &one.guard {
        conn.exec(sql::PURGE_LEDGER, &[Arg::Blob(guard), id])?;
    }
    if one.variant == 0 {
        conn.exec(sql::PURGE_CONFLICTS, &[digest])?;
        conn.exec(sql::PURGE_LEDGER, &[digest, id])?;
    } else {
        conn.exec(sql::PURGE_VARIANT, &[digest, id])?;
    }
    conn.exec(sql::PURGE_EVENT_REQUESTS, &[id])?;
    conn.exec(sql::PURGE_EVENT, &[id]).map(drop)
}

/// History, decided bytes and samples, by their age alone. Answers whether there may be more.
pub fn aged(conn: &Conn, retention: &Retention, now: Micros) -> Result<bool, StoreError> {
    let before = now.saturating_sub(retention.requests());
    let full = requests(conn, before)? | unmapped(conn, before)?;
    conn.exec(sql::PURGE_SAMPLES, &[Arg::Int(now.saturating_sub(SAMPLES)), limit()])?;
    Ok(full)
}

fn limit() -> Arg<'static> {
    Arg::Int(STEP_ROWS as i64)
}

fn requests(conn: &Conn, before: Micros) -> Result<bool, StoreError> {
    let from = open::number(conn, REQUESTS)?;
    let found = conn.rows(sql::PURGE_REQUESTS, &[Arg::Int(from), Arg::Int(before), limit()])?;
    for row in &found {
        // The row of an unmapped one goes with that one.
        if !row.flag(1)? {
            conn.exec(sql::PURGE_REQUEST, &[Arg::Int(row.int(0)?)])?;
        }
    }
    if let Some(last) = found.last() {
        open::put(conn, REQUESTS, &last.int(0)?.to_string())?;
    }
    Ok(found.len() == STEP_ROWS)
}

fn unmapped(conn: &Conn, before: Micros) -> Result<bool, StoreError> {
    let found = conn.rows(sql::PURGE_UNMAPPED, &[Arg::Int(before), limit()])?;
    for row in &found {
        let (id, payload) = (Arg::Int(row.int(0)?), Arg::Int(row.int(1)?));
        conn.exec(sql::PURGE_UNMAPPED_ROW, &[id])?;
        conn.exec(sql::PURGE_REQUEST, &[id])?;
        conn.exec(sql::PURGE_UNMAPPED_PAYLOAD, &[payload])?;
    }
    Ok(found.len() == STEP_ROWS)
}
