//! F19: back-off, restarts and dead letters must not let later events of a lane pass, nor hold other lanes up.

use std::time::Duration;

use hookonce::engine::Engine;
use hookonce_core::command::{Command, Who};
use hookonce_core::consumer::{Consumer, OnDead, Policy};
use hookonce_core::delivery::Outcome;
use hookonce_core::time::{HOUR, SECOND};

use crate::bed::{Scripted, Step, admit, consumer, drained, engine, history, model, pass, post, states, until};

fn patient(attempts: Option<i64>, on_dead: OnDead) -> Consumer {
    let retry = Policy { first: 2 * SECOND, max: HOUR, attempts, ..Policy::default() };
    Consumer { retry, on_dead, ..consumer("app") }
}

const LANE_X: [&str; 20] = [
    "X1", "X2", "X3", "X4", "X5", "X6", "X7", "X8", "X9", "X10", "X11", "X12", "X13", "X14", "X15", "X16", "X17",
    "X18", "X19", "X20",
];

#[tokio::test(start_paused = true)]
async fn f19_back_off_and_a_restart_keep_the_order_and_hold_no_other_lane_up() {
    let store = model();
    let receiver = Scripted::new(|a| match a {
        a if a.key == "K1" && a.nth <= 2 => Step::fails(),
        a if a.key == "K1" => Step::Says(Outcome::Done),
        _ => Step::After(Duration::from_millis(20), Outcome::Done),
    });
    let start = || engine(store.clone(), vec![post(patient(None, OnDead::Hold), receiver.clone())]);
    admit(&*store, &["K1", "K2", "K3"]).await;
    admit(&*store, &LANE_X).await;

    let first: Engine = start().await;
    until(&store, |rows| rows.work.values().any(|w| w.attempts == 1) && states(rows)["X20"] == "succeeded").await;
    // Killed between the first failure and the first retry.
    drop(first);
    let _second = start().await;
    let rows = drained(&store).await;

    let lane = |letter: char| receiver.keys().into_iter().filter(|k| k.starts_with(letter)).collect::<Vec<_>>();
    assert_eq!(lane('K'), ["K1", "K1", "K1", "K2", "K3"]);
    assert_eq!(lane('X'), LANE_X);
    let second_try = receiver.of("K1")[1].at;
    let last_x = receiver.of("X20").last().unwrap().at;
    assert!(last_x < second_try, "a slot was held by waiting");
    let waits: Vec<Duration> = receiver.of("K1").windows(2).map(|w| w[1].at - w[0].at).collect();
    assert!(waits[0] >= Duration::from_secs(1) && waits[0] < Duration::from_secs(3), "{waits:?}");
    assert!(waits[1] >= Duration::from_secs(2) && waits[1] < Duration::from_secs(5), "{waits:?}");
    assert!(states(&rows).values().all(|state| state == "succeeded"), "{:?}", states(&rows));
    assert_eq!(history(&rows, "K1"), ["failed", "failed", "done"]);
}

#[tokio::test(start_paused = true)]
async fn f19_a_dead_letter_that_continues_lets_the_lane_go_on() {
    let store = model();
    let receiver = Scripted::new(|a| if a.key == "K1" { Step::fails() } else { Step::Says(Outcome::Done) });
    let _engine = engine(store.clone(), vec![post(patient(Some(3), OnDead::Continue), receiver.clone())]).await;
    admit(&*store, &["K1", "K2", "K3"]).await;
    let rows = drained(&store).await;
    assert_eq!(receiver.keys(), ["K1", "K1", "K1", "K2", "K3"]);
    let halted = rows.halted.values().next().unwrap();
    assert_eq!((&*halted.kind, &*halted.reason, halted.attempts), ("dead", "no", 3));
    assert!(!rows.delivery[&halted.seq].open);
}

#[tokio::test(start_paused = true)]
async fn f19_a_dead_letter_that_holds_stops_its_lane_until_a_command() {
    let store = model();
    let receiver = Scripted::new(|a| match a {
        a if a.key == "K1" && a.nth <= 3 => Step::fails(),
        _ => Step::Says(Outcome::Done),
    });
    let engine = engine(store.clone(), vec![post(patient(Some(3), OnDead::Hold), receiver.clone())]).await;
    admit(&*store, &["K1", "K2", "K3", "X1"]).await;
    let rows = until(&store, |rows| !rows.halted.is_empty()).await;
    let dead = rows.halted.values().next().unwrap().id;
    pass(Duration::from_secs(3_600)).await;
    assert_eq!(receiver.keys(), ["K1", "X1", "K1", "K1"]);

    let who = Who { actor: "test".into(), reason: "mended".into() };
    engine.command(Command::DeadRetry { delivery: dead }, who).await.unwrap().unwrap();
    let rows = drained(&store).await;
    assert_eq!(receiver.keys()[4..], ["K1", "K2", "K3"]);
    assert!(states(&rows).values().all(|state| state == "succeeded"), "{:?}", states(&rows));
}
