//! The embedded store: two SQLite files with a writer thread each (`engine.md` section 6).
//!
//! Here: the store as its users see it ([`store`]) and how it is opened ([`open`]). A verb is a value in a writer's
//! queue ([`job`], [`queue`]); the writers ([`inbox`], [`work`]) run groups of them in one commit ([`writer`]); each
//! verb's statements stand in the file of its name and run through [`conn::Conn`], nowhere else. Not here: decisions.

use std::sync::Arc;
use std::time::Duration;

use crate::clock::{Clock, SystemClock};
use crate::sql::call::Tap;

mod admit;
mod audit;
pub mod backup;
#[cfg(feature = "testkit")]
pub mod bed;
mod bodies;
mod checkpoint;
mod claim;
mod command;
mod configure;
mod conn;
mod desk;
mod end;
mod files;
mod inbox;
mod job;
mod migrate;
pub mod moving;
mod open;
mod purge;
mod queue;
mod read;
mod reader;
mod refused;
pub mod restore;
mod route;
mod settings;
mod settle;
mod store;
mod sweep;
mod threads;
mod work;
mod writer;

pub use open::{OpenError, schemas};
pub use settings::Effective;
pub use store::SqliteStore;

/// What a store is opened with. The defaults are those of a server; tests bring their own clock, seed and patience.
#[derive(Clone, Debug)]
pub struct Options {
    pub clock: Arc<dyn Clock>,
    /// Makes a new store's name, so that a test's store has the same one each time.
    pub seed: Option<u64>,
    /// How long a group waits for the write lock that somebody else holds.
    pub lock_wait: Duration,
    /// How long after it was asked an admission may still be begun.
    pub ack_patience: Duration,
    /// How long a read of a person may take.
    pub read_limit: Duration,
    /// Pages in a log from which a checkpoint is begun.
    pub wal_start: i64,
    /// Sees every statement.
    pub tap: Option<Arc<dyn Tap>>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            clock: Arc::new(SystemClock),
            seed: None,
            lock_wait: Duration::from_secs(2),
            ack_patience: Duration::from_secs(5),
            read_limit: Duration::from_secs(5),
            wal_start: checkpoint::START_FRAMES,
            tap: None,
        }
    }
}

/// Of the SQLite that is compiled in.
pub fn version() -> &'static str {
    rusqlite::version()
}
