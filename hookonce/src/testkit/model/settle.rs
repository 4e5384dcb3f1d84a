//! Settling on the model: each ending tests the fence, then writes what was decided before.

use hookonce_core::delivery::HaltKind;
use hookonce_core::lane::{self, Place};
use hookonce_core::settle::{Ending, How, Settled};
use hookonce_core::time::Micros;

use super::claim::{holds, tried};
use super::rows::{Attempt, Halted, Rows, Work};

/// The verb, without the claim that may share its commit.
pub fn settle(rows: &mut Rows, endings: &[Ending], now: Micros) -> Vec<Settled> {
    let kept: Vec<i64> = endings.iter().filter(|e| settle_one(rows, e, now)).map(|e| e.lease.seq).collect();
    hookonce_core::settle::receipt(endings, &kept)
}

/// Mirror M4 stands before everything: a fenced ending changes nothing.
pub fn settle_one(rows: &mut Rows, ending: &Ending, now: Micros) -> bool {
    let kept = holds(rows, &ending.lease);
    if kept {
        settle_write(rows, ending, now);
    }
    kept
}

/// What a kept ending writes.
pub fn settle_write(rows: &mut Rows, ending: &Ending, now: Micros) {
    let seq = ending.lease.seq;
    match &ending.how {
        How::Later { delay, counted } => settle_later(rows, seq, ending.attempts, *delay, *counted, now),
        How::Closed(state) => {
            settle_gone(rows, seq);
            settle_ended(rows, ending, false, state.name(), now);
            settle_next(rows, ending.lane, seq, now);
        }
        How::Halted { kind, holds_lane, reason } => {
            let Some(work) = settle_gone(rows, seq) else { return };
            settle_halt(rows, ending, &work, *kind, reason, now);
            settle_ended(rows, ending, *holds_lane, kind.state().name(), now);
            if !holds_lane {
                settle_next(rows, ending.lane, seq, now);
            }
        }
    }
    settle_tried(rows, ending);
}

pub fn settle_gone(rows: &mut Rows, seq: i64) -> Option<Work> {
    rows.work.remove(&seq)
}

fn settle_ended(rows: &mut Rows, ending: &Ending, open: bool, state: &str, now: Micros) {
    if let Some(delivery) = rows.delivery.get_mut(&ending.lease.seq) {
        delivery.open = open;
        delivery.state = Some(state.to_owned());
        delivery.attempts = ending.attempts;
        delivery.ended = Some(now);
    }
}

/// Needs no successor: the row stays the head of its lane.
pub fn settle_later(rows: &mut Rows, seq: i64, attempts: i64, delay: Micros, counted: bool, now: Micros) {
    if let Some(work) = rows.work.get_mut(&seq) {
        work.due = now.saturating_add(delay);
        work.token = None;
        work.owner = None;
        work.attempts = attempts;
        work.since = work.since.or(counted.then_some(now));
    }
}

fn settle_halt(rows: &mut Rows, ending: &Ending, work: &Work, kind: HaltKind, reason: &str, now: Micros) {
    rows.halted.put(Halted {
        id: ending.id,
        seq: work.seq,
        lane: work.lane,
        consumer: work.consumer,
        event: work.event,
        generation: work.generation,
        aggregate: None,
        version: None,
        kind: kind.name().into(),
        reason: reason.into(),
        evidence: None,
        since: now,
        attempts: ending.attempts,
        lost: work.lost,
        epoch: work.epoch,
    });
}

fn settle_tried(rows: &mut Rows, ending: &Ending) {
    let attempt = &ending.attempt;
    let row = Attempt {
        delivery: ending.id,
        no: 0,
        started: attempt.started,
        ended: attempt.started.saturating_add(attempt.took),
        outcome: attempt.outcome.into(),
        detail: attempt.detail.clone(),
    };
    tried(rows, row);
}

/// Mirror M5: the next of a lane gets its work row. A delivery without a lane has nobody behind it.
pub fn settle_next(rows: &mut Rows, lane: i64, behind: i64, now: Micros) {
    if lane >= 0 {
        return;
    }
    let places: Vec<Place> =
        rows.delivery.values().filter(|d| d.lane == lane).map(|d| place(rows, d.seq, d.open)).collect();
    if let Some(next) = lane::next(behind, &places) {
        work_row(rows, next, now);
    }
}

fn place(rows: &Rows, seq: i64, open: bool) -> Place {
    let halted = rows.halted.values().any(|h| h.seq == seq);
    Place { seq, open, busy: halted || rows.work.contains_key(&seq) }
}

/// A delivery becomes runnable for the first time.
pub fn work_row(rows: &mut Rows, seq: i64, now: Micros) {
    let Some(d) = rows.delivery.get(&seq) else { return };
    let work = Work {
        seq,
        id: d.id,
        lane: d.lane,
        event: d.event,
        consumer: d.consumer,
        generation: d.generation,
        repeat: d.repeat.clone(),
        due: now,
        since: None,
        attempts: 0,
        lost: 0,
        decided: d.decided,
        epoch: 0,
        token: None,
        owner: None,
    };
    rows.work.put(work);
}
