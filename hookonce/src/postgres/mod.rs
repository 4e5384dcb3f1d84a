//! The shared store: one PostgreSQL database, any number of nodes (`engine.md` section 7).
//!
//! Here: the store as its users see it ([`store`]) and how it is opened ([`open`]). Verbs run on pooled connections
//! ([`conn`]), each in a task of its own, so that whoever stops waiting only loses the answer; admissions share commits
//! ([`group`]). Each verb's statements stand in the file of its name. Not here: decisions.

use std::sync::Arc;
use std::time::Duration;

use crate::clock::Clock;
use crate::sql::call::{Stmt, Tap};

mod admit;
mod audit;
pub mod backup;
mod beat;
#[cfg(feature = "testkit")]
pub mod bed;
mod bodies;
mod claim;
mod command;
mod configs;
mod configure;
pub mod conn;
mod error;
mod fold;
#[cfg(feature = "testkit")]
pub mod functions;
mod group;
#[cfg(feature = "testkit")]
pub mod lent;
mod link;
mod listen;
mod migrate;
pub mod moving;
mod now;
mod open;
mod purge;
mod queue;
mod read;
mod ready;
mod refused;
pub mod restore;
mod route;
mod rule;
mod sets;
mod settle;
#[cfg(feature = "testkit")]
pub mod sheets;
mod store;
mod sweep;
mod timeline;
mod value;

pub use error::OpenError;
pub use open::{schema, valid};
pub use store::PostgresStore;
pub use timeline::Acks;

/// What a store is opened with. The defaults are those of a server; tests bring their own clock, seed and patience.
#[derive(Clone, Debug)]
pub struct Options {
    /// Instead of the database's clock. Only a database whose `now_us()` listens to it obeys: see `bed`.
    pub clock: Option<Arc<dyn Clock>>,
    /// Makes a new store's name, so that a test's store has the same one each time.
    pub seed: Option<u64>,
    /// How long a statement waits for a lock that somebody else holds.
    pub lock_wait: Duration,
    /// How long a statement of the engine may take.
    pub statement_limit: Duration,
    /// How long an answer of the database may take to come, whoever keeps it.
    pub answer_limit: Duration,
    /// How long after it was asked an admission may still be begun.
    pub ack_patience: Duration,
    /// How long a read of a person may take.
    pub read_limit: Duration,
    /// How long a connection may take to be had.
    pub connect_wait: Duration,
    /// Admission groups under way at once.
    pub writers: usize,
    /// Connections for routing and work.
    pub work: usize,
    /// Connections for people.
    pub readers: usize,
    /// Tells other nodes what is there for them, and hears them. Without it all is found by polling.
    pub hints: bool,
    /// Runs although the database says that it may lose what it has confirmed.
    pub may_lose_commits: bool,
    /// Sees every statement.
    pub tap: Option<Arc<dyn Tap>>,
    /// For tests: statements that stand in for those of their names.
    pub instead: &'static [Stmt],
}

impl Default for Options {
    fn default() -> Self {
        Options {
            clock: None,
            seed: None,
            lock_wait: Duration::from_secs(2),
            statement_limit: Duration::from_secs(5),
            answer_limit: Duration::from_secs(10),
            ack_patience: Duration::from_secs(5),
            read_limit: Duration::from_secs(5),
            connect_wait: Duration::from_secs(5),
            writers: 2,
            work: 8,
            readers: 2,
            hints: true,
            may_lose_commits: false,
            tap: None,
            instead: &[],
        }
    }
}
