//! The way into the store, as ingest sees it. The engine implements it; tests and the bench bring their own.

use futures_util::future::BoxFuture;
use hookonce_core::admit::{Admission, Submission};
use hookonce_core::sample::Refusals;
use hookonce_core::time::Micros;

pub trait Intake: Send + Sync + 'static {
    /// `Ok` means committed and durable: the answer 2xx is sent on the strength of it (invariant 13).
    fn admit(&self, submission: Submission) -> BoxFuture<'_, Result<Admission, Unavailable>>;

    /// What a second of refused requests came to.
    fn refused(&self, refusals: Refusals) -> BoxFuture<'_, Result<(), Unavailable>>;

    /// The store's clock. Freshness of signatures is judged by it, so that all nodes of a store agree.
    fn now(&self) -> Micros;
}

/// The store cannot take it now. Always our trouble, so the sender is asked to come again; the text is for the log.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unavailable(pub String);
