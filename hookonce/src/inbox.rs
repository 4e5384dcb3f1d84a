//! The way in: what ingest admits through. An admission wakes the router, and nothing else: an ack depends on no
//! consumer, lane or filter.

use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use hookonce_core::admit::{Admission, Submission, Verdict};
use hookonce_core::sample::Refusals;
use hookonce_core::time::Micros;
use hookonce_http::{Intake, Unavailable};

use crate::node::Node;
use crate::store::StoreError;

/// The engine's side of ingest. Clones are the same inbox.
#[derive(Clone)]
pub struct Inbox(Arc<Node>);

impl std::fmt::Debug for Inbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Inbox")
    }
}

impl Inbox {
    pub(crate) fn new(node: Arc<Node>) -> Inbox {
        Inbox(node)
    }

    /// A failed store ends the process; until it is gone nothing is answered 2xx (trap T4).
    fn unavailable(&self, error: StoreError) -> Unavailable {
        if let StoreError::Failed(why) = &error {
            self.0.fail(why.clone());
        }
        Unavailable(error.to_string())
    }
}

impl Intake for Inbox {
    fn admit(&self, submission: Submission) -> BoxFuture<'_, Result<Admission, Unavailable>> {
        async move {
            let admission = self.0.store.admit(submission).await.map_err(|e| self.unavailable(e))?;
            if admission.verdicts.iter().any(|verdict| matches!(verdict, Verdict::Accepted { .. })) {
                self.0.hub.arrived();
            }
            Ok(admission)
        }
        .boxed()
    }

    fn refused(&self, refusals: Refusals) -> BoxFuture<'_, Result<(), Unavailable>> {
        async move { self.0.store.refused(refusals).await.map_err(|e| self.unavailable(e)) }.boxed()
    }

    fn now(&self) -> Micros {
        self.0.store.now()
    }
}
