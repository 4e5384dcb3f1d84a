//! F20: runs that never come back, panics, and who beside them must not pay for it.
//!
//! A process that dies is an engine that is dropped: its tasks stop where they are and nothing is written. The lease
//! then ends by itself, as it does for a store that several nodes share.

use std::sync::Arc;
use std::time::Duration;

use hookonce::engine::{Engine, LEASE};
use hookonce::store::Store as _;
use hookonce::testkit::model::ModelStore;
use hookonce_core::claim::{LOST_DEAD, LOST_QUIET};
use hookonce_core::consumer::{OnDead, Policy};
use hookonce_core::delivery::Outcome;
use hookonce_core::event::KeyKind;
use hookonce_core::message_key::{Subject, message_key};
use hookonce_core::time::SECOND;

use crate::bed::{Scripted, Step, admit, consumer, drained, engine, history, model, pass, post, states};

const POISON: &str = "P1";

/// Whoever starts beside it takes a moment; the poison ends the process at once.
fn deadly() -> Arc<Scripted> {
    Scripted::new(|a| match &*a.key {
        POISON => Step::Hangs,
        _ => Step::After(Duration::from_millis(50), Outcome::Done),
    })
}

async fn started(store: &Arc<ModelStore>, receiver: &Arc<Scripted>) -> Engine {
    let continues = hookonce_core::consumer::Consumer { on_dead: OnDead::Continue, ..consumer("app") };
    let other = Scripted::new(|_| Step::Says(Outcome::Done));
    let mut elsewhere = consumer("other");
    elsewhere.on = vec![hookonce_core::consumer::Pattern::parse("nothing/*").unwrap()];
    engine(store.clone(), vec![post(continues, receiver.clone()), post(elsewhere, other)]).await
}

#[tokio::test(start_paused = true)]
async fn f20a_a_run_that_kills_its_process_dies_in_the_end_and_its_neighbours_do_not() {
    let store = model();
    let receiver = deadly();
    admit(&*store, &[POISON, "P2", "K1", "L1", "M1"]).await;
    let starts = usize::try_from(LOST_DEAD).unwrap();
    for start in 1..=starts {
        let engine = started(&store, &receiver).await;
        receiver.key_arrived(POISON, start).await;
        drop(engine);
        pass(LEASE).await;
    }
    let _engine = started(&store, &receiver).await;
    let rows = drained(&store).await;

    assert_eq!(receiver.of(POISON).len(), starts, "as many starts as losses that are allowed");
    let beside: Vec<usize> = receiver.of(POISON).iter().map(|a| a.beside).collect();
    let quiet = usize::try_from(LOST_QUIET).unwrap();
    assert!(beside[quiet..].iter().all(|n| *n == 0), "a suspect runs with nothing beside it: {beside:?}");
    let dead = rows.halted.values().next().unwrap();
    assert_eq!((&*dead.kind, &*dead.reason, dead.lost), ("dead", "worker lost", LOST_DEAD));
    let mut want = vec!["lost"; starts];
    want.push("dead");
    assert_eq!(history(&rows, POISON), want);
    for neighbour in ["P2", "K1", "L1", "M1"] {
        assert_eq!(states(&rows)[neighbour], "succeeded", "{neighbour}");
        let row = rows.delivery.values().find(|d| rows.event[&d.event].key_text == neighbour).unwrap();
        assert_eq!(row.attempts, 1, "{neighbour} paid for its neighbour");
        let lost = history(&rows, neighbour).iter().filter(|outcome| *outcome == "lost").count();
        assert!(lost <= quiet, "{neighbour} was lost {lost} times: it was claimed and only waited");
    }
}

#[tokio::test(start_paused = true)]
async fn f20b_a_panic_is_one_failed_attempt_with_its_message() {
    let store = model();
    let receiver = Scripted::new(|a| match &*a.key {
        "P1" => Step::Panics("boom"),
        _ => Step::Says(Outcome::Done),
    });
    let retry = Policy { first: SECOND, attempts: Some(3), ..Policy::default() };
    let panics = hookonce_core::consumer::Consumer { retry, on_dead: OnDead::Continue, ..consumer("app") };
    let _engine = engine(store.clone(), vec![post(panics, receiver.clone())]).await;
    admit(&*store, &["P1", "P2", "K1"]).await;
    let rows = drained(&store).await;
    assert_eq!(receiver.keys(), ["P1", "K1", "P1", "P1", "P2"]);
    assert_eq!(history(&rows, "P1"), ["failed", "failed", "failed"]);
    let dead = rows.halted.values().next().unwrap();
    assert_eq!((&*dead.reason, dead.attempts), ("panicked: boom", 3));
}

/// The third attempt is lost with its process; it runs once more, and that outcome decides.
#[tokio::test(start_paused = true)]
async fn f20d_a_loss_in_the_last_attempt_is_no_attempt() {
    for last in [Outcome::Done, Outcome::Retry { reason: "no".into(), after: None }] {
        let store = model();
        let says = last.clone();
        let receiver = Scripted::new(move |a| match a.nth {
            1 | 2 => Step::fails(),
            3 => Step::Hangs,
            _ => Step::Says(says.clone()),
        });
        let retry = Policy { first: SECOND, attempts: Some(3), ..Policy::default() };
        let post =
            || post(hookonce_core::consumer::Consumer { retry: retry.clone(), ..consumer("app") }, receiver.clone());
        admit(&*store, &["K1"]).await;
        let first = engine(store.clone(), vec![post()]).await;
        receiver.arrived(3).await;
        drop(first);
        let _second = engine(store.clone(), vec![post()]).await;
        let rows = drained(&store).await;
        let done = last == Outcome::Done;
        let (end, state) = if done { ("done", "succeeded") } else { ("failed", "dead") };
        assert_eq!(history(&rows, "K1"), ["failed", "failed", "lost", end]);
        assert_eq!(states(&rows)["K1"], state);
        assert_eq!(receiver.arrivals().len(), 4);
    }
}

/// A suspect has its node for itself: it waits for whatever runs, of any consumer, and nobody begins beside it.
#[tokio::test(start_paused = true)]
async fn a_suspect_runs_with_nothing_beside_it_on_its_node() {
    const RUN: Duration = Duration::from_secs(1);
    let store = model();
    let receiver = Scripted::new(|_| Step::After(RUN, Outcome::Done));
    let routing = store.configure(vec![consumer("suspected"), consumer("other")]).await.unwrap();
    admit(&*store, &["K1", "L1", "M1", "N1"]).await;
    while store.route(&routing).await.unwrap().more {}
    store.edit(|rows| {
        let suspected = rows.consumer.values().find(|c| c.name == "suspected").unwrap().id;
        let seqs: Vec<i64> = rows.work.values().filter(|w| w.consumer == suspected).map(|w| w.seq).collect();
        seqs.iter().for_each(|seq| rows.work.get_mut(seq).unwrap().lost = LOST_QUIET);
    });
    let posts = ["suspected", "other"].map(|name| post(consumer(name), receiver.clone()));
    let _engine = engine(store.clone(), posts.to_vec()).await;
    admit(&*store, &["N2", "O1"]).await;
    drained(&store).await;

    let suspects: Vec<String> = ["K1", "L1", "M1", "N1"].map(|key| id(key, "suspected")).to_vec();
    let arrivals = receiver.arrivals();
    let of_suspects: Vec<_> = arrivals.iter().filter(|a| suspects.contains(&a.id)).collect();
    assert_eq!((of_suspects.len(), arrivals.len()), (4, 12));
    for suspect in of_suspects {
        assert_eq!(suspect.beside, 0, "{} began beside others", suspect.key);
        let beside: Vec<_> =
            arrivals.iter().filter(|a| a.id != suspect.id && a.at >= suspect.at && a.at < suspect.at + RUN).collect();
        assert!(beside.is_empty(), "beside {}: {beside:?}", suspect.key);
    }
    assert!(receiver.most() > 1, "the others never ran together: this proves nothing");
}

fn id(key: &str, consumer: &str) -> String {
    let subject = Subject { namespace: "crm", kind: KeyKind::Provider, key: key.as_bytes(), variant: 0 };
    message_key(subject, consumer, "", 0)
}
