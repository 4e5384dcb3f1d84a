//! Deliveries with the state that follows from what stands beside them.

use hookonce_core::delivery::{HaltKind, Queued, State, state};
use hookonce_core::time::Micros;

use super::{before, count};
use crate::sql::call::{Arg, Row, Stmt};
use crate::sql::sqlite as sql;
use crate::sqlite::reader::Reader;
use crate::store::StoreError;
use crate::view::{AttemptRow, DeliveryRow, Page};

/// Rows looked at in one statement of a filtered list.
const STRETCH: usize = 500;

/// A row of the view of facts, read.
pub struct Facts {
    pub row: DeliveryRow,
    consumer: i64,
    pub state: State,
}

/// What a list is to hold.
pub struct Wanted {
    consumer: Option<i64>,
    state: Option<State>,
    event: Option<i64>,
    /// A name that nobody has: the list is empty.
    nobody: bool,
}

impl Wanted {
    pub fn new(
        reader: &Reader,
        consumer: Option<&str>,
        state: Option<&str>,
        event: Option<i64>,
    ) -> Result<Wanted, StoreError> {
        let id = match consumer {
            Some(name) => {
                reader.work.row(sql::READ_CONSUMER_ID, &[Arg::Text(name)])?.map(|row| row.int(0)).transpose()?
            }
            None => None,
        };
        let named = state.and_then(State::parse);
        let nobody = (consumer.is_some() && id.is_none()) || (state.is_some() && named.is_none());
        Ok(Wanted { consumer: id, state: named, event, nobody })
    }

    /// The rows that can have the state are found from the smaller table.
    fn stmt(&self) -> &'static Stmt {
        match self.state {
            Some(State::Ready | State::Processing | State::RetryableFailed) => sql::READ_DELIVERIES_WORK,
            Some(State::Parked | State::PermanentlyFailed) => sql::READ_DELIVERIES_HALTED,
            _ => sql::READ_DELIVERIES,
        }
    }

    fn takes(&self, facts: &Facts) -> bool {
        self.state.is_none_or(|state| state == facts.state)
            && self.consumer.is_none_or(|consumer| consumer == facts.consumer)
    }
}

pub fn list(
    reader: &Reader,
    wanted: Wanted,
    after: Option<i64>,
    limit: usize,
    now: Micros,
) -> Result<Page, StoreError> {
    if wanted.nobody {
        return Ok(Page::Deliveries(Vec::new()));
    }
    let mut rows = match wanted.event {
        // Few: one for each consumer and generation. The cursor is the last one that was shown, wherever it stands.
        Some(event) => {
            let all = of_event(reader, event, &wanted, now)?;
            let shown = after.and_then(|id| all.iter().position(|row| row.id == id)).map_or(0, |at| at + 1);
            all.into_iter().skip(shown).collect()
        }
        None => stretches(reader, &wanted, place(reader, after)?, limit, now)?,
    };
    rows.truncate(limit);
    rows.iter_mut().try_for_each(|row| fill_behind(reader, row))?;
    Ok(Page::Deliveries(rows))
}

fn of_event(reader: &Reader, event: i64, wanted: &Wanted, now: Micros) -> Result<Vec<DeliveryRow>, StoreError> {
    Ok(facts_of(reader, event, now)?.into_iter().filter(|facts| wanted.takes(facts)).map(|facts| facts.row).collect())
}

/// Walks back until the page is full or nothing is left; the reader's time limit ends a walk that is too long.
fn stretches(
    reader: &Reader,
    wanted: &Wanted,
    mut from: Option<i64>,
    limit: usize,
    now: Micros,
) -> Result<Vec<DeliveryRow>, StoreError> {
    let mut rows = Vec::new();
    loop {
        let args = [before(from), Arg::int(wanted.consumer), count(STRETCH)];
        let found = reader.work.rows(wanted.stmt(), &args)?;
        let ended = found.len() < STRETCH;
        for row in found {
            let facts = facts(row, now)?;
            from = Some(facts.row.seq);
            if wanted.takes(&facts) {
                rows.push(facts.row);
            }
        }
        if ended || rows.len() >= limit {
            return Ok(rows);
        }
    }
}

/// A cursor is an id; lists go by place.
fn place(reader: &Reader, after: Option<i64>) -> Result<Option<i64>, StoreError> {
    let Some(id) = after else { return Ok(None) };
    let row = reader.work.row(sql::READ_DELIVERY, &[Arg::Int(id)])?;
    Ok(Some(row.map_or(Ok(id), |row| row.int(0))?))
}

pub fn dead(reader: &Reader, after: Option<i64>, limit: usize, now: Micros) -> Result<Page, StoreError> {
    let wanted = Wanted { consumer: None, state: Some(State::PermanentlyFailed), event: None, nobody: false };
    list(reader, wanted, after, limit, now)
}

pub fn one(reader: &Reader, id: i64, now: Micros) -> Result<Page, StoreError> {
    let Some(row) = reader.work.row(sql::READ_DELIVERY, &[Arg::Int(id)])? else { return Ok(Page::None) };
    Ok(Page::Deliveries(vec![whole(reader, facts(row, now)?.row)?]))
}

/// With its history and what stands before it.
pub fn whole(reader: &Reader, mut row: DeliveryRow) -> Result<DeliveryRow, StoreError> {
    fill_behind(reader, &mut row)?;
    for mut attempt in reader.work.rows(sql::READ_HISTORY, &[Arg::Int(row.id)])? {
        row.history.push(AttemptRow {
            no: attempt.int(0)?,
            started: attempt.int(1)?,
            ended: attempt.int(2)?,
            outcome: attempt.text(3)?,
            detail: attempt.text(4)?,
        });
    }
    Ok(row)
}

fn fill_behind(reader: &Reader, row: &mut DeliveryRow) -> Result<(), StoreError> {
    if row.state == State::Waiting.name() {
        let head = reader.work.row(sql::READ_BEHIND, &[Arg::Int(row.lane), Arg::Int(row.seq)])?;
        row.behind = head.map(|head| head.int(0)).transpose()?;
    }
    Ok(())
}

pub fn facts_of(reader: &Reader, event: i64, now: Micros) -> Result<Vec<Facts>, StoreError> {
    let rows = reader.work.rows(sql::READ_EVENT_DELIVERIES, &[Arg::Int(event)])?;
    rows.into_iter().map(|row| facts(row, now)).collect()
}

/// Columns in the order of the view.
fn facts(mut row: Row, now: Micros) -> Result<Facts, StoreError> {
    let work = queued(&row)?;
    let halted = row.opt_text(14)?.and_then(|kind| HaltKind::parse(&kind));
    let stored = row.opt_text(7)?.and_then(|name| State::parse(&name));
    let state = state(stored, halted, work, now);
    let attempts = row.opt_int(16)?.or(work.map(|w| w.attempts));
    let last = row.opt_text(19)?.filter(|detail| !detail.is_empty());
    let consumer = row.int(3)?;
    let row = DeliveryRow {
        seq: row.int(0)?,
        id: row.int(1)?,
        lane: row.int(2)?,
        consumer: row.opt_text(18)?.unwrap_or_default(),
        event: row.int(4)?,
        generation: row.int(5)?,
        state: state.name().to_owned(),
        attempts: attempts.map_or_else(|| row.int(8), Ok)?,
        lost: row.opt_int(13)?.or(row.opt_int(17)?).unwrap_or(0),
        due: work.map(|w| w.due),
        ended: row.opt_int(9)?,
        reason: row.opt_text(15)?.or(last),
        behind: None,
        history: Vec::new(),
    };
    Ok(Facts { row, consumer, state })
}

fn queued(row: &Row) -> Result<Option<Queued>, StoreError> {
    let Some(due) = row.opt_int(10)? else { return Ok(None) };
    Ok(Some(Queued { due, leased: row.flag(11)?, attempts: row.int(12)? }))
}
