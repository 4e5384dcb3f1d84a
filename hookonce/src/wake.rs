//! Wake-up hints between the loops. A hint may come too often and may be lost with its process; every loop looks by
//! itself as well, so that none is ever needed. Register first, then query, then wait.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hookonce_core::consumer::ConsumerId;
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

/// Where hints are given and waited for. Each place has one loop, so a hint that nobody waits for is kept for it.
#[derive(Debug, Default)]
pub struct Hub {
    router: Notify,
    consumers: BTreeMap<ConsumerId, Arc<Bell>>,
}

/// What a consumer's loop listens to.
#[derive(Debug, Default)]
pub struct Bell {
    due: Notify,
    /// What the store was last heard to say of the consumer. It decides there; this saves the questions.
    paused: AtomicBool,
}

impl Bell {
    pub fn rung(&self) -> Notified<'_> {
        self.due.notified()
    }

    pub fn paused(&self) -> bool {
        self.paused.load(Ordering::Acquire)
    }
}

impl Hub {
    pub fn new(consumers: impl IntoIterator<Item = ConsumerId>) -> Hub {
        let consumers = consumers.into_iter().map(|id| (id, Arc::default())).collect();
        Hub { router: Notify::new(), consumers }
    }

    /// There are arrivals, or requests to append.
    pub fn arrived(&self) {
        self.router.notify_one();
    }

    pub fn arrivals(&self) -> Notified<'_> {
        self.router.notified()
    }

    /// There is work for that consumer.
    pub fn due(&self, consumer: ConsumerId) {
        if let Some(bell) = self.consumers.get(&consumer) {
            bell.due.notify_one();
        }
    }

    /// Something changed that any loop may have waited for.
    pub fn all(&self) {
        self.arrived();
        self.consumers.values().for_each(|bell| bell.due.notify_one());
    }

    pub fn pause(&self, consumer: ConsumerId, paused: bool) {
        if let Some(bell) = self.consumers.get(&consumer) {
            bell.paused.store(paused, Ordering::Release);
            bell.due.notify_one();
        }
    }

    pub(crate) fn bell(&self, consumer: ConsumerId) -> Arc<Bell> {
        self.consumers.get(&consumer).cloned().unwrap_or_default()
    }
}
