//! What receivers ask for: to be left alone, to be left alone for a while. And what they recognise a repeat by.

use std::collections::BTreeSet;
use std::time::Duration;

use hookonce::testkit::model::Rows;
use hookonce_core::command::{Command, Who};
use hookonce_core::consumer::Policy;
use hookonce_core::delivery::Outcome;
use hookonce_core::time::{DAY, SECOND};

use crate::bed::{Scripted, Step, admit, consumer, drained, engine, history, model, pass, post, states, until};

fn deferred(after: i64) -> Outcome {
    Outcome::Deferred { reason: "answered 503".into(), after: Some(after * SECOND) }
}

fn gone() -> Outcome {
    Outcome::Deferred { reason: "answered 410".into(), after: None }
}

/// 410 pauses the consumer; the delivery stays due, nothing is counted, and nothing more is sent until a person says so.
#[tokio::test(start_paused = true)]
async fn a_receiver_that_is_gone_pauses_its_consumer() {
    let store = model();
    let receiver =
        Scripted::new(|a| if a.nth == 1 && a.key == "K1" { Step::Pauses(gone()) } else { Step::Says(Outcome::Done) });
    let alone = hookonce::engine::Post { concurrency: 1, ..post(consumer("app"), receiver.clone()) };
    let first = engine(store.clone(), vec![alone.clone()]).await;
    admit(&*store, &["K1", "K2", "L1"]).await;
    let rows = until(&store, |rows| rows.work.values().any(|w| w.epoch == 1 && w.token.is_none())).await;
    assert!(rows.work.values().all(|w| w.attempts == 0 && w.since.is_none()));
    assert_eq!(rows.work_audit.values().map(|a| &*a.action).collect::<Vec<_>>(), ["consumer.pause"]);
    pass(Duration::from_secs(3_600)).await;
    assert_eq!(receiver.keys(), ["K1"]);

    // The pause outlives the process.
    drop(first);
    let second = engine(store.clone(), vec![alone]).await;
    pass(Duration::from_secs(3_600)).await;
    assert_eq!(receiver.keys(), ["K1"]);

    let consumer = second.routing().consumers[0].id;
    let who = Who { actor: "test".into(), reason: "moved".into() };
    second.command(Command::ConsumerResume { consumer }, who).await.unwrap().unwrap();
    let rows = drained(&store).await;
    assert_eq!(history(&rows, "K1"), ["deferred", "done"]);
    assert_eq!(rows.delivery.values().find(|d| d.attempts != 1), None);
    assert_eq!(receiver.keys().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_pause_by_another_process_is_seen() {
    let store = model();
    let receiver = Scripted::new(|_| Step::Says(Outcome::Done));
    let engine = engine(store.clone(), vec![post(consumer("app"), receiver.clone())]).await;
    let consumer = engine.routing().consumers[0].id;
    let who = || Who { actor: "test".into(), reason: "r".into() };
    let store_only: &dyn hookonce::store::Store = &*store;
    store_only.command(Command::ConsumerPause { consumer }, who()).await.unwrap().unwrap();
    admit(&*store, &["K1"]).await;
    pass(Duration::from_secs(60)).await;
    assert!(receiver.keys().is_empty());
    store_only.command(Command::ConsumerResume { consumer }, who()).await.unwrap().unwrap();
    drained(&store).await;
    assert_eq!(receiver.keys(), ["K1"]);
}

/// `Retry-After`: kept to, spread, and no attempt of the patience.
#[tokio::test(start_paused = true)]
async fn a_deferral_is_kept_to_and_not_counted() {
    let store = model();
    let receiver = Scripted::new(|a| if a.nth <= 5 { Step::Says(deferred(60)) } else { Step::Says(Outcome::Done) });
    let retry = Policy { attempts: Some(1), give_up_after: DAY, ..Policy::default() };
    let impatient = hookonce_core::consumer::Consumer { retry, ..consumer("app") };
    let _engine = engine(store.clone(), vec![post(impatient, receiver.clone())]).await;
    admit(&*store, &["K1", "L1"]).await;
    let rows = drained(&store).await;
    for key in ["K1", "L1"] {
        assert_eq!(history(&rows, key), ["deferred", "deferred", "deferred", "deferred", "deferred", "done"]);
        assert_eq!(states(&rows)[key], "succeeded");
        for pair in receiver.of(key).windows(2) {
            let waited = pair[1].at - pair[0].at;
            assert!((Duration::from_secs(60)..Duration::from_secs(68)).contains(&waited), "{waited:?}");
        }
    }
    let distinct: BTreeSet<_> = receiver.arrivals().iter().skip(2).map(|a| a.at).collect();
    assert!(distinct.len() >= 8, "they came back together");
}

/// A receiver that always asks for later uses up time instead of attempts.
#[tokio::test(start_paused = true)]
async fn a_receiver_that_puts_off_for_ever_is_given_up() {
    let store = model();
    let receiver = Scripted::new(|_| Step::Says(deferred(60)));
    let retry = Policy { give_up_after: 3_600 * SECOND, ..Policy::default() };
    let consumer = hookonce_core::consumer::Consumer { retry, ..consumer("app") };
    let _engine = engine(store.clone(), vec![post(consumer, receiver.clone())]).await;
    admit(&*store, &["K1"]).await;
    let rows = drained(&store).await;
    assert_eq!(states(&rows)["K1"], "dead");
    let (tries, rows) = (receiver.of("K1"), history(&rows, "K1"));
    assert_eq!(rows, vec!["deferred"; tries.len()]);
    let lasted = tries.last().unwrap().at - tries[0].at;
    assert!((Duration::from_secs(3_600)..Duration::from_secs(3_670)).contains(&lasted), "{lasted:?}");
}

/// X21 in small: a thousand deliveries, the destination down for ten minutes.
#[tokio::test(start_paused = true)]
async fn x21_retries_of_a_crowd_are_spread_and_bounded() {
    const CROWD: usize = 1_000;
    let store = model();
    let begin = tokio::time::Instant::now();
    let receiver = Scripted::new(move |_| match begin.elapsed() {
        down if down < Duration::from_secs(600) => Step::fails(),
        _ => Step::Says(Outcome::Done),
    });
    let mut wide = post(consumer("app"), receiver.clone());
    wide.concurrency = 64;
    let _engine = engine(store.clone(), vec![wide]).await;
    for _ in 0..CROWD {
        let key = format!("-{}", store.rows().event.len());
        let submission = crate::bed::submission(&key, None);
        hookonce::store::Store::admit(&*store, submission).await.unwrap();
    }
    let rows = until(&store, |rows| rows.work.len() == CROWD && rows.work.values().all(|w| w.attempts == 1)).await;
    let due: BTreeSet<i64> = rows.work.values().map(|w| w.due).collect();
    let span = due.last().unwrap() - due.first().unwrap();
    assert!(due.len() > CROWD * 9 / 10, "{} different times", due.len());
    assert!(span > 2 * SECOND, "all within {span} µs");

    let rows = drained(&store).await;
    assert!(states(&rows).values().all(|state| state == "succeeded"));
    // Rungs of 5 s doubled with half of it as jitter: at most 8 tries fit into ten minutes, then one that succeeds.
    let most = rows.delivery.values().map(|d| d.attempts).max().unwrap();
    assert!(most <= 9, "{most} attempts of one delivery");
    assert!(receiver.most() <= 64);
    assert_eq!(receiver.arrivals().len(), tries(&rows));
}

fn tries(rows: &Rows) -> usize {
    rows.delivery.values().map(|d| usize::try_from(d.attempts).unwrap()).sum()
}

/// A receiver recognises every repeat: over retries, a restart, and a store that was lost and began from nothing.
#[tokio::test(start_paused = true)]
async fn message_ids_survive_retries_restarts_and_the_loss_of_the_store() {
    let receiver = Scripted::new(|a| if a.nth == 1 { Step::fails() } else { Step::Says(Outcome::Done) });
    let start = |store: &std::sync::Arc<hookonce::testkit::model::ModelStore>| {
        engine(store.clone(), vec![post(consumer("app"), receiver.clone())])
    };
    let store = model();
    // So that numbers of rows differ between the two stores.
    admit(&*store, &["Z1", "Y1"]).await;
    admit(&*store, &["K1"]).await;
    let first = start(&store).await;
    receiver.key_arrived("K1", 1).await;
    drop(first);
    let second = start(&store).await;
    drained(&store).await;
    drop(second);

    let wiped = model();
    admit(&*wiped, &["K1"]).await;
    let _third = start(&wiped).await;
    drained(&wiped).await;

    let copies = receiver.of("K1");
    assert!(copies.len() >= 3);
    let ids: BTreeSet<_> = copies.iter().map(|a| (&*a.id, &a.body)).collect();
    assert_eq!(ids.len(), 1, "{ids:?}");
    let all: BTreeSet<_> = receiver.arrivals().into_iter().map(|a| a.id).collect();
    assert_eq!(all.len(), 3, "one for each event");
}
