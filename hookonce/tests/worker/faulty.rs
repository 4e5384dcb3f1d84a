//! The model behind a link that can be slow, cut or lie about a commit.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use hookonce::store::{Identity, Passed, Purged, Refusals, Run, Store, StoreError, Swept, Verb};
use hookonce::testkit::model::ModelStore;
use hookonce::view::{Page, Query};
use hookonce_core::admit::{Admission, Submission};
use hookonce_core::claim::Ask;
use hookonce_core::command::{Command, Refused, Who};
use hookonce_core::consumer::Consumer;
use hookonce_core::lease::Lease;
use hookonce_core::retain::Retention;
use hookonce_core::route::Routing;
use hookonce_core::settle::{Ending, Settled};
use hookonce_core::time::Micros;
use tokio::sync::Notify;

/// What happens to a call.
#[derive(Clone, Debug)]
pub enum Fault {
    /// It never got there.
    Before(fn() -> StoreError),
    /// It was done, and the answer is an error.
    After(fn() -> StoreError),
    /// It gets there once this is rung.
    Late(Arc<Notify>),
}

pub fn busy() -> StoreError {
    StoreError::Busy("a test says so".into())
}

pub fn refused() -> StoreError {
    StoreError::Refused("a test says so".into())
}

pub fn failed() -> StoreError {
    StoreError::Failed("a test says so".into())
}

type Rule = dyn Fn(&'static str, usize) -> Option<Fault> + Send + Sync;

/// The rule gets the verb's name and how the manieth call of it this is, from 1.
pub struct Faulty {
    inner: Arc<ModelStore>,
    rule: Box<Rule>,
    calls: Mutex<BTreeMap<&'static str, usize>>,
}

impl Faulty {
    pub fn new(
        inner: Arc<ModelStore>,
        rule: impl Fn(&'static str, usize) -> Option<Fault> + Send + Sync + 'static,
    ) -> Arc<Faulty> {
        Arc::new(Faulty { inner, rule: Box::new(rule), calls: Mutex::default() })
    }

    pub fn calls(&self, verb: &str) -> usize {
        self.calls.lock().unwrap().get(verb).copied().unwrap_or(0)
    }

    fn through<'a, T: Send + 'a>(
        &'a self,
        verb: &'static str,
        call: impl FnOnce() -> Verb<'a, T> + Send + 'a,
    ) -> Verb<'a, T> {
        let nth = {
            let mut calls = self.calls.lock().unwrap();
            let nth = calls.entry(verb).or_default();
            *nth += 1;
            *nth
        };
        let fault = (self.rule)(verb, nth);
        async move {
            match fault {
                None => call().await,
                Some(Fault::Before(error)) => Err(error()),
                Some(Fault::After(error)) => {
                    call().await?;
                    Err(error())
                }
                Some(Fault::Late(bell)) => {
                    bell.notified().await;
                    call().await
                }
            }
        }
        .boxed()
    }
}

impl Store for Faulty {
    fn identity(&self) -> Identity {
        self.inner.identity()
    }
    fn now(&self) -> Micros {
        self.inner.now()
    }
    fn admit(&self, submission: Submission) -> Verb<'_, Admission> {
        self.through("admit", || self.inner.admit(submission))
    }
    fn refused(&self, refusals: Refusals) -> Verb<'_, ()> {
        self.through("refused", || self.inner.refused(refusals))
    }
    fn configure(&self, consumers: Vec<Consumer>) -> Verb<'_, Routing> {
        self.through("configure", || self.inner.configure(consumers))
    }
    fn rule(&self, source: &str, definition: &str) -> Verb<'_, i64> {
        self.inner.rule(source, definition)
    }
    fn route<'a>(&'a self, routing: &'a Routing) -> Verb<'a, Passed> {
        self.through("route", || self.inner.route(routing))
    }
    fn claim(&self, ask: Ask) -> Verb<'_, Vec<Run>> {
        self.through("claim", || self.inner.claim(ask))
    }
    fn renew(&self, leases: Vec<Lease>, lease: Micros) -> Verb<'_, Vec<Lease>> {
        self.through("renew", move || self.inner.renew(leases, lease))
    }
    fn release(&self, leases: Vec<Lease>) -> Verb<'_, ()> {
        self.through("release", || self.inner.release(leases))
    }
    fn settle(&self, endings: Vec<Ending>, next: Option<Ask>) -> Verb<'_, (Vec<Settled>, Vec<Run>)> {
        self.through("settle", || self.inner.settle(endings, next))
    }
    fn command(&self, command: Command, who: Who) -> Verb<'_, Result<i64, Refused>> {
        self.through("command", || self.inner.command(command, who))
    }
    fn sweep(&self) -> Verb<'_, Swept> {
        self.through("sweep", || self.inner.sweep())
    }
    fn purge(&self, retention: Arc<Retention>) -> Verb<'_, Purged> {
        self.through("purge", || self.inner.purge(retention))
    }
    fn read(&self, query: Query) -> Verb<'_, Page> {
        self.through("read", || self.inner.read(query))
    }
    fn ready(&self) -> Verb<'_, ()> {
        self.through("ready", || self.inner.ready())
    }
    fn next_due(&self, consumer: i64) -> Verb<'_, (Option<Micros>, Micros)> {
        self.through("next_due", move || self.inner.next_due(consumer))
    }
    fn close(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        self.inner.close()
    }
}
