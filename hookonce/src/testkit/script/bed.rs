//! What a script runs on: a store, its clock, and a way to see and to arrange its tables.

use std::future::Future;
use std::sync::Arc;

use hookonce_core::time::{Micros, SECOND};

use crate::clock::ManualClock;
use crate::store::Store;
use crate::testkit::model::{ModelStore, Rows};

/// Where the clock of a bed begins.
pub const BEGIN: Micros = 1_700_000_000 * SECOND;

pub trait Bed {
    fn name(&self) -> &'static str;
    fn store(&self) -> Arc<dyn Store>;
    fn clock(&self) -> &ManualClock;
    /// All tables as a reader beside the store sees them.
    fn rows(&self) -> Rows;
    /// Changes rows by hand, for what no verb does yet.
    fn edit(&self, change: &dyn Fn(&mut Rows));
    /// Closes the store and opens it again, as another process would.
    fn restart(&self);
    /// Makes the n-th statement from now fail, before it runs or (its answer is lost) behind it. A bed without
    /// statements has nothing that could.
    fn arm(&self, _nth: usize, _behind: bool) {}
    /// Whether that has happened; it is over with this.
    fn struck(&self) -> bool {
        false
    }
}

/// The model itself.
#[derive(Debug)]
pub struct ModelBed {
    store: Arc<ModelStore>,
    clock: Arc<ManualClock>,
}

impl Default for ModelBed {
    fn default() -> Self {
        let clock = Arc::new(ManualClock::new(BEGIN));
        ModelBed { store: Arc::new(ModelStore::new(clock.clone())), clock }
    }
}

impl Bed for ModelBed {
    fn name(&self) -> &'static str {
        "model"
    }

    fn store(&self) -> Arc<dyn Store> {
        self.store.clone()
    }

    fn clock(&self) -> &ManualClock {
        &self.clock
    }

    fn rows(&self) -> Rows {
        self.store.rows()
    }

    fn edit(&self, change: &dyn Fn(&mut Rows)) {
        self.store.edit(change);
    }

    fn restart(&self) {
        self.store.restart();
    }
}

/// Waits for an answer of a store. Scripts run one line after the other, on the test's own thread.
pub fn wait<T>(answer: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime for one thread can be had").block_on(answer)
}
