//! Consumers with what they owe.

use std::collections::BTreeMap;

use hookonce_core::consumer::Standing;
use hookonce_core::time::Micros;

use crate::sql::call::Arg;
use crate::sql::sqlite as sql;
use crate::sqlite::cursor::Cursors;
use crate::sqlite::reader::Reader;
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

pub fn list(reader: &Reader, now: Micros) -> Result<Page, StoreError> {
    let cursors = Cursors::read(&reader.work)?;
    let (owed, halted) = (owed(reader, now)?, halted(reader)?);
    let mut rows = Vec::new();
    for mut row in reader.work.rows(sql::READ_CONSUMERS, &[])? {
        let id = row.int(0)?;
        let none = Owed::default();
        let owed = owed.get(&id).unwrap_or(&none);
        let (dead, parked) = halted.get(&id).copied().unwrap_or_default();
        rows.push(ConsumerRow {
            id,
            name: row.text(1)?,
            state: shown(row.text(2)?),
            pos: cursors.at(id),
            ready: owed.ready,
            processing: owed.processing,
            retrying: owed.retrying,
            dead,
            parked,
            oldest: owed.oldest.map(|event| received(reader, event)).transpose()?.flatten(),
        });
    }
    Ok(Page::Consumers(rows))
}

fn shown(state: String) -> String {
    Standing::parse(&state).map_or(state, |standing| standing.shown().to_owned())
}

fn owed(reader: &Reader, now: Micros) -> Result<BTreeMap<i64, Owed>, StoreError> {
    let rows = reader.work.rows(sql::READ_WORK_COUNTS, &[Arg::Int(now)])?;
    let owed = rows.into_iter().map(|row| {
        let (processing, retrying, ready) = (row.int(1)?, row.int(2)?, row.int(3)?);
        Ok((row.int(0)?, Owed { processing, retrying, ready, oldest: row.opt_int(4)? }))
    });
    owed.collect()
}

fn halted(reader: &Reader) -> Result<BTreeMap<i64, (i64, i64)>, StoreError> {
    let rows = reader.work.rows(sql::READ_HALTED_COUNTS, &[])?;
    rows.into_iter().map(|row| Ok((row.int(0)?, (row.int(1)?, row.int(2)?)))).collect()
}

fn received(reader: &Reader, event: i64) -> Result<Option<Micros>, StoreError> {
    reader.inbox.row(sql::READ_RECEIVED, &[Arg::Int(event)])?.map(|row| row.int(0)).transpose()
}
