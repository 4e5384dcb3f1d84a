//! The bounded queue before the writers: values go in without waiting, a writer takes as many as fit in its next group.

use std::time::Instant;

use hookonce_core::admit::{Admission, Submission};
use hookonce_core::group;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Mutex, mpsc, oneshot};

use crate::store::StoreError;

/// Requests that may wait. Their bytes are bounded where they are received.
const LIMIT: usize = 16_384;
/// Items of one group, and bytes of their bodies: a message to the database has an end, and a lost group is sent again.
const ITEMS: usize = 256;
const BYTES: usize = 8 << 20;

/// A request, and where its answer goes: behind the commit, never before.
#[derive(Debug)]
pub struct Job {
    pub submission: Submission,
    pub asked: Instant,
    pub answer: oneshot::Sender<Result<Admission, StoreError>>,
}

impl Job {
    /// Whoever asked may be gone: the commit stands all the same.
    pub fn answer(self, answer: Result<Admission, StoreError>) {
        let _ = self.answer.send(answer);
    }

    fn items(&self) -> usize {
        self.submission.mapped.len().max(1)
    }

    fn bytes(&self) -> usize {
        self.submission.body.len()
    }
}

#[derive(Debug)]
pub struct Queue {
    /// `None`: closed.
    into: std::sync::Mutex<Option<mpsc::Sender<Job>>>,
    from: Mutex<From>,
}

#[derive(Debug)]
struct From {
    jobs: mpsc::Receiver<Job>,
    /// Taken, but no longer fitting into the group that it was taken for.
    next: Option<Job>,
}

impl Default for Queue {
    fn default() -> Self {
        let (into, jobs) = mpsc::channel(LIMIT);
        Queue { into: std::sync::Mutex::new(Some(into)), from: Mutex::new(From { jobs, next: None }) }
    }
}

impl Queue {
    /// The value is in the queue when this returns.
    pub fn push(&self, job: Job) -> Result<(), StoreError> {
        let into = self.into.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        into.as_ref().ok_or(StoreError::Closed)?.try_send(job).map_err(|error| match error {
            TrySendError::Full(_) => StoreError::Busy("the queue of admissions is full".into()),
            TrySendError::Closed(_) => StoreError::Closed,
        })
    }

    /// Waits until there is something, and takes what fits: always one request, never a part of one. `None`: closed and
    /// empty.
    pub async fn take(&self) -> Option<Vec<Job>> {
        let mut from = self.from.lock().await;
        let first = match from.next.take() {
            Some(job) => job,
            None => from.jobs.recv().await?,
        };
        let (mut items, mut bytes, mut jobs) = (first.items(), first.bytes(), vec![first]);
        while let Ok(job) = from.jobs.try_recv() {
            if !group::fits(items, job.items(), ITEMS) || !group::fits(bytes, job.bytes(), BYTES) {
                from.next = Some(job);
                break;
            }
            (items, bytes) = (items + job.items(), bytes + job.bytes());
            jobs.push(job);
        }
        Some(jobs)
    }

    /// Nothing more comes in; what is waiting is still worked off.
    pub fn close(&self) {
        self.into.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
    }
}
