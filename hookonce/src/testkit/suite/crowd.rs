//! Everybody at once: senders with copies and conflicts, routers, workers that fail, crash, or come back after their
//! lease. Which interleaving happens is the machine's; what must hold does not depend on it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use hookonce_core::admit::Verdict;
use hookonce_core::claim::Ask;
use hookonce_core::delivery::Outcome;
use hookonce_core::route::Routing;
use hookonce_core::settle::Settled;
use hookonce_core::time::SECOND;

use super::{LEASE, ask, configured, routed, settled, sound, verdict};
use crate::store::Run;
use crate::testkit::model::Rows;
use crate::testkit::script::bed::{Bed, wait};
use crate::testkit::script::random::Dice;

const KEYS: usize = 48;
const SENDERS: usize = 4;
const ROUTERS: usize = 2;
const WORKERS: usize = 4;

/// What was seen outside.
#[derive(Default)]
struct Seen {
    verdicts: Mutex<Vec<(usize, Verdict)>>,
    /// Effects by (lane, seq), in the order in which they happened; a repeat is allowed.
    effects: Mutex<Vec<(i64, i64)>>,
    /// Endings that were kept as done, by delivery.
    done: Mutex<BTreeMap<i64, usize>>,
    /// The newest epoch that was handed out for each work row.
    epochs: Mutex<BTreeMap<i64, i64>>,
    fenced: AtomicUsize,
    senders: AtomicUsize,
    drained: AtomicBool,
}

pub fn a_crowd_with_zombies(bed: &(dyn Bed + Sync)) {
    let (routing, seen) = (configured(bed), Seen::default());
    thread::scope(|scope| {
        for n in 0..SENDERS {
            let seen = &seen;
            scope.spawn(move || sender(bed, n as u64, seen));
        }
        for _ in 0..ROUTERS {
            scope.spawn(|| router(bed, &routing, &seen));
        }
        for n in 0..WORKERS {
            let (routing, seen) = (&routing, &seen);
            scope.spawn(move || worker(bed, routing, n as u64, seen));
        }
    });
    let rows = bed.rows();
    answers_are_true(&rows, &seen);
    effects_are_in_order(&rows, &seen);
    assert!(seen.fenced.load(Ordering::SeqCst) > 0, "no zombie came back: this run proves nothing");
    sound(bed, &routing);
}

/// Each sender sends every key, some twice, some with other content.
fn sender(bed: &(dyn Bed + Sync), seed: u64, seen: &Seen) {
    let mut dice = Dice::new(seed);
    for _ in 0..KEYS * 2 {
        let key = dice.below(KEYS);
        let body = if dice.one_in(8) { "body=other" } else { "" };
        let verdict = verdict(bed, &format!("gh/{key} agg=lane-{} {body}", key % 6));
        seen.verdicts.lock().expect("no sender panics with it").push((key, verdict));
    }
    seen.senders.fetch_add(1, Ordering::SeqCst);
}

/// More rows than there can be.
const ALL: usize = 64;

fn router(bed: &(dyn Bed + Sync), routing: &Routing, seen: &Seen) {
    while !seen.drained.load(Ordering::SeqCst) {
        routed(bed, routing);
        let sent = seen.senders.load(Ordering::SeqCst) == SENDERS;
        let rows = bed.rows();
        let behind = rows.pass.values().next_back().is_none_or(|pass| pass.pos < rows.counters.event);
        let open = rows.delivery.values().any(|d| d.open);
        seen.drained.store(sent && !behind && !open, Ordering::SeqCst);
    }
}

/// Takes a few, and does what workers do: ends them, fails, forgets them, or ends them when it is too late.
fn worker(bed: &(dyn Bed + Sync), routing: &Routing, seed: u64, seen: &Seen) {
    let (mut dice, mut draw) = (Dice::new(seed), (seed + 1) << 32);
    while !seen.drained.load(Ordering::SeqCst) {
        let store = bed.store();
        let ask = Ask { quiet: dice.one_in(4), ..ask(&*store, 1, 1 + dice.below(3), &mut draw) };
        let mut runs = wait(store.claim(ask)).expect("nothing is in the way");
        if runs.is_empty() {
            bed.clock().advance(SECOND);
        }
        // Until the first of them was fenced, whoever holds something is overtaken: no luck is needed for a zombie.
        let never = seen.fenced.load(Ordering::SeqCst) == 0 && !runs.is_empty();
        if never || dice.one_in(10) {
            // Its leases end while it is busy, and others take the rows: here the worker itself, asking again.
            bed.clock().advance(LEASE);
            let again = super::ask(&*store, 1, if never { ALL } else { 3 }, &mut draw);
            runs.extend(wait(store.claim(again)).expect("nothing is in the way"));
        }
        for run in &runs {
            let mut epochs = seen.epochs.lock().expect("no worker panics with it");
            let newest = epochs.entry(run.claimed.lease.seq).or_default();
            *newest = run.claimed.lease.epoch.max(*newest);
        }
        for run in runs {
            ran(bed, routing, &run, &mut dice, seen);
        }
    }
}

fn ran(bed: &(dyn Bed + Sync), routing: &Routing, run: &Run, dice: &mut Dice, seen: &Seen) {
    seen.effects.lock().expect("no worker panics with it").push((run.claimed.lane, run.claimed.lease.seq));
    let outcome = match dice.below(10) {
        0 => return,
        1 => Outcome::Retry { reason: "once".into(), after: None },
        _ => Outcome::Done,
    };
    let lease = run.claimed.lease;
    let newest = seen.epochs.lock().expect("no worker panics with it").get(&lease.seq).copied();
    let settled = settled(&*bed.store(), run, &outcome, &routing.consumers[0]);
    // Invariant 7: who was overtaken before it settled changes nothing.
    assert!(settled == Settled::Fenced || newest == Some(lease.epoch), "epoch {} of {newest:?} settled", lease.epoch);
    match settled {
        Settled::Fenced => drop(seen.fenced.fetch_add(1, Ordering::SeqCst)),
        Settled::Kept if outcome == Outcome::Done => {
            *seen.done.lock().expect("no worker panics with it").entry(run.claimed.id).or_insert(0) += 1;
        }
        Settled::Kept => {}
    }
}

/// One accepted a key, every copy counted, every conflict on record.
fn answers_are_true(rows: &Rows, seen: &Seen) {
    let verdicts = seen.verdicts.lock().expect("all have ended");
    let of = |key: usize, is: fn(&Verdict) -> bool| verdicts.iter().filter(|(k, v)| *k == key && is(v)).count();
    for event in rows.event.values() {
        let key: usize = event.key_text.parse().expect("keys are numbers here");
        let copies = of(key, |v| matches!(v, Verdict::Duplicate { .. }));
        assert_eq!(of(key, |v| matches!(v, Verdict::Accepted { .. })), 1, "key {key}");
        assert_eq!(rows.ledger.get(&event.digest).map(|l| l.seen), Some(1 + copies as i64), "key {key}");
        let conflicts = rows.conflict.values().filter(|c| c.digest == event.digest).map(|c| c.seen).sum::<i64>();
        assert_eq!(conflicts, of(key, |v| matches!(v, Verdict::Conflict { .. })) as i64, "key {key}");
    }
    let keys: BTreeSet<usize> = verdicts.iter().map(|(key, _)| *key).collect();
    assert_eq!(rows.event.len(), keys.len());
    assert_eq!(rows.counters.tally.values().sum::<i64>(), verdicts.len() as i64);
}

/// Each delivery was kept as done once, and began only when its predecessor had ended.
fn effects_are_in_order(rows: &Rows, seen: &Seen) {
    let done = seen.done.lock().expect("all have ended");
    for delivery in rows.delivery.values() {
        let kept = done.get(&delivery.id).copied().unwrap_or(0);
        let want = usize::from(delivery.state.as_deref() == Some("succeeded"));
        assert_eq!(kept, want, "delivery {} ended {:?}", delivery.id, delivery.state);
    }
    let mut begun: BTreeMap<i64, i64> = BTreeMap::new();
    for (lane, seq) in seen.effects.lock().expect("all have ended").iter() {
        let newest = begun.entry(*lane).or_insert(*seq);
        // Going back is a zombie's repeat; going on must be to the very next of the lane.
        let between =
            rows.delivery.range(*newest + 1..(*seq).max(*newest + 1)).filter(|(_, d)| d.lane == *lane).count();
        assert_eq!(between, 0, "{seq} of lane {lane} began before its predecessor");
        *newest = (*newest).max(*seq);
    }
}
