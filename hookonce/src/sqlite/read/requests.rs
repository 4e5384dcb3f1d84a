//! Requests: the accepted ones are read from their events, refused ones from their samples, the rest has rows.
//!
//! Three walks, each by the numbers of its own table from the newest back, merged by the time of receipt. The cursor is
//! where each of them stands: nothing is shown twice or left out, however many have one and the same time.

use hookonce_core::id::{self, Named};

use super::{count, raw as raw_row};
use crate::sql::call::{Arg, Row, Stmt};
use crate::sql::sqlite as sql;
use crate::sqlite::SAMPLE_BASE;
use crate::sqlite::reader::Reader;
use crate::store::StoreError;
use crate::view::{PAGE_MAX, Page, Reached, RequestRow};

pub fn list(
    reader: &Reader,
    source: Option<&str>,
    verdict: Option<&str>,
    after: Option<Reached>,
    limit: usize,
) -> Result<Page, StoreError> {
    let reached = after.unwrap_or(Reached::NOTHING);
    let walk = |stmt: &'static Stmt, below: i64| {
        let args = [Arg::Int(below), Arg::text(source), Arg::text(verdict), count(limit)];
        rows(reader.inbox.rows(stmt, &args)?)
    };
    let walks = [
        walk(sql::READ_ACCEPTED, reached.event)?,
        walk(sql::READ_REQUESTS, reached.request)?,
        walk(sql::READ_SAMPLES, reached.sample)?,
    ];
    Ok(Page::Requests(merged(walks, reached, limit)))
}

/// A numbered row as its walk gives it.
type Numbered = (i64, RequestRow);

/// Always the newest of the three heads; each row says how far the walks have come with it.
fn merged(walks: [Vec<Numbered>; 3], mut reached: Reached, limit: usize) -> Vec<RequestRow> {
    let mut walks = walks.map(|walk| walk.into_iter().peekable());
    let mut page = Vec::new();
    while page.len() < limit {
        let heads = walks.iter_mut().enumerate().filter_map(|(which, walk)| Some((walk.peek()?.1.at, which)));
        let Some((_, which)) = heads.max() else { break };
        let Some((number, row)) = walks.get_mut(which).and_then(Iterator::next) else { break };
        match which {
            0 => reached.event = number,
            1 => reached.request = number,
            _ => reached.sample = number,
        }
        page.push(RequestRow { cursor: reached, ..row });
    }
    page
}

pub fn one(reader: &Reader, id: i64) -> Result<Page, StoreError> {
    let found = if id >= SAMPLE_BASE {
        newest(reader, sql::READ_SAMPLES, id)?
    } else {
        reader.inbox.row(sql::READ_REQUEST, &[Arg::Int(id)])?.map(row).transpose()?
    };
    let found = found.filter(|(number, _)| *number == id);
    Ok(found.map_or(Page::None, |(_, row)| Page::Requests(vec![row])))
}

/// The first of a walk that begins with this number.
fn newest(reader: &Reader, walk: &'static Stmt, number: i64) -> Result<Option<Numbered>, StoreError> {
    let args = [Arg::Int(number.saturating_add(1)), Arg::Null, Arg::Null, Arg::Int(1)];
    reader.inbox.row(walk, &args)?.map(row).transpose()
}

pub fn unmapped(reader: &Reader, id: i64) -> Result<Page, StoreError> {
    match reader.inbox.row(sql::UNMAPPED_FIND, &[Arg::Int(id)])? {
        Some(_) => one(reader, id),
        None => Ok(Page::None),
    }
}

/// The first one and what came after it.
pub fn of_event(reader: &Reader, event: i64) -> Result<Vec<RequestRow>, StoreError> {
    let first = newest(reader, sql::READ_ACCEPTED, event)?.filter(|(number, _)| *number == event);
    let later = rows(reader.inbox.rows(sql::READ_EVENT_REQUESTS, &[Arg::Int(event), count(PAGE_MAX)])?)?;
    Ok(first.into_iter().chain(later).map(|(_, row)| row).collect())
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

fn rows(found: Vec<Row>) -> Result<Vec<Numbered>, StoreError> {
    found.into_iter().map(row).collect()
}

fn row(mut row: Row) -> Result<Numbered, StoreError> {
    let (number, verdict) = (row.int(0)?, row.text(3)?);
    let named = if verdict == "accepted" { Named::Event } else { Named::Request };
    let row = RequestRow {
        cursor: Reached::NOTHING,
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
    };
    Ok((number, row))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::call::Value;

    fn numbered(number: i64, at: i64, verdict: &str) -> Numbered {
        let cells = [number, at].map(Value::Int).into_iter();
        let texts = ["crm", verdict].map(|text| Value::Text(text.into()));
        row(Row(cells.chain(texts).chain(std::iter::repeat_n(Value::Null, 7)).collect())).expect("a row of the list")
    }

    /// What the statements answer: numbers below the cursor, from the newest back.
    fn walk(table: &[(i64, i64)], verdict: &str, below: i64, limit: usize) -> Vec<Numbered> {
        let found = table.iter().rev().filter(|(number, _)| *number < below).take(limit);
        found.map(|(number, at)| numbered(*number, *at, verdict)).collect()
    }

    #[test]
    fn pages_of_any_size_show_each_once_whatever_the_times() {
        let events: Vec<(i64, i64)> = [5, 5, 4, 9, 9, 3].into_iter().zip(1..).map(|(at, n)| (n, at)).collect();
        let requests: Vec<(i64, i64)> = (1..=20).map(|n| (n, 5)).collect();
        let samples: Vec<(i64, i64)> = (1..=3).map(|n| (SAMPLE_BASE + n, n)).collect();
        for limit in [1, 2, 3, 7, 29, 500] {
            let (mut seen, mut reached) = (Vec::new(), Reached::NOTHING);
            loop {
                let walks = [
                    walk(&events, "accepted", reached.event, limit),
                    walk(&requests, "duplicate", reached.request, limit),
                    walk(&samples, "refused", reached.sample, limit),
                ];
                let page = merged(walks, reached, limit);
                let full = page.len() == limit;
                reached = page.last().map_or(reached, |row| row.cursor);
                let text = reached.to_string();
                assert_eq!(text.parse(), Ok(reached), "{text}");
                seen.extend(page.into_iter().map(|row| (row.id, row.at)));
                if !full {
                    break;
                }
            }
            let all = seen.len();
            seen.sort();
            seen.dedup();
            assert_eq!((seen.len(), all), (29, 29), "pages of {limit}");
        }
    }
}
