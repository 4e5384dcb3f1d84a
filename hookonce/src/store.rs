//! The store contract. Backends: the in-memory model (testkit), SQLite; PostgreSQL joins behind the same suite.
//!
//! `Ok` means committed and durable. An error near the commit may hide one, so every verb is safe to repeat. A verb
//! that reads before it writes trusts nothing of it but what a key or the fence tests again. All instants are the
//! store's clock; plans carry delays.

use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, pending, ready};
use hookonce_core::admit::{Admission, Submission};
use hookonce_core::claim::{Ask, Claimed};
use hookonce_core::command::{Command, Refused, Who};
use hookonce_core::consumer::{Consumer, ConsumerId};
use hookonce_core::lease::Lease;
use hookonce_core::request::Headers;
use hookonce_core::retain::Retention;
use hookonce_core::route::Routing;
use hookonce_core::settle::{Ending, Settled};
use hookonce_core::time::Micros;

use crate::view::{Page, Query};

/// What went wrong, by remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// Try again: the queue is full, a lock was not had in time, the group's other members failed.
    #[error("the store is busy: {0}")]
    Busy(String),
    /// The process must not answer 2xx any more and must exit: a flush or a write failed (trap T4).
    #[error("the store failed: {0}")]
    Failed(String),
    /// This value alone cannot be stored, whatever is tried.
    #[error("the store refuses this value: {0}")]
    Refused(String),
    /// The store is closed or closing.
    #[error("the store is closed")]
    Closed,
}

pub type Verb<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

pub use hookonce_core::sample::{Refusals, Sample};

/// Samples kept of one source, and their bytes together.
pub const SAMPLE_ROWS: i64 = 200;
pub const SAMPLE_BYTES: i64 = 1 << 20;
/// Samples taken out of one second.
pub const SAMPLES_AT_ONCE: usize = 64;
/// Numbers of samples begin here, above those of requests.
pub const SAMPLE_BASE: i64 = 1 << 62;

/// What a router pass did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    pub events: usize,
    pub deliveries: usize,
    pub holds: usize,
    /// Events of this pass that no consumer takes.
    pub unmatched: usize,
    /// Consumers that got work rows, to wake their workers.
    pub woken: Vec<i64>,
    /// There is more to do at once.
    pub more: bool,
    /// Another configuration is in force, so this router does not route.
    pub config_behind: bool,
}

/// A claimed row with what a run needs to see.
#[derive(Clone, Debug)]
pub struct Run {
    pub claimed: Claimed,
    pub event: Arc<EventView>,
}

/// An event as a consumer sees it.
#[derive(Clone, Debug)]
pub struct EventView {
    pub id: i64,
    pub source: String,
    pub namespace: String,
    pub key_kind: String,
    pub key: Vec<u8>,
    pub key_text: String,
    pub variant: i64,
    pub kind: String,
    pub aggregate: Option<String>,
    pub version: Option<String>,
    pub received: Micros,
    pub headers: Headers,
    /// The item's own bytes: the whole body, or its span.
    pub body: bytes::Bytes,
    /// It is a batch item: then the request's content headers do not describe these bytes.
    pub part: bool,
}

/// What was found by the sweep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Open lanes without a head: must never be anything; each got its work row and an alarm.
    pub headless: Vec<i64>,
}

/// What a step of cleaning came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Purged {
    /// Bodies and whole events that are gone.
    pub payloads: usize,
    pub events: usize,
    /// There is more to do at once.
    pub more: bool,
}

/// What a process hears when it says that it lives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pulse {
    /// The number of the configuration in force.
    pub config: i64,
    /// No other process that lives runs it: whoever has another one may put that in force.
    pub deserted: bool,
    /// Versions of the program that run on the store, this one's among them.
    pub versions: Vec<String>,
}

/// What another process has done. It may be lost, and it may come too often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// There is something to route.
    Arrived,
    /// There is work for that consumer.
    Due(ConsumerId),
    /// Something may have been missed.
    All,
}

/// What the store was opened with and is.
#[derive(Clone, Debug)]
pub struct Identity {
    pub store: String,
    pub generation: i64,
    /// This process: what its leases are owned by.
    pub instance: i64,
}

pub trait Store: Send + Sync {
    fn identity(&self) -> Identity;

    /// The store's clock now: what freshness of signatures is judged by, so that all nodes of a store agree.
    fn now(&self) -> Micros;

    /// Ledger, event, payload and the verdict, in one durable commit shared with whoever asks at the same time.
    /// A duplicate is answered after a commit of its own (trap T1). Safe to repeat: a second run says duplicate.
    fn admit(&self, submission: Submission) -> Verb<'_, Admission>;

    /// Counts and samples of refused requests. Touches nothing else (invariant 22). They are tallied as `refused/REASON`.
    fn refused(&self, refusals: Refusals) -> Verb<'_, ()>;

    /// Registers consumers, gives each its id, and makes this configuration the one in force: with a new number and a
    /// pass row where the definitions are new. Who is not among them is handed nothing until it is back
    /// (`Standing`). One that was in force before is so again only when no other process that lives runs the current
    /// one; until then it keeps its old number and does not route. Answers the routing with the ids filled in.
    fn configure(&self, consumers: Vec<Consumer>) -> Verb<'_, Routing>;

    /// The number of an identity rule; equal definitions share it. `definition` is its normal form.
    fn rule(&self, source: &str, definition: &str) -> Verb<'_, i64>;

    /// One pass of the router.
    fn route<'a>(&'a self, routing: &'a Routing) -> Verb<'a, Passed>;

    /// Takes due work under a lease, in a transaction of its own. The caller triages what comes back: dead and cancelled
    /// rows are among it and are settled by it like any run (`settle::worker_lost`, `settle::cancelled`). Rows whose
    /// payload is gone are ended by the store and never come back here; if bodies cannot be read now, the leases are
    /// given back and nothing counts as lost.
    fn claim(&self, ask: Ask) -> Verb<'_, Vec<Run>>;

    /// Leases that still hold get `lease` more; answers those that do not.
    fn renew(&self, leases: Vec<Lease>, lease: Micros) -> Verb<'_, Vec<Lease>>;

    /// Gives back unfinished: due now, nothing counted (drain).
    fn release(&self, leases: Vec<Lease>) -> Verb<'_, ()>;

    /// Writes endings, each guarded by its lease, and claims the next batch in the same commit.
    fn settle(&self, endings: Vec<Ending>, next: Option<Ask>) -> Verb<'_, (Vec<Settled>, Vec<Run>)>;

    /// A person's decision: its change and its audit row in one commit. Answers the audit row's number.
    fn command(&self, command: Command, who: Who) -> Verb<'_, Result<i64, Refused>>;

    /// This process lives and runs that configuration; to be said every few seconds. A store that has no other process
    /// has nothing to say of others.
    fn beat(&self, config: i64) -> Verb<'_, Pulse> {
        ready(Ok(Pulse { config, ..Pulse::default() })).boxed()
    }

    /// Waits for the next hint of another process. A store that has no other process never has one.
    fn heard(&self) -> Verb<'_, Hint> {
        pending().boxed()
    }

    /// The slow audit of invariant 5 and other housekeeping. Bounded.
    fn sweep(&self) -> Verb<'_, Swept>;

    /// A bounded step of cleaning: what is done with and older than it is kept goes. Never what is unfinished, and with
    /// the key of an event the floor of its namespace rises: what is not newer is held from then on.
    fn purge(&self, retention: Arc<Retention>) -> Verb<'_, Purged>;

    /// Reads for people: lists, one item, raw bytes. On read-only connections with a time limit.
    fn read(&self, query: Query) -> Verb<'_, Page>;

    /// Whether an admission would be committed now: the readiness probe.
    fn ready(&self) -> Verb<'_, ()>;

    /// The earliest instant at which something of that consumer falls due, and the store's clock now.
    fn next_due(&self, consumer: i64) -> Verb<'_, (Option<Micros>, Micros)>;

    /// Stops the writers after what is queued, checkpoints and closes.
    fn close(&self) -> BoxFuture<'_, Result<(), StoreError>>;
}
