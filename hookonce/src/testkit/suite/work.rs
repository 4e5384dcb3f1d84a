//! Claims, settles and passes whose answers meet.

use std::collections::BTreeSet;
use std::sync::Barrier;
use std::thread;

use hookonce_core::delivery::Outcome;
use hookonce_core::settle::{Settled, plan};

use super::{LEASE, ask, configured, routed, settled, sound, verdict};
use crate::clock::Clock as _;
use crate::store::Run;
use crate::testkit::script::bed::{Bed, wait};

/// The claim of the next batch commits with the settle of the last: what that made ready is in it.
pub fn a_settle_claims_the_next(bed: &(dyn Bed + Sync)) {
    let (routing, store, mut draw) = (configured(bed), bed.store(), 0);
    for key in ["gh/1 agg=a", "gh/2 agg=a", "gh/3 agg=b"] {
        verdict(bed, key);
    }
    routed(bed, &routing);
    let first = wait(store.claim(ask(&*store, 1, 1, &mut draw))).expect("nothing is in the way");
    let ending = plan(&first[0].claimed, &Outcome::Done, &routing.consumers[0], 0, 0);
    let next = ask(&*store, 1, 5, &mut draw);
    let (settled, runs) = wait(store.settle(vec![ending], Some(next))).expect("nothing is in the way");
    assert_eq!(settled, [Settled::Kept]);
    assert_eq!(runs.iter().map(|run| run.event.key_text.as_str()).collect::<BTreeSet<_>>(), ["2", "3"].into());
    sound(bed, &routing);
}

/// Every verb is safe to repeat: an error near its commit may have hidden one.
pub fn repeated_verbs_change_nothing(bed: &(dyn Bed + Sync)) {
    let (routing, store) = (configured(bed), bed.store());
    verdict(bed, "gh/1 agg=a");
    routed(bed, &routing);
    let run = wait(store.claim(ask(&*store, 1, 1, &mut 0))).expect("nothing is in the way").remove(0);
    assert_eq!(settled(&*store, &run, &Outcome::Done, &routing.consumers[0]), Settled::Kept);
    let rows = bed.rows();
    assert_eq!(settled(&*store, &run, &Outcome::Done, &routing.consumers[0]), Settled::Fenced);
    assert_eq!(configured(bed), routing);
    routed(bed, &routing);
    wait(store.release(vec![run.claimed.lease])).expect("nothing is in the way");
    assert_eq!(wait(store.renew(vec![run.claimed.lease], LEASE)), Ok(vec![run.claimed.lease]));
    assert_eq!(bed.rows(), rows);
}

/// Workers that ask at the same moment never hold two of one lane (X15), nor one delivery twice.
pub fn one_holder_a_lane(bed: &(dyn Bed + Sync)) {
    let routing = configured(bed);
    for n in 0..40 {
        verdict(bed, &format!("gh/{n} agg=lane-{}", n % 8));
    }
    routed(bed, &routing);
    let together = Barrier::new(10);
    let claimed: Vec<Run> = thread::scope(|scope| {
        let worker = |n: u64| {
            let (store, together) = (bed.store(), &together);
            move || {
                together.wait();
                wait(store.claim(ask(&*store, 1, 5, &mut (n * 1_000)))).expect("nothing is in the way")
            }
        };
        let workers: Vec<_> = (0..10).map(|n| scope.spawn(worker(n))).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker is answered")).collect()
    });
    let lanes: BTreeSet<i64> = claimed.iter().map(|run| run.claimed.lane).collect();
    assert_eq!((claimed.len(), lanes.len()), (8, 8));
    sound(bed, &routing);
}

/// Two routers at once: each event once, in one order.
pub fn two_routers_one_order(bed: &(dyn Bed + Sync)) {
    let routing = configured(bed);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..30 {
                    wait(bed.store().route(&routing)).expect("nothing is in the way");
                }
            });
        }
        for n in 0..60 {
            verdict(bed, &format!("gh/{n} agg={}", n % 3));
        }
    });
    routed(bed, &routing);
    let rows = bed.rows();
    let events: Vec<i64> = rows.delivery.values().map(|d| d.event).collect();
    assert_eq!(events, (1..=60).collect::<Vec<_>>());
    sound(bed, &routing);
}

/// The instant at which a worker must look again.
pub fn what_is_due_next(bed: &(dyn Bed + Sync)) {
    let (routing, store) = (configured(bed), bed.store());
    let now = bed.clock().now();
    assert_eq!(wait(store.next_due(1)), Ok((None, now)));
    verdict(bed, "gh/1 agg=a");
    verdict(bed, "gh/2 agg=a");
    routed(bed, &routing);
    assert_eq!(wait(store.next_due(1)), Ok((Some(now), now)));
    let run = wait(store.claim(ask(&*store, 1, 1, &mut 0))).expect("nothing is in the way").remove(0);
    assert_eq!(wait(store.next_due(1)), Ok((Some(now + LEASE), now)));
    let later = Outcome::Snooze(7);
    assert_eq!(settled(&*store, &run, &later, &routing.consumers[0]), Settled::Kept);
    assert_eq!(wait(store.next_due(1)), Ok((Some(now + 7), now)));
    assert_eq!(wait(store.next_due(2)), Ok((None, now)));
}
