//! What the loops of one process share: the store, the hints, chance, and the turnstile of suspects.

use std::sync::Arc;
use std::time::Duration;

use hookonce_core::retain::Retention;
use hookonce_core::route::Routing;
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock, watch};
use tokio::time::Instant;

use crate::alarm;
use crate::chance::Chance;
use crate::store::{Store, StoreError};
use crate::wake::Hub;

/// First and longest pause after the store said that it is busy.
const BUSY_FIRST: Duration = Duration::from_millis(20);
const BUSY_MAX: Duration = Duration::from_secs(2);

pub(crate) struct Node {
    pub store: Arc<dyn Store>,
    pub hub: Hub,
    pub chance: Arc<dyn Chance>,
    /// Every run holds it shared; a suspect alone. Who waits for it alone stops whoever comes after.
    turnstile: Arc<RwLock<()>>,
    failed: watch::Sender<Option<String>>,
    routing: watch::Sender<Arc<Routing>>,
    /// None: nothing is deleted.
    retention: watch::Sender<Option<Arc<Retention>>>,
}

impl Node {
    pub fn new(store: Arc<dyn Store>, hub: Hub, chance: Arc<dyn Chance>, routing: Routing) -> Node {
        let (failed, routing) = (watch::Sender::new(None), watch::Sender::new(Arc::new(routing)));
        Node { store, hub, chance, turnstile: Arc::default(), failed, routing, retention: watch::Sender::default() }
    }

    /// What routes now.
    pub fn routing(&self) -> Arc<Routing> {
        Arc::clone(&self.routing.borrow())
    }

    /// The same consumers under another number.
    pub fn route_by(&self, routing: Routing) {
        self.routing.send_replace(Arc::new(routing));
    }

    pub fn retain(&self, retention: Retention) {
        self.retention.send_replace(Some(Arc::new(retention)));
    }

    pub fn retention(&self) -> watch::Receiver<Option<Arc<Retention>>> {
        self.retention.subscribe()
    }

    pub async fn beside_others(&self) -> OwnedRwLockReadGuard<()> {
        Arc::clone(&self.turnstile).read_owned().await
    }

    pub async fn alone(&self) -> OwnedRwLockWriteGuard<()> {
        Arc::clone(&self.turnstile).write_owned().await
    }

    /// A suspect runs, or waits for the others to end: nothing more is claimed on this node.
    pub fn stands_still(&self) -> bool {
        self.turnstile.try_read().is_err()
    }

    /// The store cannot be trusted any more (trap T4): whoever runs this process ends it.
    pub fn fail(&self, why: String) {
        if self.failed.borrow().is_none() {
            alarm::raise("store_failed", &why);
            self.failed.send_replace(Some(why));
        }
    }

    pub fn failure(&self) -> watch::Receiver<Option<String>> {
        self.failed.subscribe()
    }
}

/// What a loop does after an error of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// The same again, later.
    Again,
    /// The value is at fault, not the store.
    Without,
    /// Nothing more: closed, or failed for good.
    End,
}

/// Patience with a store: longer after each trouble, none after a success.
#[derive(Debug)]
pub(crate) struct Patience {
    pause: Duration,
    pub until: Option<Instant>,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience { pause: BUSY_FIRST, until: None }
    }
}

impl Patience {
    pub fn trouble(&mut self, node: &Node, error: &StoreError) -> After {
        match error {
            StoreError::Busy(why) => {
                tracing::warn!(pause_ms = self.pause.as_millis() as u64, "the store is busy: {why}");
                self.until = Some(Instant::now() + self.pause);
                self.pause = (self.pause * 2).min(BUSY_MAX);
                After::Again
            }
            StoreError::Refused(_) => After::Without,
            StoreError::Closed => After::End,
            StoreError::Failed(why) => {
                node.fail(why.clone());
                After::End
            }
        }
    }

    pub fn over(&mut self, now: Instant) -> bool {
        if self.until.is_some_and(|until| until > now) {
            return false;
        }
        self.until = None;
        true
    }

    pub fn success(&mut self) {
        *self = Patience::default();
    }
}
