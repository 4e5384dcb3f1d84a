//! The store as its users see it: each verb runs in a task of its own.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::{BoxFuture, FutureExt as _, pending};
use hookonce_core::admit::{Admission, Submission};
use hookonce_core::claim::Ask;
#[cfg(feature = "testkit")]
use hookonce_core::claim::Claimed;
use hookonce_core::command::{Command, Refused, Who};
use hookonce_core::consumer::Consumer;
use hookonce_core::lease::Lease;
use hookonce_core::retain::Retention;
use hookonce_core::route::Routing;
use hookonce_core::settle::{Ending, Settled};
use hookonce_core::time::Micros;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::conn::Pool;
use super::error::OpenError;
use super::group::Writers;
use super::listen::{self, Hints};
use super::now::Now;
use super::open::{self, Opened};
use super::queue::Job;
use super::timeline::{Acks, Timeline};
use super::{Options, beat, bodies, claim, command, configure, now, purge, read, refused, route, rule, settle, sweep};
use crate::sql::call::Arg;
use crate::sql::postgres as sql;
use crate::store::{Hint, Identity, Passed, Pulse, Purged, Refusals, Run, Store, StoreError, Swept, Verb};
use crate::view::{Page, Query};

/// What every verb stands on. Clones are the same.
#[derive(Clone, Debug)]
pub struct Base {
    pub identity: Identity,
    /// Admissions.
    pub ingest: Pool,
    /// Routing, work, commands.
    pub work: Pool,
    /// Reads of people.
    pub read: Pool,
    /// How long a read of a person may take.
    pub read_limit: Duration,
    pub now: Arc<Now>,
    /// What this process remembers of its passes, its claims and its sweeps.
    pub router: Arc<tokio::sync::Mutex<route::Memory>>,
    pub marks: Arc<claim::Marks>,
    pub swept: Arc<sweep::Walk>,
    /// For other nodes.
    pub hints: Arc<Hints>,
    pub timeline: Arc<Timeline>,
}

#[derive(Debug)]
pub struct PostgresStore {
    base: Base,
    /// Where its tasks run: whoever asks may be on another runtime, or on none.
    runtime: Handle,
    writers: Arc<Writers>,
    /// Of the writers: they end when the queue is closed and empty.
    running: Mutex<Vec<JoinHandle<()>>>,
    /// What other nodes tell; closed: nobody tells anything any more.
    heard: tokio::sync::Mutex<mpsc::Receiver<Hint>>,
}

impl PostgresStore {
    /// Opens the store in the database at `url`, or makes a new one there. Its tasks run on the runtime that this is
    /// called on.
    pub async fn open(url: &str, options: Options) -> Result<PostgresStore, OpenError> {
        let Opened { ingest, work, read, ear, timeline, identity } = open::open(url, &options).await?;
        let now = Arc::new(Now::new(options.clock.clone()));
        now::look(&work, &now).await?;
        let (router, marks, swept) = (Arc::default(), Arc::default(), Arc::default());
        let read_limit = options.read_limit;
        let hints = Arc::<Hints>::default();
        let base = Base { identity, ingest, work, read, read_limit, now, router, marks, swept, hints, timeline };
        let runtime = Handle::current();
        let writers = Arc::new(Writers::new(base.ingest.clone(), base.hints.clone(), &options));
        let (hears, heard) = mpsc::channel(listen::HEARD);
        if let Some(ear) = ear {
            runtime.spawn(listen::run(ear, base.hints.clone(), hears));
        }
        if options.clock.is_none() {
            runtime.spawn(now::keep(base.work.clone(), Arc::downgrade(&base.now)));
        }
        let running = (0..options.writers.max(1)).map(|_| runtime.spawn(writers.clone().run()));
        let running = Mutex::new(running.collect());
        Ok(PostgresStore { base, runtime, writers, running, heard: heard.into() })
    }

    /// Where what is answered 2xx is.
    pub fn acks(&self) -> Acks {
        self.base.timeline.acks()
    }

    /// As it is now: a fail-over raises the generation.
    fn base(&self) -> Base {
        let mut base = self.base.clone();
        base.identity.generation = base.timeline.generation();
        base
    }

    /// For tests: a connection of the engine's kind whose transactions are somebody else's.
    #[cfg(feature = "testkit")]
    pub async fn lent(&self) -> Result<super::lent::Lent, StoreError> {
        let conn = self.base.work.get().await?.keep();
        Ok(super::lent::Lent::new(conn, self.base.identity.clone()))
    }

    /// For tests: what a run sees of its event, for work that was claimed in another way.
    #[cfg(feature = "testkit")]
    pub async fn runs(&self, claimed: Vec<Claimed>) -> Result<Vec<Run>, StoreError> {
        bodies::runs(&self.base, claimed).await
    }

    /// Runs a verb in a task of its own: who drops the future only loses the answer.
    fn verb<T, Fut>(&self, run: impl FnOnce(Base) -> Fut) -> Verb<'static, T>
    where
        T: Send + 'static,
        Fut: Future<Output = Result<T, StoreError>> + Send + 'static,
    {
        let task = self.runtime.spawn(run(self.base()));
        async move { task.await.unwrap_or_else(|error| Err(ended(error))) }.boxed()
    }
}

impl Drop for PostgresStore {
    fn drop(&mut self) {
        self.writers.queue.close();
    }
}

/// A panic of ours is one verb's; a runtime that is gone is the end of the process.
fn ended(error: tokio::task::JoinError) -> StoreError {
    if error.is_panic() { StoreError::Refused("the store panicked on it".into()) } else { StoreError::Closed }
}

impl Store for PostgresStore {
    fn identity(&self) -> Identity {
        self.base().identity
    }

    fn now(&self) -> Micros {
        self.base.now.now()
    }

    /// The value is in the queue when this returns: whoever drops the future only loses the answer.
    fn admit(&self, submission: Submission) -> Verb<'_, Admission> {
        let (answer, answered) = oneshot::channel();
        let taken = self.writers.queue.push(Job { submission, asked: Instant::now(), answer });
        async move {
            taken?;
            answered.await.unwrap_or(Err(StoreError::Closed))
        }
        .boxed()
    }

    fn refused(&self, refusals: Refusals) -> Verb<'_, ()> {
        self.verb(|base| async move { refused::refused(&base.work, &refusals).await })
    }

    fn configure(&self, consumers: Vec<Consumer>) -> Verb<'_, Routing> {
        self.verb(|base| async move {
            let routing = configure::configure(&base.work, base.identity.instance, &consumers).await?;
            base.hints.all();
            Ok(routing)
        })
    }

    fn rule(&self, source: &str, definition: &str) -> Verb<'_, i64> {
        let (source, definition) = (source.to_owned(), definition.to_owned());
        self.verb(|base| async move { rule::rule(&base.work, &source, &definition).await })
    }

    fn route<'a>(&'a self, routing: &'a Routing) -> Verb<'a, Passed> {
        let routing = routing.clone();
        self.verb(|base| async move {
            let passed = route::route(&base, &routing).await?;
            base.hints.due(&passed.woken);
            Ok(passed)
        })
    }

    fn claim(&self, ask: Ask) -> Verb<'_, Vec<Run>> {
        self.verb(|base| async move {
            let claimed = claim::claim(&*base.work.get().await?, &base.identity, &base.marks, &ask).await?;
            bodies::runs(&base, claimed).await
        })
    }

    fn renew(&self, leases: Vec<Lease>, by: Micros) -> Verb<'_, Vec<Lease>> {
        self.verb(|base| async move { claim::renew(&*base.work.get().await?, &base.identity, &leases, by).await })
    }

    fn release(&self, leases: Vec<Lease>) -> Verb<'_, ()> {
        self.verb(|base| async move {
            claim::release(&*base.work.get().await?, &base.identity, &leases).await?;
            // Somebody else takes it up at once.
            base.hints.all();
            Ok(())
        })
    }

    fn settle(&self, endings: Vec<Ending>, next: Option<Ask>) -> Verb<'_, (Vec<Settled>, Vec<Run>)> {
        self.verb(|base| async move {
            let (settled, claimed) = settle::settle(&base, &endings, next.as_ref()).await?;
            // What was settled is settled, whatever becomes of the next batch.
            Ok((settled, bodies::runs(&base, claimed).await.unwrap_or_default()))
        })
    }

    fn command(&self, what: Command, who: Who) -> Verb<'_, Result<i64, Refused>> {
        self.verb(|base| async move {
            let answer = command::command(&base.work, &what, &who).await?;
            base.hints.all();
            Ok(answer)
        })
    }

    fn beat(&self, config: i64) -> Verb<'_, Pulse> {
        self.verb(move |base| async move { beat::beat(&*base.work.get().await?, base.identity.instance, config).await })
    }

    fn heard(&self) -> Verb<'_, Hint> {
        async move {
            let mut heard = self.heard.lock().await;
            match heard.recv().await {
                Some(hint) => Ok(hint),
                // A node that hears nobody is no fault: it polls.
                None => pending().await,
            }
        }
        .boxed()
    }

    fn sweep(&self) -> Verb<'_, Swept> {
        self.verb(|base| async move { sweep::sweep(&base).await })
    }

    fn purge(&self, retention: Arc<Retention>) -> Verb<'_, Purged> {
        self.verb(|base| async move { purge::purge(&base, &retention).await })
    }

    fn read(&self, query: Query) -> Verb<'_, Page> {
        self.verb(|base| async move { read::page(&base.read, &query, base.read_limit).await })
    }

    fn ready(&self) -> Verb<'_, ()> {
        self.verb(|base| async move { base.ingest.get().await?.exec(sql::READY, &[]).await.map(drop) })
    }

    fn next_due(&self, consumer: i64) -> Verb<'_, (Option<Micros>, Micros)> {
        self.verb(|base| async move { claim::next_due(&*base.work.get().await?, consumer).await })
    }

    fn close(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        self.writers.queue.close();
        let running = std::mem::take(&mut *self.running.lock().unwrap_or_else(PoisonError::into_inner));
        self.verb(|base| async move {
            // The last groups are answered first; a writer that panicked has nothing more to answer.
            futures_util::future::join_all(running).await;
            let instance = Arg::Int(base.identity.instance);
            let left = async { base.work.get().await?.exec(sql::NODE_LEAVE, &[instance]).await };
            if let Err(error) = left.await {
                // A database that is away cannot be told. The leases end by themselves.
                tracing::warn!("this node could not sign out: {error}");
            }
            [&base.ingest, &base.work, &base.read].into_iter().for_each(Pool::close);
            Ok(())
        })
    }
}
