//! The model as a [`Store`]: every verb under one lock, every answer ready at once.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::{BoxFuture, FutureExt as _, ready};
use hookonce_core::admit::{Admission, Submission};
use hookonce_core::claim::{Ask, Claimed};
use hookonce_core::command::{Command, Refused, Who};
use hookonce_core::consumer::Consumer;
use hookonce_core::lease::Lease;
use hookonce_core::retain::Retention;
use hookonce_core::route::Routing;
use hookonce_core::settle::{self, Ending, Settled};
use hookonce_core::time::Micros;

use super::rows::Rows;
use crate::clock::Clock;
use crate::store::{Identity, Passed, Purged, Refusals, Run, Store, StoreError, Swept, Verb};
use crate::view::{Page, Query};

#[derive(Debug)]
pub struct ModelStore {
    rows: Mutex<Rows>,
    clock: Arc<dyn Clock>,
}

impl ModelStore {
    pub fn new(clock: Arc<dyn Clock>) -> ModelStore {
        let store = ModelStore { rows: Mutex::default(), clock };
        store.restart();
        store
    }

    /// As if the process had ended and another had opened the store.
    pub fn restart(&self) {
        let (mut rows, now) = (self.lock(), self.clock.now());
        rows.counters.instance += 1;
        let instance = rows.counters.instance;
        super::sweep::open_due(&mut rows, now, instance);
    }

    /// All tables as they stand.
    pub fn rows(&self) -> Rows {
        self.lock().clone()
    }

    /// Changes rows by hand: what no verb does yet (a floor, a cancel mark).
    pub fn edit(&self, change: impl FnOnce(&mut Rows)) {
        change(&mut self.lock());
    }

    // A panic in a test leaves the rows as they were between two statements: still worth looking at.
    fn lock(&self) -> MutexGuard<'_, Rows> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn verb<T: Send + 'static>(&self, run: impl FnOnce(&mut Rows, Micros) -> Result<T, StoreError>) -> Verb<'_, T> {
        ready(run(&mut self.lock(), self.clock.now())).boxed()
    }
}

impl Store for ModelStore {
    fn identity(&self) -> Identity {
        let rows = self.lock();
        Identity { store: "model".into(), generation: rows.counters.generation, instance: rows.counters.instance }
    }

    fn now(&self) -> Micros {
        self.clock.now()
    }

    fn admit(&self, submission: Submission) -> Verb<'_, Admission> {
        self.verb(|rows, now| super::admit::admit(rows, &submission, now))
    }

    fn refused(&self, refusals: Refusals) -> Verb<'_, ()> {
        self.verb(|rows, _| {
            super::sweep::refused(rows, &refusals);
            Ok(())
        })
    }

    fn configure(&self, consumers: Vec<Consumer>) -> Verb<'_, Routing> {
        self.verb(|rows, now| Ok(super::configure::configure(rows, consumers, now)))
    }

    fn rule(&self, source: &str, definition: &str) -> Verb<'_, i64> {
        self.verb(|rows, now| Ok(super::configure::rule(rows, source, definition, now)))
    }

    fn route<'a>(&'a self, routing: &'a Routing) -> Verb<'a, Passed> {
        self.verb(|rows, now| Ok(super::route::route(rows, routing, now)))
    }

    fn claim(&self, ask: Ask) -> Verb<'_, Vec<Run>> {
        self.verb(|rows, now| {
            let claimed = super::claim::claim(rows, &ask, now);
            Ok(runs(rows, claimed, now))
        })
    }

    fn renew(&self, leases: Vec<Lease>, lease: Micros) -> Verb<'_, Vec<Lease>> {
        self.verb(|rows, now| Ok(super::claim::renew(rows, &leases, lease, now)))
    }

    fn release(&self, leases: Vec<Lease>) -> Verb<'_, ()> {
        self.verb(|rows, now| {
            super::claim::release(rows, &leases, now);
            Ok(())
        })
    }

    fn settle(&self, endings: Vec<Ending>, next: Option<Ask>) -> Verb<'_, (Vec<Settled>, Vec<Run>)> {
        self.verb(|rows, now| {
            let settled = super::settle::settle(rows, &endings, now);
            let claimed = next.map(|ask| super::claim::claim(rows, &ask, now)).unwrap_or_default();
            Ok((settled, runs(rows, claimed, now)))
        })
    }

    fn command(&self, command: Command, who: Who) -> Verb<'_, Result<i64, Refused>> {
        self.verb(|rows, now| Ok(super::command::command(rows, &command, &who, now)))
    }

    fn sweep(&self) -> Verb<'_, Swept> {
        self.verb(|rows, now| Ok(super::sweep::sweep(rows, now)))
    }

    fn purge(&self, retention: Arc<Retention>) -> Verb<'_, Purged> {
        self.verb(move |rows, now| Ok(super::purge::purge(rows, &retention, now)))
    }

    fn read(&self, query: Query) -> Verb<'_, Page> {
        self.verb(|rows, now| Ok(super::read::read(rows, &query, now)))
    }

    fn ready(&self) -> Verb<'_, ()> {
        ready(Ok(())).boxed()
    }

    fn next_due(&self, consumer: i64) -> Verb<'_, (Option<Micros>, Micros)> {
        self.verb(|rows, now| {
            let due = rows.work.values().filter(|w| w.consumer == consumer).map(|w| w.due).min();
            Ok((due, now))
        })
    }

    fn close(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        ready(Ok(())).boxed()
    }
}

/// What has no bytes any more is ended at once and does not come back.
fn runs(rows: &mut Rows, claimed: Vec<Claimed>, now: Micros) -> Vec<Run> {
    let mut runs = Vec::new();
    for claimed in claimed {
        match super::read::event_view(rows, claimed.event) {
            Some(event) => runs.push(Run { claimed, event: Arc::new(event) }),
            None => drop(super::settle::settle(rows, &[settle::purged(&claimed)], now)),
        }
    }
    runs
}
