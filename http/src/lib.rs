//! The ingest service: an HTTP request becomes an admitted submission, or an answer that says why not.
//!
//! One request: `limits` (what may come in at all) → `framing`, `body`, `coding` (its bytes) → `examine` (handshake,
//! signature, identity: all of it pure and in core) → `admitting` (the commit, which no hang-up cancels) → `answer`.
//! [`Ingest::receive`] puts them together; it knows its store as an [`Intake`] and nothing more.
//!
//! Around it: `accept` (an accept loop with time-outs, caps and a drain), `router` (the same service for a program that
//! has its own server), `sample` (what is left of refused requests).
//!
//! Not here: SQL, the engine, configuration files, the admin API.

mod accept;
mod address;
mod admitting;
mod answer;
mod body;
mod budget;
mod coding;
mod connection;
mod examine;
mod framing;
mod headers;
mod intake;
mod limits;
mod metrics;
mod pulse;
mod receive;
mod router;
mod sample;
mod source;

pub use accept::{Listener, Server};
pub use address::Rate;
pub use headers::{EVENT, VERDICT};
pub use intake::{Intake, Unavailable};
pub use limits::{Limits, MAX_BODY};
pub use metrics::describe;
pub use receive::Ingest;
pub use router::{IngestService, router};
pub use source::{SignatureOver, Source, Verification};
