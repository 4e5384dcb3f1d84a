//! Requests: the accepted ones are read from their events, refused ones from their samples, the rest has rows.
//!
//! Three walks, each by the numbers of its own table from the newest back, merged by the time of receipt. The cursor is
//! where each of them stands: nothing is shown twice or left out, however many have one and the same time.

use hookonce_core::id::{self, Named};

use super::tables::{Look, Question, Tables};
use super::{count, raw as raw_row};
use crate::sql::call::{Arg, Row};
use crate::store::{SAMPLE_BASE, StoreError};
use crate::view::{PAGE_MAX, Page, Reached, RequestRow};

pub async fn list(
    tables: &impl Tables,
    source: Option<&str>,
    verdict: Option<&str>,
    after: Option<Reached>,
    limit: usize,
) -> Result<Page, StoreError> {
    let reached = after.unwrap_or(Reached::NOTHING);
    let args = |below: i64| [Arg::Int(below), Arg::text(source), Arg::text(verdict), count(limit)];
    let args = [args(reached.event), args(reached.request), args(reached.sample)];
    let walks = [Look::Accepted, Look::Requests, Look::Samples];
    let questions: Vec<Question<'_>> =
        walks.into_iter().zip(&args).map(|(look, args)| Question { look, args }).collect();
    let mut answers = tables.ask(&questions).await?.into_iter();
    let mut next = || rows(answers.next().unwrap_or_default());
    Ok(Page::Requests(merged([next()?, next()?, next()?], reached, limit)))
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

pub async fn one(tables: &impl Tables, id: i64) -> Result<Page, StoreError> {
    let found = if id >= SAMPLE_BASE {
        newest(tables, Look::Samples, id).await?
    } else {
        tables.row(Look::Request, &[Arg::Int(id)]).await?.map(row).transpose()?
    };
    let found = found.filter(|(number, _)| *number == id);
    Ok(found.map_or(Page::None, |(_, row)| Page::Requests(vec![row])))
}

/// The first of a walk that begins with this number.
async fn newest(tables: &impl Tables, walk: Look, number: i64) -> Result<Option<Numbered>, StoreError> {
    let args = [Arg::Int(number.saturating_add(1)), Arg::Null, Arg::Null, Arg::Int(1)];
    tables.row(walk, &args).await?.map(row).transpose()
}

pub async fn unmapped(tables: &impl Tables, id: i64) -> Result<Page, StoreError> {
    match tables.row(Look::UnmappedFind, &[Arg::Int(id)]).await? {
        Some(_) => one(tables, id).await,
        None => Ok(Page::None),
    }
}

/// The first one and what came after it.
pub async fn of_event(tables: &impl Tables, event: i64) -> Result<Vec<RequestRow>, StoreError> {
    let first = newest(tables, Look::Accepted, event).await?.filter(|(number, _)| *number == event);
    let later = rows(tables.rows(Look::EventRequests, &[Arg::Int(event), count(PAGE_MAX)]).await?)?;
    Ok(first.into_iter().chain(later).map(|(_, row)| row).collect())
}

pub async fn raw(tables: &impl Tables, id: i64) -> Result<Page, StoreError> {
    let looks = if id >= SAMPLE_BASE { &[Look::SampleRaw][..] } else { &[Look::RequestRaw, Look::ConflictRaw][..] };
    for look in looks {
        if let Some(mut row) = tables.row(*look, &[Arg::Int(id)]).await? {
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
