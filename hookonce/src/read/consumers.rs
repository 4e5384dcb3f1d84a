//! Consumers with what they owe.

use std::collections::BTreeMap;

use hookonce_core::consumer::Standing;
use hookonce_core::time::Micros;

use super::tables::{Look, Question, Tables};
use crate::sql::call::{Arg, Row};
use crate::sql::cursor::Cursors;
use crate::store::StoreError;
use crate::view::{ConsumerRow, Page};

/// Of the work rows of one consumer.
#[derive(Default)]
struct Owed {
    processing: i64,
    retrying: i64,
    ready: i64,
    oldest: Option<i64>,
}

pub async fn list(tables: &impl Tables, now: Micros) -> Result<Page, StoreError> {
    let plain = |look| Question { look, args: &[] };
    let at = [Arg::Int(now)];
    let questions = [
        plain(Look::Begins),
        plain(Look::Passes),
        Question { look: Look::WorkCounts, args: &at },
        plain(Look::HaltedCounts),
        plain(Look::Consumers),
    ];
    let mut answers = tables.ask(&questions).await?.into_iter();
    let mut next = || answers.next().unwrap_or_default();
    let cursors = Cursors::of_rows(next(), next())?;
    let (owed, halted) = (owed(next())?, halted(next())?);
    let mut rows =
        next().into_iter().map(|row| consumer(row, &cursors, &owed, &halted)).collect::<Result<Vec<_>, _>>()?;
    fill_oldest(tables, &mut rows, &owed).await?;
    Ok(Page::Consumers(rows))
}

fn consumer(
    mut row: Row,
    cursors: &Cursors,
    owed: &BTreeMap<i64, Owed>,
    halted: &BTreeMap<i64, (i64, i64)>,
) -> Result<ConsumerRow, StoreError> {
    let id = row.int(0)?;
    let none = Owed::default();
    let owed = owed.get(&id).unwrap_or(&none);
    let (dead, parked) = halted.get(&id).copied().unwrap_or_default();
    Ok(ConsumerRow {
        id,
        name: row.text(1)?,
        state: shown(row.text(2)?),
        pos: cursors.at(id),
        ready: owed.ready,
        processing: owed.processing,
        retrying: owed.retrying,
        dead,
        parked,
        oldest: None,
    })
}

fn shown(state: String) -> String {
    Standing::parse(&state).map_or(state, |standing| standing.shown().to_owned())
}

fn owed(rows: Vec<Row>) -> Result<BTreeMap<i64, Owed>, StoreError> {
    let owed = rows.into_iter().map(|row| {
        let (processing, retrying, ready) = (row.int(1)?, row.int(2)?, row.int(3)?);
        Ok((row.int(0)?, Owed { processing, retrying, ready, oldest: row.opt_int(4)? }))
    });
    owed.collect()
}

fn halted(rows: Vec<Row>) -> Result<BTreeMap<i64, (i64, i64)>, StoreError> {
    rows.into_iter().map(|row| Ok((row.int(0)?, (row.int(1)?, row.int(2)?)))).collect()
}

/// When the oldest event came that each of them still has to do.
async fn fill_oldest(
    tables: &impl Tables,
    rows: &mut [ConsumerRow],
    owed: &BTreeMap<i64, Owed>,
) -> Result<(), StoreError> {
    let oldest = |row: &ConsumerRow| owed.get(&row.id).and_then(|owed| owed.oldest);
    let ids: Vec<i64> = rows.iter().filter_map(oldest).collect();
    let received = tables.each([Look::Received], &ids).await?;
    let owing = rows.iter_mut().filter(|row| oldest(row).is_some());
    for (row, [received]) in owing.zip(received) {
        row.oldest = received.first().map(|row| row.int(0)).transpose()?;
    }
    Ok(())
}
