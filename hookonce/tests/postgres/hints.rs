//! What one node commits wakes another one, long before it would have looked; and without a word all goes on.

use std::sync::Arc;
use std::time::Duration;

use hookonce::chance::Seeded;
use hookonce::engine::{Engine, LEASE, Loops, Post};
use hookonce::postgres::bed::Database;
use hookonce::postgres::{Options, PostgresStore};
use hookonce::store::{Hint, Store};
use hookonce_core::claim::Ask;
use hookonce_core::consumer::Order;
use hookonce_core::delivery::Outcome;
use hookonce_core::destination::{Destination, Sending};
use hookonce_core::message::Message;
use hookonce_core::time::SECOND;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use crate::sent::{consumer, sent};

/// When to give up.
const HANGS: Duration = Duration::from_secs(60);
/// How often each loop looks by itself.
const POLL: Duration = Duration::from_secs(1);
const ROUNDS: usize = 7;

async fn store(database: &Database, hints: bool) -> Arc<PostgresStore> {
    Arc::new(PostgresStore::open(&database.url(), Options { hints, ..Options::default() }).await.unwrap())
}

async fn hears(store: &PostgresStore, wanted: Hint) {
    let until = async { while store.heard().await.unwrap() != wanted {} };
    timeout(HANGS, until).await.unwrap_or_else(|_| panic!("{wanted:?} was never heard"));
}

#[test]
fn each_thing_that_others_wait_for_is_told() {
    let database = Database::default();
    database.runtime.block_on(async {
        let (one, other) = (store(&database, true).await, store(&database, true).await);
        hears(&one, Hint::All).await;
        hears(&other, Hint::All).await;
        let routing = one.configure(vec![consumer("app", Order::Arrival)]).await.unwrap();
        hears(&other, Hint::All).await;
        one.admit(sent("a-1", "x")).await.unwrap();
        hears(&other, Hint::Arrived).await;
        let id = routing.consumers[0].id;
        while one.route(&routing).await.unwrap().woken != [id] {}
        hears(&other, Hint::Due(id)).await;
        let ask = Ask { consumer: id, tokens: vec![[1; 16]], lease: 60 * SECOND, owner: 1, quiet: false };
        let run = one.claim(ask).await.unwrap().remove(0);
        one.release(vec![run.claimed.lease]).await.unwrap();
        hears(&other, Hint::All).await;
        // Nobody is woken by what he has said himself.
        assert!(timeout(Duration::ZERO, one.heard()).await.is_err());
    });
}

#[derive(Debug)]
struct Counting(watch::Sender<usize>);

impl Destination for Counting {
    fn send(&self, _: Message, _: Duration) -> Sending<'_> {
        self.0.send_modify(|n| *n += 1);
        Box::pin(std::future::ready(Outcome::Done.into()))
    }
}

/// One node that only takes webhooks, another that routes and hands on: how long each event takes from one to the other.
fn ways(hints: bool) -> Vec<Duration> {
    let database = Database::default();
    database.runtime.block_on(async {
        let destination = Arc::new(Counting(watch::Sender::new(0)));
        let post = Post {
            consumer: consumer("app", Order::Arrival),
            destination: destination.clone(),
            concurrency: 4,
            timeout: Duration::from_secs(10),
            lease: LEASE,
        };
        let start = |store, worker| {
            let loops = Loops { worker, janitor: false };
            Engine::start_loops(store, vec![post.clone()], Vec::new(), Arc::new(Seeded::new(1)), loops)
        };
        let taking = store(&database, hints).await;
        let gate = start(taking.clone(), false).await.unwrap();
        let works = start(store(&database, hints).await, true).await.unwrap();
        let mut seen = destination.0.subscribe();
        let mut ways = Vec::new();
        for round in 1..=ROUNDS {
            let began = Instant::now();
            taking.admit(sent(&format!("a-{round}"), "x")).await.unwrap();
            timeout(HANGS, seen.wait_for(|n| *n >= round)).await.expect("it never arrived").unwrap();
            ways.push(began.elapsed());
        }
        gate.shutdown(Duration::ZERO).await;
        works.shutdown(Duration::ZERO).await;
        ways.sort();
        ways
    })
}

/// Seen to fail without the notify: then every way is one poll long.
#[test]
fn a_wake_up_on_another_node_is_far_faster_than_its_poll() {
    let ways = ways(true);
    assert!(ways[ROUNDS / 2] < POLL / 2, "{ways:?}");
}

#[test]
fn without_hints_all_is_found_by_polling() {
    assert_eq!(ways(false).len(), ROUNDS);
}
