//! The end of a store: its queues close, its threads finish what they have, the lock is let go.

use std::fs::File;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use super::checkpoint::Stop;
use super::job::{InboxJob, WorkJob};
use super::queue::Queue;
use super::reader::ReadJob;

/// What it takes to end the threads after what they have to do.
#[derive(Debug)]
pub struct End {
    pub stop: Stop,
    pub inbox: Arc<Queue<InboxJob>>,
    pub work: Arc<Queue<WorkJob>>,
    pub reads: [Arc<Queue<ReadJob>>; 2],
    pub threads: Mutex<Vec<JoinHandle<()>>>,
    /// The files and the lock on the store; they go with the last thread.
    pub held: Mutex<Vec<Arc<File>>>,
}

impl End {
    /// Blocks until the last group is answered and the logs are empty.
    pub fn come(&self) {
        self.stop.tell();
        self.inbox.close();
        self.work.close();
        self.reads.iter().for_each(|queue| queue.close());
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        // The writers last: what they leave is a file that nobody else has open.
        for thread in threads.into_iter().rev() {
            let _ = thread.join();
        }
        self.held.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
