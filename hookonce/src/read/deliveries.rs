//! Deliveries with the state that follows from what stands beside them.

use hookonce_core::delivery::{HaltKind, Queued, State, state};
use hookonce_core::time::Micros;

use super::tables::{Look, Question, Tables};
use super::walk::{STRETCH, Walk};
use super::{before, count};
use crate::sql::call::{Arg, Row};
use crate::store::StoreError;
use crate::view::{AttemptRow, DeliveryRow, Page};

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
    pub async fn new(
        tables: &impl Tables,
        consumer: Option<&str>,
        state: Option<&str>,
        event: Option<i64>,
    ) -> Result<Wanted, StoreError> {
        let id = match consumer {
            Some(name) => {
                let row = tables.row(Look::ConsumerId, &[Arg::Text(name)]).await?;
                row.map(|row| row.int(0)).transpose()?
            }
            None => None,
        };
        let named = state.and_then(State::parse);
        let nobody = (consumer.is_some() && id.is_none()) || (state.is_some() && named.is_none());
        Ok(Wanted { consumer: id, state: named, event, nobody })
    }

    /// The rows that can have the state are found from the smaller table.
    fn look(&self) -> Look {
        match self.state {
            Some(State::Ready | State::Processing | State::RetryableFailed) => Look::DeliveriesWork,
            Some(State::Parked | State::PermanentlyFailed) => Look::DeliveriesHalted,
            _ => Look::Deliveries,
        }
    }

    fn takes(&self, facts: &Facts) -> bool {
        self.state.is_none_or(|state| state == facts.state)
            && self.consumer.is_none_or(|consumer| consumer == facts.consumer)
    }

    fn filtered(&self, facts: Vec<Facts>) -> Vec<DeliveryRow> {
        facts.into_iter().filter(|facts| self.takes(facts)).map(|facts| facts.row).collect()
    }
}

pub async fn list(
    tables: &impl Tables,
    wanted: Wanted,
    after: Option<i64>,
    limit: usize,
    now: Micros,
) -> Result<Page, StoreError> {
    if wanted.nobody {
        return Ok(Page::Deliveries(Vec::new(), None));
    }
    let (mut rows, next) = match wanted.event {
        Some(event) => of_event(tables, event, &wanted, after, limit, now).await?,
        None => walk(tables, &wanted, after, limit, now).await?,
    };
    fill_behind(tables, &mut rows).await?;
    Ok(Page::Deliveries(rows, next))
}

/// Few: one for each consumer and generation. The cursor is the last one that was shown, wherever it stands.
async fn of_event(
    tables: &impl Tables,
    event: i64,
    wanted: &Wanted,
    after: Option<i64>,
    limit: usize,
    now: Micros,
) -> Result<(Vec<DeliveryRow>, Option<i64>), StoreError> {
    let found = facts_of(tables.rows(Look::EventDeliveries, &[Arg::Int(event)]).await?, now)?;
    let mut rows = wanted.filtered(found);
    let shown = after.and_then(|id| rows.iter().position(|row| row.id == id)).map_or(0, |at| at + 1);
    rows.drain(..shown);
    rows.truncate(limit);
    let next = rows.last().filter(|_| rows.len() == limit).map(|row| row.id);
    Ok((rows, next))
}

async fn walk(
    tables: &impl Tables,
    wanted: &Wanted,
    after: Option<i64>,
    limit: usize,
    now: Micros,
) -> Result<(Vec<DeliveryRow>, Option<i64>), StoreError> {
    let (mut walk, mut from) = (Walk::new(limit), place(tables, after).await?);
    loop {
        let found = facts_of(tables.rows(wanted.look(), &[before(from), count(STRETCH)]).await?, now)?;
        let (looked, last) = (found.len(), found.last().map(|facts| facts.row.id));
        from = found.last().map(|facts| facts.row.seq);
        if walk.take(STRETCH, looked, last, wanted.filtered(found), |row| row.id) {
            return Ok(walk.page());
        }
    }
}

/// A cursor is an id; lists go by place.
async fn place(tables: &impl Tables, after: Option<i64>) -> Result<Option<i64>, StoreError> {
    let Some(id) = after else { return Ok(None) };
    let row = tables.row(Look::Delivery, &[Arg::Int(id)]).await?;
    Ok(Some(row.map_or(Ok(id), |row| row.int(0))?))
}

pub async fn dead(tables: &impl Tables, after: Option<i64>, limit: usize, now: Micros) -> Result<Page, StoreError> {
    let wanted = Wanted { consumer: None, state: Some(State::PermanentlyFailed), event: None, nobody: false };
    list(tables, wanted, after, limit, now).await
}

pub async fn one(tables: &impl Tables, id: i64, now: Micros) -> Result<Page, StoreError> {
    let Some(row) = tables.row(Look::Delivery, &[Arg::Int(id)]).await? else { return Ok(Page::None) };
    Ok(Page::Deliveries(whole(tables, vec![facts(row, now)?.row]).await?, None))
}

/// Each with its history and what stands before it.
pub async fn whole(tables: &impl Tables, mut rows: Vec<DeliveryRow>) -> Result<Vec<DeliveryRow>, StoreError> {
    fill_behind(tables, &mut rows).await?;
    let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
    for (row, [history]) in rows.iter_mut().zip(tables.each([Look::History], &ids).await?) {
        row.history = history.into_iter().map(attempt).collect::<Result<_, _>>()?;
    }
    Ok(rows)
}

fn attempt(mut row: Row) -> Result<AttemptRow, StoreError> {
    Ok(AttemptRow {
        no: row.int(0)?,
        started: row.int(1)?,
        ended: row.int(2)?,
        outcome: row.text(3)?,
        detail: row.text(4)?,
    })
}

async fn fill_behind(tables: &impl Tables, rows: &mut [DeliveryRow]) -> Result<(), StoreError> {
    let mut waiting: Vec<&mut DeliveryRow> = rows.iter_mut().filter(|row| row.state == State::Waiting.name()).collect();
    let places: Vec<[Arg<'_>; 2]> = waiting.iter().map(|row| [Arg::Int(row.lane), Arg::Int(row.seq)]).collect();
    let questions: Vec<Question<'_>> = places.iter().map(|args| Question { look: Look::Behind, args }).collect();
    for (row, head) in waiting.iter_mut().zip(tables.ask(&questions).await?) {
        row.behind = head.first().map(|head| head.int(0)).transpose()?;
    }
    Ok(())
}

pub fn facts_of(rows: Vec<Row>, now: Micros) -> Result<Vec<Facts>, StoreError> {
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
