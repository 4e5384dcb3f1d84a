//! Nodes with other configurations beside each other: which is in force, who waits for it, and who takes over.

use std::sync::Arc;
use std::time::Duration;

use hookonce::chance::Seeded;
use hookonce::engine::{Engine, LEASE, Post};
use hookonce::postgres::bed::{Database, client};
use hookonce::postgres::{Options, PostgresStore};
use hookonce::store::Store as _;
use hookonce_core::consumer::{Consumer, Order};
use hookonce_core::destination::{Destination, Sending};
use hookonce_core::message::Message;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use crate::sent::{consumer, sent};

async fn node(database: &Database) -> PostgresStore {
    PostgresStore::open(&database.url(), Options::default()).await.unwrap()
}

fn old() -> Vec<Consumer> {
    vec![consumer("app", Order::Arrival)]
}

fn new() -> Vec<Consumer> {
    vec![consumer("app", Order::Arrival), consumer("bill", Order::None)]
}

/// A node that comes back with what was in force before must not undo what another one runs by now.
#[test]
fn an_earlier_configuration_is_in_force_again_only_when_nobody_runs_the_current_one() {
    let database = Database::default();
    database.runtime.block_on(async {
        let first = node(&database).await;
        let before = first.configure(old()).await.unwrap();
        let second = node(&database).await;
        let current = second.configure(new()).await.unwrap();
        assert_eq!((before.config, current.config), (1, 2), "what nobody has seen before is in force at once");
        assert!(first.route(&before).await.unwrap().config_behind);
        first.close().await.unwrap();
        let again = node(&database).await;
        let waits = again.configure(old()).await.unwrap();
        assert_eq!((waits.config, waits.consumers[0].id), (1, before.consumers[0].id));
        again.admit(sent("a-1", "x")).await.unwrap();
        assert!(again.route(&waits).await.unwrap().config_behind);
        let pulse = again.beat(waits.config).await.unwrap();
        assert_eq!((pulse.config, pulse.deserted), (2, false));
        assert_eq!(second.route(&current).await.unwrap().deliveries, 2, "only the current one routes");
        // Now nobody runs it any more: the next heartbeat may say so, and the next question takes over.
        second.close().await.unwrap();
        assert!(again.beat(waits.config).await.unwrap().deserted);
        let over = again.configure(old()).await.unwrap();
        assert_eq!(over.config, 3);
        again.admit(sent("a-2", "x")).await.unwrap();
        assert_eq!(again.route(&over).await.unwrap().deliveries, 1);
    });
}

/// Never ends, and says that it has begun.
#[derive(Debug)]
struct Hanging(watch::Sender<usize>);

impl Destination for Hanging {
    fn send(&self, _: Message, _: Duration) -> Sending<'_> {
        self.0.send_modify(|n| *n += 1);
        Box::pin(std::future::pending())
    }
}

/// Without the release the successor would wait for the end of the lease.
#[test]
fn what_a_draining_node_held_is_taken_up_at_once() {
    let database = Database::default();
    database.runtime.block_on(async {
        let destination = Arc::new(Hanging(watch::Sender::new(0)));
        let mut begun = destination.0.subscribe();
        let engine = || async {
            let post = Post {
                consumer: consumer("app", Order::Arrival),
                destination: destination.clone(),
                concurrency: 4,
                timeout: LEASE * 4,
                lease: LEASE,
            };
            Engine::start(Arc::new(node(&database).await), vec![post], Arc::new(Seeded::new(1))).await.unwrap()
        };
        let first = engine().await;
        first.store().admit(sent("a-1", "x")).await.unwrap();
        timeout(LEASE * 2, begun.wait_for(|n| *n == 1)).await.unwrap().unwrap();
        let second = engine().await;
        let drained = Instant::now();
        first.shutdown(Duration::ZERO).await;
        timeout(LEASE * 2, begun.wait_for(|n| *n == 2)).await.unwrap().unwrap();
        assert!(drained.elapsed() < LEASE / 2, "{:?}", drained.elapsed());
        second.shutdown(Duration::ZERO).await;
    });
}

/// A node whose process is gone without a word is no longer asked after three beats.
#[test]
fn a_beat_names_every_version_that_runs() {
    let database = Database::default();
    database.runtime.block_on(async {
        let (one, other) = (node(&database).await, node(&database).await);
        assert_eq!(one.beat(1).await.unwrap().versions.len(), 2);
        let stranger = client(database.name()).await;
        let later =
            format!("update hookonce.node set version = 'later' where instance = {}", other.identity().instance);
        stranger.batch_execute(&later).await.unwrap();
        let versions = one.beat(1).await.unwrap().versions;
        assert!(versions.contains(&"later".to_owned()) && versions.contains(&env!("CARGO_PKG_VERSION").to_owned()));
        stranger
            .batch_execute("update hookonce.node set seen = seen - 16000000 where version = 'later'")
            .await
            .unwrap();
        assert_eq!(one.beat(1).await.unwrap().versions.len(), 1);
    });
}
