//! The store's threads: two writers, the readers, the checkpoints. They end when their queues are closed and empty.

use std::io;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use super::checkpoint::Wal;
use super::inbox::Inbox;
use super::job::{InboxJob, WorkJob};
use super::queue::Queue;
use super::reader::{ReadJob, Reader};
use super::work::Work;
use super::writer::{self, Failure, Writer as _};

/// Jobs that a reader takes at once: one, so that the others find the rest.
const READ_AT_ONCE: usize = 1;

pub fn inbox(queue: Arc<Queue<InboxJob>>, mut inbox: Inbox, wal: Arc<Wal>) -> io::Result<JoinHandle<()>> {
    watched("hookonce-inbox", inbox.failure().clone(), move || {
        while let Some(jobs) = queue.take(Inbox::choose) {
            writer::group(&mut inbox, jobs);
            wal.between_groups(&inbox.conn);
        }
        wal.at_the_end(&inbox.conn);
    })
}

pub fn work(queue: Arc<Queue<WorkJob>>, mut work: Work, wal: Arc<Wal>) -> io::Result<JoinHandle<()>> {
    watched("hookonce-work", work.failure().clone(), move || {
        while let Some(jobs) = queue.take(Work::choose) {
            writer::group(&mut work, jobs);
            wal.between_groups(&work.conn);
        }
        wal.at_the_end(&work.conn);
    })
}

pub fn reader(name: &str, queue: Arc<Queue<ReadJob>>, reader: Reader, failure: Failure) -> io::Result<JoinHandle<()>> {
    watched(name, failure, move || {
        while let Some(jobs) = queue.take(|waiting| waiting.drain(..READ_AT_ONCE).collect()) {
            jobs.into_iter().for_each(|job| reader.answer(job));
        }
    })
}

/// A thread that panics takes the store's word with it: nothing is answered `Ok` by a store with a hole in it.
pub fn watched(name: &str, failure: Failure, run: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    let guard = Guard { failure, done: false };
    Builder::new().name(name.to_owned()).spawn(move || {
        let mut guard = guard;
        run();
        guard.done = true;
    })
}

struct Guard {
    failure: Failure,
    done: bool,
}

impl Drop for Guard {
    fn drop(&mut self) {
        if !self.done {
            self.failure.set("a thread of the store panicked");
        }
    }
}
