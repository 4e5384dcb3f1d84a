//! Claims, renewals and releases on the model.

use hookonce_core::claim::{self, Ask, Claimed, LOST_QUIET};
use hookonce_core::consumer::Standing;
use hookonce_core::lease::{self, Lease};
use hookonce_core::settle;
use hookonce_core::time::Micros;

use super::rows::{Attempt, Rows, Work};

/// The verb: due rows under a new lease each.
pub fn claim(rows: &mut Rows, ask: &Ask, now: Micros) -> Vec<Claimed> {
    if standing(rows, ask.consumer).is_some_and(|standing| !standing.works()) {
        return Vec::new();
    }
    let due = claim_due(rows, ask, now);
    due.into_iter().zip(&ask.tokens).filter_map(|(seq, token)| claim_take(rows, ask, seq, *token, now)).collect()
}

/// Whoever is paused or left gets nothing; what it owes is kept as it is.
pub fn standing(rows: &Rows, consumer: i64) -> Option<Standing> {
    super::definitions(rows).get(&consumer).and_then(|c| Standing::parse(&c.state))
}

/// Mirror M3: due rows, oldest first; rows that must run with nothing beside them only for a claim of their own.
pub fn claim_due(rows: &Rows, ask: &Ask, now: Micros) -> Vec<i64> {
    let ours = |w: &&Work| w.consumer == ask.consumer && claim::due(w.due, now) && (w.lost >= LOST_QUIET) == ask.quiet;
    let mut due: Vec<(Micros, i64)> = rows.work.values().filter(ours).map(|w| (w.due, w.seq)).collect();
    due.sort_unstable();
    let limit = if ask.quiet { 1 } else { ask.tokens.len() };
    due.into_iter().take(limit).map(|(_, seq)| seq).collect()
}

/// Mirror M3: a token that is still set is a lease that ended without an outcome.
pub fn claim_take(rows: &mut Rows, ask: &Ask, seq: i64, token: lease::Token, now: Micros) -> Option<Claimed> {
    let cancel = rows.delivery.get(&seq).is_some_and(|d| d.cancel);
    let store = rows.counters.generation;
    let work = rows.work.get_mut(&seq)?;
    let (was, until) = (work.token, work.due);
    work.lost = claim::lost(work.lost, was);
    work.due = now.saturating_add(ask.lease);
    work.epoch += 1;
    work.token = Some(token);
    work.owner = Some(ask.owner);
    let claimed = claimed(work, token, store, cancel, now);
    if was.is_some() {
        claim_lost(rows, claimed.id, until, now);
    }
    Some(claimed)
}

fn claimed(work: &Work, token: lease::Token, store: i64, cancel: bool, now: Micros) -> Claimed {
    Claimed {
        lease: Lease { seq: work.seq, epoch: work.epoch, token, store },
        id: work.id,
        lane: work.lane,
        event: work.event,
        consumer: work.consumer,
        generation: work.generation,
        attempts: work.attempts,
        lost: work.lost,
        since: work.since,
        decided: work.decided,
        cancel,
        now,
    }
}

/// The history of a lease that ended without an outcome: nobody else will write it.
fn claim_lost(rows: &mut Rows, delivery: i64, until: Micros, now: Micros) {
    let detail = "the lease ended without an outcome".to_owned();
    tried(rows, Attempt { delivery, no: 0, started: until, ended: now, outcome: "lost".into(), detail });
}

/// The next row of a delivery's history, which gets its number here.
pub fn tried(rows: &mut Rows, row: Attempt) {
    let last = rows.attempt.range((row.delivery, i64::MIN)..=(row.delivery, i64::MAX)).next_back();
    let last = last.map_or(0, |((_, no), _)| *no);
    let (no, replaces) = settle::history(last);
    if replaces {
        rows.attempt.remove(&(row.delivery, last));
    }
    rows.attempt.put(Attempt { no, ..row });
}

/// Mirror M4: the fence.
pub fn holds(rows: &Rows, lease: &Lease) -> bool {
    let store = rows.counters.generation;
    rows.work.get(&lease.seq).is_some_and(|w| lease::holds(lease, w.seq, w.epoch, w.token, store))
}

/// The verb: answers the leases that do not hold any more.
pub fn renew(rows: &mut Rows, leases: &[Lease], lease: Micros, now: Micros) -> Vec<Lease> {
    leases.iter().filter(|l| !renew_one(rows, l, lease, now)).copied().collect()
}

/// Late but untaken is still ours.
pub fn renew_one(rows: &mut Rows, asked: &Lease, lease: Micros, now: Micros) -> bool {
    let held = holds(rows, asked);
    if let Some(work) = rows.work.get_mut(&asked.seq).filter(|_| held) {
        work.due = now.saturating_add(lease);
    }
    held
}

/// The verb: given back unfinished, nothing counted.
pub fn release(rows: &mut Rows, leases: &[Lease], now: Micros) {
    for lease in leases {
        release_one(rows, lease, now);
    }
}

pub fn release_one(rows: &mut Rows, lease: &Lease, now: Micros) {
    let held = holds(rows, lease);
    if let Some(work) = rows.work.get_mut(&lease.seq).filter(|_| held) {
        work.due = now;
        work.token = None;
        work.owner = None;
    }
}
