//! The loops of one process, started and stopped together. Start at [`Engine::start`].

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use hookonce_core::command::{Command, Refused, Who};
use hookonce_core::consumer::Consumer;
use hookonce_core::destination::Destination;
use hookonce_core::retain::Retention;
use hookonce_core::route::Routing;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use crate::chance::Chance;
use crate::node::Node;
use crate::store::{Store, StoreError};
use crate::view::{ConsumerRow, Page, Query};
use crate::wake::Hub;
use crate::worker::Worker;
use crate::{alarm, cleaner, janitor, pulse, router};

pub const LEASE: Duration = Duration::from_secs(30);
/// A loop that panicked starts again after this.
const RESTART: Duration = Duration::from_secs(1);
/// What a loop may take to give its leases back, once the drain is over.
const RELEASE: Duration = Duration::from_secs(5);
/// Runs of one consumer at once, whatever is configured.
pub const CONCURRENCY_MAX: usize = 1_024;

/// A sending consumer at its place: what it takes, and where it goes.
#[derive(Clone, Debug)]
pub struct Post {
    pub consumer: Consumer,
    pub destination: Arc<dyn Destination>,
    /// Runs at once on this node.
    pub concurrency: usize,
    /// Of one run.
    pub timeout: Duration,
    pub lease: Duration,
}

/// Which loops a process runs; the router runs with the workers. What admits and decides goes without any of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loops {
    pub worker: bool,
    pub janitor: bool,
}

impl Loops {
    pub const ALL: Loops = Loops { worker: true, janitor: true };
}

/// Router, janitor and a worker for each consumer.
pub struct Engine {
    node: Arc<Node>,
    stop: CancellationToken,
    abandon: CancellationToken,
    loops: JoinSet<()>,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine")
            .field("config", &self.node.routing().config)
            .field("loops", &self.loops.len())
            .finish_non_exhaustive()
    }
}

impl Engine {
    /// Puts the consumers in force and starts the loops. A consumer keeps the id that the store knows its name by.
    pub async fn start(store: Arc<dyn Store>, posts: Vec<Post>, chance: Arc<dyn Chance>) -> Result<Engine, StoreError> {
        Engine::start_loops(store, posts, Vec::new(), chance, Loops::ALL).await
    }

    /// As `start`, on a node that shares the work with others. `pulled`: consumers whose work is claimed from outside.
    pub async fn start_loops(
        store: Arc<dyn Store>,
        posts: Vec<Post>,
        pulled: Vec<Consumer>,
        chance: Arc<dyn Chance>,
        loops: Loops,
    ) -> Result<Engine, StoreError> {
        let all = posts.iter().map(|post| post.consumer.clone()).chain(pulled).collect();
        let routing = store.configure(all).await?;
        if let Page::Consumers(rows) = store.read(Query::Consumers).await? {
            left(&rows, &routing).iter().for_each(|text| alarm::raise("consumer_left", text));
        }
        let posts = placed(posts, &routing);
        let hub = Hub::new(posts.iter().map(|post| post.consumer.id));
        let node = Arc::new(Node::new(store, hub, chance, routing));
        janitor::pauses(&node).await?;
        let mut engine =
            Engine { node, stop: CancellationToken::new(), abandon: CancellationToken::new(), loops: JoinSet::new() };
        engine.begin(posts, loops);
        Ok(engine)
    }

    fn begin(&mut self, posts: Vec<Post>, loops: Loops) {
        let (node, stop) = (self.node.clone(), self.stop.clone());
        self.keep("pulse", move || pulse::run(node.clone(), stop.clone()));
        let (node, stop) = (self.node.clone(), self.stop.clone());
        self.keep("ear", move || pulse::listen(node.clone(), stop.clone()));
        if loops.janitor {
            let (node, stop) = (self.node.clone(), self.stop.clone());
            self.keep("janitor", move || janitor::run(node.clone(), stop.clone()));
            let (node, stop) = (self.node.clone(), self.stop.clone());
            self.keep("cleaner", move || cleaner::run(node.clone(), stop.clone()));
        }
        if !loops.worker {
            return;
        }
        let (node, stop) = (self.node.clone(), self.stop.clone());
        self.keep("router", move || router::run(node.clone(), stop.clone()));
        for post in posts.into_iter().map(Arc::new) {
            let (node, stop, abandon) = (self.node.clone(), self.stop.clone(), self.abandon.clone());
            self.keep("worker", move || Worker::new(node.clone(), post.clone(), stop.clone(), abandon.clone()).run());
        }
    }

    /// A loop that panics is a bug of ours; what it held is found again by its leases.
    fn keep<F: Future<Output = ()> + Send + 'static>(
        &mut self,
        name: &'static str,
        make: impl Fn() -> F + Send + 'static,
    ) {
        let stop = self.stop.clone();
        self.loops.spawn(async move {
            while AssertUnwindSafe(make()).catch_unwind().await.is_err() {
                alarm::raise("loop_panicked", &format!("the {name}'s loop panicked and starts again"));
                tokio::select! {
                    () = stop.cancelled() => return,
                    () = sleep_until(Instant::now() + RESTART) => {}
                }
            }
        });
    }

    pub fn store(&self) -> &Arc<dyn Store> {
        &self.node.store
    }

    /// What routes, with the ids of the consumers.
    pub fn routing(&self) -> Arc<Routing> {
        self.node.routing()
    }

    pub fn hub(&self) -> &Hub {
        &self.node.hub
    }

    /// What ingest admits through.
    #[cfg(feature = "axum")]
    pub fn inbox(&self) -> crate::inbox::Inbox {
        crate::inbox::Inbox::new(Arc::clone(&self.node))
    }

    /// A person's decision, and the hints that let it take effect at once.
    pub async fn command(&self, command: Command, who: Who) -> Result<Result<i64, Refused>, StoreError> {
        self.handle().command(command, who).await
    }

    /// For whoever decides from outside. It outlives the loops.
    pub fn handle(&self) -> Handle {
        Handle(Arc::clone(&self.node))
    }

    /// Ends when the store has failed for good, with the reason: then this process must not answer 2xx any more.
    pub async fn failed(&self) -> String {
        let mut failure = self.node.failure();
        match failure.wait_for(Option::is_some).await {
            Ok(why) => why.clone().unwrap_or_default(),
            // The sender lives as long as the node that this engine holds.
            Err(_) => String::new(),
        }
    }

    /// Claims nothing more, lets runs end for that long, gives the other leases back. The store stays open.
    pub async fn shutdown(mut self, grace: Duration) {
        self.stop.cancel();
        if timeout(grace, ended(&mut self.loops)).await.is_err() {
            self.abandon.cancel();
            if timeout(RELEASE, ended(&mut self.loops)).await.is_err() {
                tracing::warn!("leases could not be given back: they end by themselves");
            }
        }
    }
}

/// Decisions on a running engine. Clones are the same engine.
#[derive(Clone)]
pub struct Handle(Arc<Node>);

impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Handle")
    }
}

impl Handle {
    pub fn hub(&self) -> &Hub {
        &self.0.hub
    }

    /// From now on what is done with and older than this goes. Until it is said nothing is deleted.
    pub fn retain(&self, retention: Retention) {
        self.0.retain(retention);
    }

    /// A person's decision, and the hints that let it take effect at once.
    pub async fn command(&self, command: Command, who: Who) -> Result<Result<i64, Refused>, StoreError> {
        let pause = match command {
            Command::ConsumerPause { consumer } => Some((consumer, true)),
            Command::ConsumerResume { consumer } => Some((consumer, false)),
            _ => None,
        };
        let answer = self.0.store.command(command, who).await?;
        if let (Ok(_), Some((consumer, paused))) = (&answer, pause) {
            self.0.hub.pause(consumer, paused);
        }
        self.0.hub.all();
        Ok(answer)
    }
}

/// What was configured once and is not any more goes on owing what it owes, and nobody hands it on.
fn left(rows: &[ConsumerRow], routing: &Routing) -> Vec<String> {
    let gone = rows.iter().filter(|row| routing.consumers.iter().all(|consumer| *consumer.name != *row.name));
    let owing = gone.map(|row| (&row.name, row.ready + row.processing + row.retrying + row.parked + row.dead));
    let texts = owing.filter(|(_, owed)| *owed > 0).map(|(name, owed)| {
        format!("consumer `{name}` left the configuration and is paused: what it has not done, at least {owed} deliveries, is handed to nobody until it is back")
    });
    texts.collect()
}

async fn ended(loops: &mut JoinSet<()>) {
    while loops.join_next().await.is_some() {}
}

fn placed(posts: Vec<Post>, routing: &Routing) -> Vec<Post> {
    let placed = posts.into_iter().filter_map(|mut post| {
        let named = routing.consumers.iter().find(|c| c.name == post.consumer.name)?;
        post.consumer = named.clone();
        post.concurrency = post.concurrency.clamp(1, CONCURRENCY_MAX);
        Some(post)
    });
    placed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, ready: i64, dead: i64) -> ConsumerRow {
        let state = "live".to_owned();
        let name = name.to_owned();
        ConsumerRow { id: 1, name, state, pos: 0, ready, processing: 0, retrying: 0, dead, parked: 0, oldest: None }
    }

    #[test]
    fn a_consumer_that_left_is_named_while_it_owes_something() {
        let routing = Routing { config: 1, consumers: Vec::new() };
        let said = left(&[row("app", 2, 1), row("old", 0, 0)], &routing);
        assert!(said.len() == 1 && said[0].contains("`app`") && said[0].contains("at least 3"), "{said:?}");
    }
}
