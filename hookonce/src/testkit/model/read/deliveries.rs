//! Deliveries with their derived state, and consumers with what they owe.

use hookonce_core::consumer::Standing;
use hookonce_core::delivery::State;
use hookonce_core::time::Micros;

use crate::testkit::model::rows::{Attempt, Delivery, Rows, Work};
use crate::testkit::model::{definitions, route, state};
use crate::view::{AttemptRow, ConsumerRow, DeliveryRow};

/// What a list is to hold.
pub struct Wanted<'q> {
    pub consumer: Option<&'q str>,
    pub state: Option<&'q str>,
    pub event: Option<i64>,
}

impl Wanted<'_> {
    fn takes(&self, row: &DeliveryRow) -> bool {
        self.consumer.is_none_or(|c| c == row.consumer)
            && self.state.is_none_or(|s| s == row.state)
            && self.event.is_none_or(|e| e == row.event)
    }
}

/// From the newest place back; of one event in the order of their places.
pub fn list<'r>(
    rows: &'r Rows,
    wanted: &Wanted<'_>,
    after: Option<i64>,
    now: Micros,
) -> impl Iterator<Item = DeliveryRow> + use<'r> {
    let mut all: Vec<DeliveryRow> = rows.delivery.values().map(|d| row(rows, d, now)).collect();
    if wanted.event.is_none() {
        all.reverse();
    }
    let shown = after.and_then(|id| all.iter().position(|row| row.id == id)).map_or(0, |at| at + 1);
    let rest: Vec<DeliveryRow> = all.into_iter().skip(shown).filter(|row| wanted.takes(row)).collect();
    rest.into_iter()
}

pub fn of_event(rows: &Rows, event: i64, now: Micros) -> impl Iterator<Item = DeliveryRow> + '_ {
    rows.delivery.values().filter(move |d| d.event == event).map(move |d| row(rows, d, now))
}

/// One with its history.
pub fn whole(rows: &Rows, id: i64, now: Micros) -> Option<DeliveryRow> {
    let delivery = rows.delivery.values().find(|d| d.id == id)?;
    let history = attempts(rows, id).map(|a| AttemptRow {
        no: a.no,
        started: a.started,
        ended: a.ended,
        outcome: a.outcome.clone(),
        detail: a.detail.clone(),
    });
    Some(DeliveryRow { history: history.collect(), ..row(rows, delivery, now) })
}

fn attempts(rows: &Rows, delivery: i64) -> impl DoubleEndedIterator<Item = &Attempt> {
    rows.attempt.range((delivery, i64::MIN)..=(delivery, i64::MAX)).map(|(_, a)| a)
}

fn row(rows: &Rows, d: &Delivery, now: Micros) -> DeliveryRow {
    let halted = rows.halted.get(&d.id).filter(|h| h.seq == d.seq);
    let work = rows.work.get(&d.seq);
    let state = state::of_delivery(rows, d, now);
    let last = attempts(rows, d.id).next_back().map(|a| a.detail.clone()).filter(|detail| !detail.is_empty());
    let head = || rows.delivery.values().find(|other| other.lane == d.lane && other.open && other.seq < d.seq);
    DeliveryRow {
        id: d.id,
        seq: d.seq,
        lane: d.lane,
        consumer: definitions(rows).get(&d.consumer).map_or_else(String::new, |c| c.name.clone()),
        event: d.event,
        generation: d.generation,
        state: state.name().to_owned(),
        attempts: halted.map(|h| h.attempts).or(work.map(|w| w.attempts)).unwrap_or(d.attempts),
        lost: work.map(|w| w.lost).or(halted.map(|h| h.lost)).unwrap_or(0),
        due: work.map(|w| w.due),
        ended: d.ended,
        reason: halted.map(|h| h.reason.clone()).or(last),
        behind: (state == State::Waiting).then(head).flatten().map(|head| head.id),
        history: Vec::new(),
    }
}

/// In the order of their names.
pub fn consumers(rows: &Rows, now: Micros) -> Vec<ConsumerRow> {
    let mut all: Vec<ConsumerRow> = definitions(rows).into_values().map(|c| consumer(rows, c, now)).collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

fn consumer(rows: &Rows, c: &crate::testkit::model::rows::Consumer, now: Micros) -> ConsumerRow {
    let owed = || rows.work.values().filter(|w| w.consumer == c.id);
    let leased = |w: &&Work| w.token.is_some() && w.due > now;
    let halted = |kind: &str| rows.halted.values().filter(|h| h.consumer == c.id && h.kind == kind).count() as i64;
    let oldest = owed().map(|w| w.event).min().and_then(|event| rows.event.get(&event)).map(|e| e.received);
    ConsumerRow {
        id: c.id,
        name: c.name.clone(),
        state: Standing::parse(&c.state).map_or_else(|| c.state.clone(), |standing| standing.shown().to_owned()),
        pos: route::route_cursor(rows, c.id),
        ready: owed().filter(|w| !leased(w) && w.attempts == 0).count() as i64,
        processing: owed().filter(leased).count() as i64,
        retrying: owed().filter(|w| !leased(w) && w.attempts > 0).count() as i64,
        dead: halted("dead"),
        parked: halted("parked"),
        oldest,
    }
}
