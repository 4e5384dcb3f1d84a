//! Where a verb hands in its value and waits for the answer. Handing in never waits: what does not fit is refused.

use std::future::Future;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::oneshot;

use super::job::Job;
use super::queue::{NotTaken, Queue};
use super::writer::Failure;
use crate::store::StoreError;

#[derive(Debug)]
pub struct Desk<A, R> {
    pub queue: Arc<Queue<Job<A, R>>>,
    failure: Failure,
    /// For the message.
    name: &'static str,
}

impl<A, R> Desk<A, R> {
    pub fn new(name: &'static str, limit: usize, failure: Failure) -> Self {
        Desk { queue: Arc::new(Queue::new(limit)), failure, name }
    }

    /// The value is in the queue when this returns: whoever drops the future only loses the answer.
    pub fn ask(&self, ask: A) -> impl Future<Output = Result<R, StoreError>> + Send + 'static
    where
        A: Send + 'static,
        R: Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let taken = self.failure.check().and_then(|()| {
            let job = Job { ask, asked: Instant::now(), answer };
            self.queue.push(job).map_err(|why| refused(self.name, why))
        });
        let failure = self.failure.clone();
        async move {
            taken?;
            answered.await.map_or_else(|_| Err(gone(&failure)), |(reply, _)| reply)
        }
    }
}

fn refused(name: &str, why: NotTaken) -> StoreError {
    match why {
        NotTaken::Full => StoreError::Busy(format!("the queue of the {name} is full")),
        NotTaken::Closed => StoreError::Closed,
    }
}

/// Nobody answers any more: its thread ended with the job in hand.
fn gone(failure: &Failure) -> StoreError {
    failure.check().err().unwrap_or(StoreError::Closed)
}
