//! Settling: the ending of a run is decided before the statement, which only tests the fence.

use crate::claim::Claimed;
use crate::consumer::{Consumer, OnDead, Order};
use crate::delivery::{HaltKind, Outcome, State};
use crate::lease::Lease;
use crate::retry;
use crate::time::Micros;

/// Characters kept of a reason; the rest of a hostile answer is of no use to anybody.
pub const REASON_MAX: usize = 500;
/// Rows of history kept for one delivery: the first ones and, in the place of the last, whatever came last. Its number
/// says how many there were.
pub const ATTEMPT_ROWS: i64 = 1_000;

/// What a settle writes, if the lease still holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    pub lease: Lease,
    pub id: i64,
    pub lane: i64,
    pub consumer: i64,
    pub event: i64,
    pub generation: i64,
    /// Outcomes, this one included where it counts.
    pub attempts: i64,
    pub how: How,
    pub attempt: Attempt,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    /// Ended; the lane's next gets a work row.
    Closed(State),
    /// Tried again; `counted`: the patience with this delivery runs (`since`), from now if it did not yet.
    Later { delay: Micros, counted: bool },
    /// Out of the queue. Where it holds its lane it stays open and nobody is next.
    Halted { kind: HaltKind, holds_lane: bool, reason: String },
}

/// The row of history: each run and each decision of the engine is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    pub started: Micros,
    /// Length of the run; the store adds it to `started`, so that `ended` is never made of two clocks.
    pub took: Micros,
    pub outcome: &'static str,
    pub detail: String,
}

/// What a run that came out so writes. `elapsed` is the length of the run, `dice` one draw for the jitter.
pub fn plan(run: &Claimed, outcome: &Outcome, consumer: &Consumer, elapsed: Micros, dice: u64) -> Ending {
    let (counted, outcome_name, detail) = described(outcome);
    let attempts = run.attempts + i64::from(counted);
    let how = match outcome {
        Outcome::Done => How::Closed(State::Succeeded),
        Outcome::Discard(_) => How::Closed(State::Cancelled),
        Outcome::Snooze(delay) | Outcome::Untried { delay } => How::Later { delay: (*delay).max(0), counted: false },
        Outcome::Deferred { reason, after } => deferred(run, consumer, elapsed, reason, *after, dice),
        Outcome::Park(reason) => parked(consumer.order, reason),
        Outcome::Dead(reason) => dead(consumer, reason),
        Outcome::Retry { reason, after } => retried(run, consumer, attempts, elapsed, reason, *after, dice),
    };
    let attempt = Attempt { started: run.now, took: elapsed, outcome: outcome_name, detail: cut(detail) };
    ending(run, attempts, how, attempt)
}

/// A row that died because its runs never came back.
pub fn worker_lost(run: &Claimed, consumer: &Consumer) -> Ending {
    let attempt = Attempt { started: run.now, took: 0, outcome: "dead", detail: "worker lost".into() };
    ending(run, run.attempts, dead(consumer, "worker lost"), attempt)
}

/// A row whose delivery a person cancelled.
pub fn cancelled(run: &Claimed) -> Ending {
    let attempt = Attempt { started: run.now, took: 0, outcome: "cancelled", detail: "cancelled by a person".into() };
    ending(run, run.attempts, How::Closed(State::Cancelled), attempt)
}

/// Why a delivery was cancelled that came when its payload had gone already.
pub const PURGED: &str = "purged";

/// A row whose payload is gone: there is nothing that could be run.
pub fn purged(run: &Claimed) -> Ending {
    let ending = cancelled(run);
    Ending { attempt: Attempt { detail: PURGED.into(), ..ending.attempt.clone() }, ..ending }
}

fn ending(run: &Claimed, attempts: i64, how: How, attempt: Attempt) -> Ending {
    Ending {
        lease: run.lease,
        id: run.id,
        lane: run.lane,
        consumer: run.consumer,
        event: run.event,
        generation: run.generation,
        attempts,
        how,
        attempt,
    }
}

fn retried(
    run: &Claimed,
    consumer: &Consumer,
    attempts: i64,
    elapsed: Micros,
    reason: &str,
    after: Option<Micros>,
    dice: u64,
) -> How {
    if retry::exhausted(&consumer.retry, attempts, failing(run, elapsed)) {
        return dead(consumer, reason);
    }
    How::Later { delay: retry::delay(&consumer.retry, attempts, after, dice), counted: true }
}

/// No attempt is used, but time is: who always asks for later is given up like who always fails. Where nobody can say
/// when (the consumer is paused until a person decides) no time runs either.
fn deferred(
    run: &Claimed,
    consumer: &Consumer,
    elapsed: Micros,
    reason: &str,
    after: Option<Micros>,
    dice: u64,
) -> How {
    let delay = retry::deferred(after.unwrap_or(0), dice);
    if after.is_some() && retry::out_of_time(&consumer.retry, failing(run, elapsed)) {
        return dead(consumer, reason);
    }
    How::Later { delay, counted: after.is_some() }
}

/// For how long it has been failing or put off by now.
fn failing(run: &Claimed, elapsed: Micros) -> Micros {
    let now = run.now.saturating_add(elapsed);
    now.saturating_sub(run.since.unwrap_or(now))
}

fn dead(consumer: &Consumer, reason: &str) -> How {
    let holds_lane = consumer.order != Order::None && consumer.on_dead == OnDead::Hold;
    How::Halted { kind: HaltKind::Dead, holds_lane, reason: cut(reason.to_owned()) }
}

fn parked(order: Order, reason: &str) -> How {
    How::Halted { kind: HaltKind::Parked, holds_lane: order == Order::Arrival, reason: cut(reason.to_owned()) }
}

fn described(outcome: &Outcome) -> (bool, &'static str, String) {
    match outcome {
        Outcome::Done => (true, "done", String::new()),
        Outcome::Snooze(_) => (false, "snoozed", String::new()),
        Outcome::Untried { .. } => (false, "untried", String::new()),
        Outcome::Deferred { reason, .. } => (false, "deferred", reason.clone()),
        Outcome::Discard(reason) => (true, "discarded", reason.clone()),
        Outcome::Park(reason) => (true, "parked", reason.clone()),
        Outcome::Retry { reason, .. } => (true, "failed", reason.clone()),
        Outcome::Dead(reason) => (true, "dead", reason.clone()),
    }
}

fn cut(mut text: String) -> String {
    if let Some((at, _)) = text.char_indices().nth(REASON_MAX) {
        text.truncate(at);
    }
    text
}

/// The number of a row of history behind the one numbered `last` (0: there is none), and whether it takes that one's
/// place, so that no receiver can fill the store with its answers.
pub fn history(last: i64) -> (i64, bool) {
    (last + 1, last >= ATTEMPT_ROWS)
}

/// Whether the ending was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    Kept,
    /// The lease was lost; nothing was changed.
    Fenced,
}

/// Judges the answer of the settle statements: which of the asked-for rows were still ours.
pub fn receipt(asked: &[Ending], kept: &[i64]) -> Vec<Settled> {
    asked.iter().map(|e| if kept.contains(&e.lease.seq) { Settled::Kept } else { Settled::Fenced }).collect()
}
