//! States and endings: invariants 7 (epochs), 8 (possible states), 9 (final is final).

use std::collections::{HashMap, HashSet};

use super::{Case, Findings};
use crate::dump::{Delivery, Dump};

const ENDS: [&str; 4] = ["succeeded", "stale", "permanently_failed", "cancelled"];

pub(super) fn check(case: &Case<'_>, f: &mut Findings) {
    possible(case.dump, f);
    orphans(case.dump, f);
    once(case.dump, f);
    zombies(case.dump, f);
    if let Some((earlier, _)) = case.earlier {
        epochs(case.dump, earlier, f);
        finals(case.dump, earlier, f);
    }
}

/// Which of the nine states a delivery is in; none if its rows contradict each other.
pub(super) fn state(dump: &Dump, d: &Delivery) -> Option<&'static str> {
    let work = dump.work.work.iter().find(|w| w.id == d.id);
    let halted = dump.work.halted.iter().find(|h| h.id == d.id);
    match (d.open, work, halted) {
        (_, Some(_), Some(_)) => None,
        (_, None, Some(h)) => match h.kind.as_str() {
            "gap" => Some("waiting"),
            "parked" => Some("parked"),
            "dead" => Some("permanently_failed"),
            _ => None,
        },
        (true, None, None) => Some("waiting"),
        (true, Some(w), None) if w.leased => Some("processing"),
        (true, Some(w), None) if w.attempts > 0 => Some("retryable_failed"),
        (true, Some(_), None) => Some("ready"),
        (false, Some(_), None) => None,
        (false, None, None) if d.ended.is_none() => None,
        (false, None, None) => ENDS.into_iter().find(|s| *s == d.state),
    }
}

fn possible(dump: &Dump, f: &mut Findings) {
    for d in dump.work.deliveries.iter().filter(|d| state(dump, d).is_none()) {
        f.broken(
            8,
            format!("delivery {} is in an impossible state: open {}, `{}`, ended {:?}", d.id, d.open, d.state, d.ended),
        );
    }
    for d in dump.work.deliveries.iter().filter(|d| d.open && d.ended.is_some()) {
        f.broken(8, format!("delivery {} has ended and still occupies its lane", d.id));
    }
}

/// A work row of nothing would be run for ever.
fn orphans(dump: &Dump, f: &mut Findings) {
    let known: HashSet<(i64, i64, i64)> = dump.work.deliveries.iter().map(|d| (d.id, d.seq, d.lane)).collect();
    for w in dump.work.work.iter().filter(|w| !known.contains(&(w.id, w.seq, w.lane))) {
        f.broken(8, format!("the work row {} belongs to no delivery", w.seq));
    }
}

/// Invariants 7 and 16 in the engine's own history: one delivery succeeds once.
fn once(dump: &Dump, f: &mut Findings) {
    let mut wins: HashMap<i64, u64> = HashMap::new();
    for a in dump.work.attempts.iter().filter(|a| a.outcome == "done") {
        *wins.entry(a.delivery).or_default() += 1;
    }
    for (delivery, wins) in wins.into_iter().filter(|(_, n)| *n > 1) {
        f.account.doubled += 1;
        f.broken(7, format!("delivery {delivery} was settled as done {wins} times: an old lease still counted"));
    }
}

/// Invariant 7 in the engine's own history: a run whose lease was found lost has nothing to say any more.
fn zombies(dump: &Dump, f: &mut Findings) {
    let mut lost: HashMap<i64, Vec<i64>> = HashMap::new();
    for a in dump.work.attempts.iter().filter(|a| a.outcome == "lost") {
        lost.entry(a.delivery).or_default().push(a.ended);
    }
    for a in dump.work.attempts.iter().filter(|a| a.outcome != "lost") {
        let found = lost.get(&a.delivery).and_then(|at| at.iter().find(|at| a.started < **at && **at < a.ended));
        if let Some(at) = found {
            f.broken(
                7,
                format!(
                    "delivery {}: a run was found lost at {at} and still settled as `{}` at {}",
                    a.delivery, a.outcome, a.ended
                ),
            );
        }
    }
}

fn epochs(dump: &Dump, earlier: &Dump, f: &mut Findings) {
    let was: HashMap<i64, i64> = earlier.work.work.iter().map(|w| (w.id, w.epoch)).collect();
    for w in &dump.work.work {
        if let Some(before) = was.get(&w.id).filter(|e| **e > w.epoch) {
            f.broken(7, format!("the epoch of delivery {} fell from {before} to {}", w.id, w.epoch));
        }
    }
}

/// Invariant 9: without a decision on record a final delivery stays what it was, and stays.
fn finals(dump: &Dump, earlier: &Dump, f: &mut Findings) {
    let now: HashMap<i64, &Delivery> = dump.work.deliveries.iter().map(|d| (d.id, d)).collect();
    for was in earlier.work.deliveries.iter().filter(|d| !d.open && d.ended.is_some()) {
        match now.get(&was.id) {
            None => f.broken(9, format!("the final delivery {} is gone", was.id)),
            Some(d) if d.decided && !was.decided => {}
            Some(d) if (d.open, &d.state, d.ended, d.attempts) == (was.open, &was.state, was.ended, was.attempts) => {}
            Some(d) => f.broken(
                9,
                format!("the final delivery {} went from `{}` to `{}` without a command", d.id, was.state, d.state),
            ),
        }
    }
}
