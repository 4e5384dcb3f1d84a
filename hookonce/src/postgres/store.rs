//! The store as its users see it: each verb runs in a task of its own.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::{BoxFuture, FutureExt as _, ready};
use hookonce_core::admit::{Admission, Submission};
use hookonce_core::claim::Ask;
use hookonce_core::command::{Command, Refused, Who};
use hookonce_core::consumer::Consumer;
use hookonce_core::lease::Lease;
use hookonce_core::route::Routing;
use hookonce_core::settle::{Ending, Settled};
use hookonce_core::time::Micros;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::conn::Pool;
use super::error::OpenError;
use super::group::Writers;
use super::now::Now;
use super::open::{self, Opened};
use super::queue::Job;
use super::{Options, beat, configure, now, read, refused, rule};
use crate::sql::call::Arg;
use crate::sql::postgres as sql;
use crate::store::{Identity, Passed, Pulse, Refusals, Run, Store, StoreError, Swept, Verb};
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
}

#[derive(Debug)]
pub struct PostgresStore {
    base: Base,
    /// Where its tasks run: whoever asks may be on another runtime, or on none.
    runtime: Handle,
    writers: Arc<Writers>,
    /// Of the writers: they end when the queue is closed and empty.
    running: Mutex<Vec<JoinHandle<()>>>,
}

impl PostgresStore {
    /// Opens the store in the database at `url`, or makes a new one there. Its tasks run on the runtime that this is
    /// called on.
    pub async fn open(url: &str, options: Options) -> Result<PostgresStore, OpenError> {
        let Opened { ingest, work, read, identity } = open::open(url, &options).await?;
        let now = Arc::new(Now::new(options.clock.clone()));
        now::look(&work, &now).await?;
        let base = Base { identity, ingest, work, read, read_limit: options.read_limit, now };
        let runtime = Handle::current();
        let writers = Arc::new(Writers::new(base.ingest.clone(), &options));
        if options.clock.is_none() {
            runtime.spawn(now::keep(base.work.clone(), Arc::downgrade(&base.now)));
        }
        let running = (0..options.writers.max(1)).map(|_| runtime.spawn(writers.clone().run()));
        let running = Mutex::new(running.collect());
        Ok(PostgresStore { base, runtime, writers, running })
    }

    /// Runs a verb in a task of its own: who drops the future only loses the answer.
    fn verb<T, Fut>(&self, run: impl FnOnce(Base) -> Fut) -> Verb<'static, T>
    where
        T: Send + 'static,
        Fut: Future<Output = Result<T, StoreError>> + Send + 'static,
    {
        let task = self.runtime.spawn(run(self.base.clone()));
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

/// Until its helper has landed.
fn unbuilt<T: Send + 'static>(verb: &str) -> Verb<'static, T> {
    ready(Err(StoreError::Busy(format!("`{verb}` is not there yet")))).boxed()
}

impl Store for PostgresStore {
    fn identity(&self) -> Identity {
        self.base.identity.clone()
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
        self.verb(|base| async move { configure::configure(&base.work, base.identity.instance, &consumers).await })
    }

    fn rule(&self, source: &str, definition: &str) -> Verb<'_, i64> {
        let (source, definition) = (source.to_owned(), definition.to_owned());
        self.verb(|base| async move { rule::rule(&base.work, &source, &definition).await })
    }

    fn route<'a>(&'a self, _: &'a Routing) -> Verb<'a, Passed> {
        unbuilt("route")
    }

    fn claim(&self, _: Ask) -> Verb<'_, Vec<Run>> {
        unbuilt("claim")
    }

    fn renew(&self, _: Vec<Lease>, _: Micros) -> Verb<'_, Vec<Lease>> {
        unbuilt("renew")
    }

    fn release(&self, _: Vec<Lease>) -> Verb<'_, ()> {
        unbuilt("release")
    }

    fn settle(&self, _: Vec<Ending>, _: Option<Ask>) -> Verb<'_, (Vec<Settled>, Vec<Run>)> {
        unbuilt("settle")
    }

    fn command(&self, _: Command, _: Who) -> Verb<'_, Result<i64, Refused>> {
        unbuilt("command")
    }

    fn beat(&self, config: i64) -> Verb<'_, Pulse> {
        self.verb(move |base| async move { beat::beat(&*base.work.get().await?, base.identity.instance, config).await })
    }

    fn sweep(&self) -> Verb<'_, Swept> {
        unbuilt("sweep")
    }

    fn read(&self, query: Query) -> Verb<'_, Page> {
        self.verb(|base| async move { read::page(&base.read, &query, base.read_limit).await })
    }

    fn ready(&self) -> Verb<'_, ()> {
        self.verb(|base| async move { base.ingest.get().await?.exec(sql::READY, &[]).await.map(drop) })
    }

    fn next_due(&self, _: i64) -> Verb<'_, (Option<Micros>, Micros)> {
        unbuilt("next_due")
    }

    fn close(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        self.writers.queue.close();
        let running = std::mem::take(&mut *self.running.lock().unwrap_or_else(PoisonError::into_inner));
        self.verb(|base| async move {
            // The last groups are answered first; a writer that panicked has nothing more to answer.
            futures_util::future::join_all(running).await;
            let instance = Arg::Int(base.identity.instance);
            let left = base.work.get().await?.exec(sql::NODE_LEAVE, &[instance]).await;
            [&base.ingest, &base.work, &base.read].into_iter().for_each(Pool::close);
            left.map(drop)
        })
    }
}
