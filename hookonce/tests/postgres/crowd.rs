//! X13 and X15: a pool that is too small for those who ask, and claimers that all come at once.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use hookonce::postgres::bed::{Database, client};
use hookonce::postgres::{Options, PostgresStore};
use hookonce::store::{Run, Store as _, StoreError};
use hookonce_core::claim::Ask;
use hookonce_core::consumer::Order;
use hookonce_core::delivery::Outcome;
use hookonce_core::route::Routing;
use hookonce_core::settle::{Settled, plan};
use hookonce_core::time::SECOND;
use tokio::sync::Barrier;

use crate::bed::WAITING;
use crate::sent::{consumer, sent};

const NODES: usize = 3;
/// Nobody's lease ends by itself here.
const LEASE: i64 = 600 * SECOND;

async fn nodes(database: &Database, options: &Options) -> Vec<Arc<PostgresStore>> {
    let url = database.url();
    let opened = (0..NODES).map(|_| PostgresStore::open(&url, options.clone()));
    join_all(opened).await.into_iter().map(|store| Arc::new(store.unwrap())).collect()
}

async fn routed(store: &PostgresStore, lanes: usize, each: usize) -> Routing {
    let routing = store.configure(vec![consumer("app", Order::Arrival)]).await.unwrap();
    let sends = (0..lanes * each).map(|n| store.admit(sent(&format!("{}-{n}", n % lanes), "x")));
    join_all(sends).await.into_iter().for_each(|admission| drop(admission.unwrap()));
    while store.route(&routing).await.unwrap().events > 0 {}
    routing
}

fn ask(consumer: i64, who: usize, round: usize, count: usize) -> Ask {
    let token = |n: usize| std::array::from_fn(|at| [who as u8, round as u8, n as u8, 1][at % 4]);
    Ask { consumer, tokens: (0..count).map(token).collect(), lease: LEASE, owner: who as i64, quiet: false }
}

/// All at one barrier, over and over, until nothing is left; each runs what it has and settles it.
async fn work_off(nodes: &[Arc<PostgresStore>], routing: &Routing, claimers: usize) -> Vec<Run> {
    let app = Arc::new(routing.consumers[0].clone());
    let barrier = Arc::new(Barrier::new(claimers));
    let claimer = |who: usize| {
        let (store, barrier, app) = (nodes[who % NODES].clone(), barrier.clone(), app.clone());
        tokio::spawn(async move {
            barrier.wait().await;
            let (mut done, mut round) = (Vec::new(), 0);
            loop {
                let runs = store.claim(ask(app.id, who, round, 10)).await.unwrap();
                if runs.is_empty() {
                    return done;
                }
                round += 1;
                let endings = runs.iter().map(|run| plan(&run.claimed, &Outcome::Done, &app, 0, 0)).collect();
                let settled = store.settle(endings, None).await.unwrap().0;
                assert!(settled.iter().all(|settled| *settled == Settled::Kept), "two held one lane: {settled:?}");
                done.extend(runs);
            }
        })
    };
    let all: Vec<_> = (0..claimers).map(claimer).collect();
    join_all(all).await.into_iter().flat_map(|done| done.unwrap()).collect()
}

#[test]
fn however_many_claim_at_once_a_lane_has_one_holder() {
    for (claimers, lanes, each) in
        [(2, 1, 40), (10, 1, 40), (100, 1, 40), (2, 1_000, 1), (10, 1_000, 1), (100, 1_000, 1)]
    {
        let database = Database::default();
        database.runtime.block_on(async {
            let nodes = nodes(&database, &Options { work: 4, ..Options::default() }).await;
            let routing = routed(&nodes[0], lanes, each).await;
            let mut done = work_off(&nodes, &routing, claimers).await;
            // Whoever found nothing for a moment has gone: somebody comes again for what became due behind him.
            while done.len() < lanes * each {
                done.extend(work_off(&nodes, &routing, claimers).await);
            }
            let events: BTreeSet<i64> = done.iter().map(|run| run.claimed.event).collect();
            assert_eq!((events.len(), done.len()), (lanes * each, lanes * each), "{claimers} on {lanes} lanes");
            assert!(done.iter().all(|run| run.claimed.lost == 0 && run.claimed.attempts == 0));
        });
    }
}

/// X13: two connections for everything that works, one writer, and many who ask at once: all get their turn.
#[test]
fn a_pool_of_two_serves_everybody() {
    let database = Database::default();
    database.runtime.block_on(async {
        let options = Options { work: 2, readers: 1, writers: 1, ..Options::default() };
        let nodes = nodes(&database, &options).await;
        let routing = routed(&nodes[0], 16, 8).await;
        let mut done = Vec::new();
        while done.len() < 16 * 8 {
            let beats = join_all((0..64).map(|n| nodes[n % NODES].beat(routing.config)));
            let (beats, more) = tokio::join!(beats, work_off(&nodes, &routing, 32));
            beats.into_iter().for_each(|beat| drop(beat.unwrap()));
            done.extend(more);
        }
    });
}

/// And who cannot get one in time is told to come again, not that the store has failed.
#[test]
fn a_pool_that_is_dry_is_busy() {
    let database = Database::default();
    database.runtime.block_on(async {
        let (wait, patience) = (Duration::from_millis(200), Duration::from_secs(600));
        let options =
            Options { work: 2, connect_wait: wait, lock_wait: patience, answer_limit: patience, ..Options::default() };
        let options = Options { statement_limit: patience, ..options };
        let store = PostgresStore::open(&database.url(), options).await.unwrap();
        let stranger = client(database.name()).await;
        stranger.batch_execute("begin; lock table hookonce.node").await.unwrap();
        let store = Arc::new(store);
        let beat = || {
            let store = store.clone();
            tokio::spawn(async move { store.beat(0).await })
        };
        let beats = [beat(), beat()];
        while stranger.query_one(WAITING, &[]).await.unwrap().get::<_, i64>(0) < 2 {}
        assert!(matches!(store.next_due(1).await, Err(StoreError::Busy(_))));
        stranger.batch_execute("rollback").await.unwrap();
        join_all(beats).await.into_iter().for_each(|beat| drop(beat.unwrap().unwrap()));
        assert!(store.next_due(1).await.is_ok());
    });
}
