//! Leases: kept while a run lasts, given up before they end, given back at a drain, and never believed twice.

use std::sync::Arc;
use std::time::Duration;

use hookonce::engine::{LEASE, Post};
use hookonce_core::delivery::Outcome;
use tokio::sync::Notify;

use crate::bed::{Scripted, Step, admit, consumer, drained, engine, history, model, pass, post, states, until};
use crate::faulty::{Fault, Faulty, busy, failed, refused};

fn long(receiver: Arc<Scripted>) -> Post {
    Post { timeout: LEASE * 10, ..post(consumer("app"), receiver) }
}

#[tokio::test(start_paused = true)]
async fn a_run_longer_than_its_lease_keeps_it() {
    let store = model();
    let receiver = Scripted::new(|_| Step::After(LEASE * 5, Outcome::Done));
    let _first = engine(store.clone(), vec![long(receiver.clone())]).await;
    let _second = engine(store.clone(), vec![long(receiver.clone())]).await;
    admit(&*store, &["K1"]).await;
    let rows = drained(&store).await;
    assert_eq!(receiver.keys(), ["K1"]);
    assert_eq!(history(&rows, "K1"), ["done"]);
}

/// X26: a node that is cut off from its store sends nothing once its leases are over, and the other one takes over.
#[tokio::test(start_paused = true)]
async fn x26_a_node_without_its_store_gives_up_before_the_lease_ends() {
    let store = model();
    let cut = Faulty::new(store.clone(), |verb, _| (verb == "renew").then_some(Fault::Before(busy)));
    let receiver = Scripted::new(|a| if a.nth == 1 { Step::Hangs } else { Step::Says(Outcome::Done) });
    let _cut_off = engine(cut, vec![long(receiver.clone())]).await;
    admit(&*store, &["K1"]).await;
    receiver.arrived(1).await;
    let begun = receiver.arrivals()[0].at;
    until(&store, |_| receiver.now() == 0).await;
    let ended = begun.elapsed();
    assert!(ended < LEASE && ended > LEASE / 2, "{ended:?}");
    let _other = engine(store.clone(), vec![long(receiver.clone())]).await;
    let rows = drained(&store).await;
    assert_eq!(history(&rows, "K1"), ["lost", "done"]);
}

/// X16: the settle of a zombie comes after its lease was over and another one has had the work.
#[tokio::test(start_paused = true)]
async fn x16_a_late_settle_is_fenced() {
    let store = model();
    let bell = Arc::new(Notify::new());
    let late = bell.clone();
    let slow =
        Faulty::new(store.clone(), move |verb, nth| (verb == "settle" && nth == 1).then(|| Fault::Late(late.clone())));
    let says = [Outcome::Discard("the zombie".into()), Outcome::Done];
    let receiver = Scripted::new(move |a| Step::Says(says[a.nth - 1].clone()));
    let zombie = engine(slow.clone(), vec![post(consumer("app"), receiver.clone())]).await;
    admit(&*store, &["K1"]).await;
    receiver.arrived(1).await;
    let _other = engine(store.clone(), vec![post(consumer("app"), receiver.clone())]).await;
    let before = drained(&store).await;
    assert_eq!(history(&before, "K1"), ["lost", "done"]);

    bell.notify_one();
    // The zombie goes on with its life: it asks again, which it does only after its settle was answered.
    admit(&*store, &["L1"]).await;
    let after = drained(&store).await;
    assert!(slow.calls("settle") >= 1);
    assert_eq!(states(&after)["K1"], "succeeded");
    assert_eq!(history(&after, "K1"), ["lost", "done"], "the zombie wrote something");
    zombie.shutdown(Duration::from_secs(1)).await;
    assert_eq!(states(&store.rows())["K1"], "succeeded");
}

/// An error may hide a commit: the settle is repeated, and the receiver is not asked twice.
#[tokio::test(start_paused = true)]
async fn a_settle_whose_answer_is_lost_is_repeated_and_changes_nothing() {
    for fault in [Fault::After(busy), Fault::Before(busy)] {
        let store = model();
        let once = fault.clone();
        let flaky = Faulty::new(store.clone(), move |verb, nth| (verb == "settle" && nth <= 3).then(|| once.clone()));
        let receiver = Scripted::new(|_| Step::Says(Outcome::Done));
        let _engine = engine(flaky, vec![post(consumer("app"), receiver.clone())]).await;
        admit(&*store, &["K1", "K2", "L1"]).await;
        let rows = drained(&store).await;
        assert_eq!(receiver.arrivals().len(), 3, "{fault:?}");
        for key in ["K1", "K2", "L1"] {
            // What the hidden commit had claimed waits for its lease to end, and nobody had begun it.
            let ran: Vec<String> = history(&rows, key).into_iter().filter(|outcome| outcome != "lost").collect();
            assert_eq!(ran, ["done"], "{key}, {fault:?}");
        }
    }
}

/// One ending that the store will not have takes no other with it; its delivery runs again after the lease.
#[tokio::test(start_paused = true)]
async fn a_refused_ending_is_found_and_left_out() {
    let store = model();
    let bell = Arc::new(Notify::new());
    let late = bell.clone();
    // The first settle is slow, so that the three others come together; the group is refused, then the second single.
    let picky = Faulty::new(store.clone(), move |verb, nth| match (verb, nth) {
        ("settle", 1) => Some(Fault::Late(late.clone())),
        ("settle", 2 | 4) => Some(Fault::Before(refused)),
        _ => None,
    });
    let receiver = Scripted::new(|_| Step::Says(Outcome::Done));
    let _engine = engine(picky.clone(), vec![post(consumer("app"), receiver.clone())]).await;
    admit(&*store, &["K1"]).await;
    receiver.arrived(1).await;
    bell.notify_one();
    admit(&*store, &["L1", "M1", "N1"]).await;
    let rows = drained(&store).await;
    assert!(states(&rows).values().all(|state| state == "succeeded"));
    let lost = ["K1", "L1", "M1", "N1"].iter().filter(|key| history(&rows, key) == ["lost", "done"]).count();
    assert!(lost >= 1, "nothing was refused: this run proves nothing");
}

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_ends_the_engine() {
    let store = model();
    let broken = Faulty::new(store.clone(), |verb, _| (verb == "settle").then_some(Fault::Before(failed)));
    let receiver = Scripted::new(|_| Step::Says(Outcome::Done));
    let engine = engine(broken, vec![post(consumer("app"), receiver.clone())]).await;
    admit(&*store, &["K1"]).await;
    assert_eq!(engine.failed().await, "a test says so");
}

/// Drain: what ends in time is settled, what does not is given back, and nobody claims meanwhile.
#[tokio::test(start_paused = true)]
async fn a_drain_lets_runs_end_and_gives_the_rest_back() {
    let store = model();
    let receiver = Scripted::new(|a| match &*a.key {
        "K1" => Step::After(Duration::from_secs(5), Outcome::Done),
        "L1" => Step::Hangs,
        _ => Step::Says(Outcome::Done),
    });
    let engine = engine(store.clone(), vec![long(receiver.clone())]).await;
    admit(&*store, &["K1", "K2", "L1"]).await;
    receiver.arrived(2).await;
    engine.shutdown(Duration::from_secs(8)).await;
    let rows = store.rows();
    assert_eq!(receiver.keys(), ["K1", "L1"]);
    assert_eq!(states(&rows)["K1"], "succeeded");
    assert_eq!(rows.work.len(), 2);
    let now = hookonce::store::Store::now(&*store);
    for work in rows.work.values() {
        assert!(work.token.is_none() && work.due <= now && work.lost == 0 && work.attempts == 0, "{work:?}");
    }
}

/// X20: nobody asks the store in vain all the time.
#[tokio::test(start_paused = true)]
async fn x20_idle_loops_ask_seldom() {
    let counted = Faulty::new(model(), |_, _| None);
    let receiver = Scripted::new(|_| Step::Says(Outcome::Done));
    let engine = engine(counted.clone(), vec![post(consumer("app"), receiver)]).await;
    pass(Duration::from_secs(600)).await;
    let (claims, passes) = (counted.calls("claim"), counted.calls("route"));
    assert!((590..=1_210).contains(&claims), "{claims} claims in 600 s");
    assert!((590..=610).contains(&passes), "{passes} passes in 600 s");
    // A hint costs two claims at the most.
    for _ in 0..100 {
        engine.hub().all();
        pass(Duration::from_millis(1)).await;
    }
    let more = counted.calls("claim") - claims;
    assert!(more <= 202, "{more} claims for 100 hints");
}

/// Work that no hint tells of is found by looking.
#[tokio::test(start_paused = true)]
async fn lost_hints_cost_a_second_at_most() {
    let store = model();
    let receiver = Scripted::new(|_| Step::Says(Outcome::Done));
    let _engine = engine(store.clone(), vec![post(consumer("app"), receiver.clone())]).await;
    pass(Duration::from_secs(10)).await;
    let begin = tokio::time::Instant::now();
    admit(&*store, &["K1"]).await;
    receiver.arrived(1).await;
    assert!(begin.elapsed() <= Duration::from_millis(2_100), "{:?}", begin.elapsed());
}

/// A bug of ours in a loop stops nothing for good: it starts again, and what it held is found by its lease.
#[tokio::test(start_paused = true)]
async fn a_loop_that_panics_starts_again() {
    let store = model();
    let buggy = Faulty::new(store.clone(), |verb, nth| match (verb, nth) {
        ("settle" | "route", 1) => panic!("a test says so"),
        _ => None,
    });
    let receiver = Scripted::new(|_| Step::Says(Outcome::Done));
    let _engine = engine(buggy, vec![post(consumer("app"), receiver.clone())]).await;
    admit(&*store, &["K1", "K2"]).await;
    let rows = drained(&store).await;
    assert_eq!(history(&rows, "K1"), ["lost", "done"]);
    assert_eq!(receiver.keys(), ["K1", "K1", "K2"]);
}
