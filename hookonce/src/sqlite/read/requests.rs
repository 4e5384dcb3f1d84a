//! Requests: the accepted ones are read from their events, refused ones from their samples, the rest has rows.
//!
//! The cursor is the time of receipt, which all of them have. A page does not end between two of the same instant,
//! unless one instant alone is more than a page.

use hookonce_core::id::{self, Named};

use super::{count, raw as raw_row};
use crate::sql::call::{Arg, Row};
use crate::sql::sqlite as sql;
use crate::sqlite::SAMPLE_BASE;
use crate::sqlite::reader::Reader;
use crate::store::StoreError;
use crate::view::{PAGE_MAX, Page, RequestRow};

pub fn list(
    reader: &Reader,
    source: Option<&str>,
    verdict: Option<&str>,
    after: Option<i64>,
    limit: usize,
) -> Result<Page, StoreError> {
    // One more than asked for: it says whether the last instant goes on.
    let some = limit.saturating_add(1);
    let args = [Arg::Int(after.unwrap_or(i64::MAX)), Arg::text(source), Arg::text(verdict), count(some)];
    let [at, source, verdict, some] = args;
    let mut rows = rows(reader.inbox.rows(sql::READ_REQUESTS, &args)?)?;
    let accepted = [at, source, verdict, some, Arg::Int(i64::MAX)];
    rows.extend(self::rows(reader.inbox.rows(sql::READ_ACCEPTED, &accepted)?)?);
    rows.extend(self::rows(reader.inbox.rows(sql::READ_SAMPLES, &[at, source, verdict, some, Arg::Null])?)?);
    rows.sort_by_key(|row| std::cmp::Reverse(row.at));
    Ok(Page::Requests(cut(rows, limit)))
}

fn cut(mut rows: Vec<RequestRow>, limit: usize) -> Vec<RequestRow> {
    let Some(next) = rows.get(limit).map(|row| row.at) else { return rows };
    rows.truncate(limit);
    let whole = rows.iter().take_while(|row| row.at != next).count();
    if whole > 0 {
        rows.truncate(whole);
    }
    rows
}

pub fn one(reader: &Reader, id: i64) -> Result<Page, StoreError> {
    let found = if id >= SAMPLE_BASE {
        let args = [Arg::Int(i64::MAX), Arg::Null, Arg::Null, Arg::Int(1), Arg::Int(id)];
        reader.inbox.row(sql::READ_SAMPLES, &args)?
    } else {
        reader.inbox.row(sql::READ_REQUEST, &[Arg::Int(id)])?
    };
    Ok(found.map(row).transpose()?.map_or(Page::None, |row| Page::Requests(vec![row])))
}

pub fn unmapped(reader: &Reader, id: i64) -> Result<Page, StoreError> {
    match reader.inbox.row(sql::UNMAPPED_FIND, &[Arg::Int(id)])? {
        Some(_) => one(reader, id),
        None => Ok(Page::None),
    }
}

/// The first one and what came after it.
pub fn of_event(reader: &Reader, event: i64) -> Result<Vec<RequestRow>, StoreError> {
    let first = [Arg::Int(i64::MAX), Arg::Null, Arg::Null, Arg::Int(1), Arg::Int(event.saturating_add(1))];
    let first = rows(reader.inbox.rows(sql::READ_ACCEPTED, &first)?)?;
    let mut all: Vec<RequestRow> = first.into_iter().filter(|row| row.event == Some(event)).collect();
    all.extend(rows(reader.inbox.rows(sql::READ_EVENT_REQUESTS, &[Arg::Int(event), count(PAGE_MAX)])?)?);
    Ok(all)
}

pub fn raw(reader: &Reader, id: i64) -> Result<Page, StoreError> {
    let stmts = if id >= SAMPLE_BASE {
        &[sql::READ_SAMPLE_RAW][..]
    } else {
        &[sql::READ_REQUEST_RAW, sql::READ_CONFLICT_RAW][..]
    };
    for stmt in stmts {
        if let Some(mut row) = reader.inbox.row(stmt, &[Arg::Int(id)])? {
            return Ok(Page::Raw(raw_row(&mut row)?));
        }
    }
    Ok(Page::None)
}

fn rows(found: Vec<Row>) -> Result<Vec<RequestRow>, StoreError> {
    found.into_iter().map(row).collect()
}

fn row(mut row: Row) -> Result<RequestRow, StoreError> {
    let (number, verdict) = (row.int(0)?, row.text(3)?);
    let named = if verdict == "accepted" { Named::Event } else { Named::Request };
    Ok(RequestRow {
        cursor: row.int(1)?,
        id: id::text(named, number),
        at: row.int(1)?,
        source: row.text(2)?,
        verdict,
        event: row.opt_int(4)?,
        reason: row.opt_text(5)?,
        secret: row.opt_text(6)?,
        provider_delivery: row.opt_text(7)?,
        attempt_mark: row.opt_text(8)?,
        item: row.opt_int(9)?,
        decided: row.opt_text(10)?,
    })
}
