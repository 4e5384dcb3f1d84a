//! Where a connection stands and how long it may stay there. Written by its bytes and its requests, read by its task.
//!
//! Nothing here is a timer. A timer per request would cost more than the request's own work, so states only note when
//! they are over, and the connection keeps one timer that it moves when it must.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use futures_util::task::AtomicWaker;
use http::Version;
use tokio::time::Instant;

use crate::limits::Limits;

/// A request is being worked on: it has limits of its own.
const NEVER: u64 = u64::MAX;
/// For a peer that is asked to go and has no request open.
pub const FAREWELL: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub struct Pulse {
    born: Instant,
    head: u64,
    /// Of an open connection without a request; short once it shall leave.
    idle: AtomicU64,
    /// Microseconds after `born`.
    due: AtomicU64,
    /// The next byte begins a head.
    waiting: AtomicBool,
    /// On HTTP/2 bytes say little (pings, windows): only requests count.
    streams: AtomicBool,
    requests: AtomicU32,
    pub waker: AtomicWaker,
}

impl Pulse {
    pub fn new(limits: &Limits) -> Arc<Pulse> {
        Arc::new(Pulse {
            born: Instant::now(),
            head: micros(limits.head),
            idle: AtomicU64::new(micros(limits.idle)),
            due: AtomicU64::new(micros(limits.first_byte)),
            waiting: AtomicBool::new(true),
            streams: AtomicBool::new(false),
            requests: AtomicU32::new(0),
            waker: AtomicWaker::new(),
        })
    }

    /// Bytes came. The first of a head starts its time, the others do not renew it.
    pub fn read(&self) {
        if self.waiting.load(Relaxed) && !self.streams.load(Relaxed) {
            self.waiting.store(false, Relaxed);
            self.allow(self.head);
        }
    }

    /// A head is complete.
    pub fn begin(self: &Arc<Pulse>, version: Version) -> Busy {
        if version == Version::HTTP_2 {
            self.streams.store(true, Relaxed);
        }
        self.requests.fetch_add(1, Relaxed);
        self.waiting.store(false, Relaxed);
        self.due.store(NEVER, Relaxed);
        Busy(self.clone())
    }

    /// When its present state is over; `None`: while a request is open.
    pub fn due(&self) -> Option<Instant> {
        match self.due.load(Relaxed) {
            NEVER => None,
            due => Some(self.born + Duration::from_micros(due)),
        }
    }

    /// It shall end as soon as no request is open.
    pub fn leave(&self) {
        self.idle.store(micros(FAREWELL), Relaxed);
        if self.waiting.load(Relaxed) {
            self.allow(micros(FAREWELL));
        }
    }

    fn allow(&self, micros: u64) {
        let now = self.born.elapsed().as_micros() as u64;
        self.due.store(now.saturating_add(micros).min(NEVER - 1), Relaxed);
    }
}

fn micros(time: Duration) -> u64 {
    // A century and more: nobody configures it, and a sum with it does not overflow.
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX).min(u64::MAX / 4096)
}

/// An open request. It ends with its answer, or with the client.
#[derive(Debug)]
pub struct Busy(Arc<Pulse>);

impl Drop for Busy {
    fn drop(&mut self) {
        if self.0.requests.fetch_sub(1, Relaxed) == 1 {
            self.0.waiting.store(true, Relaxed);
            self.0.allow(self.0.idle.load(Relaxed));
        }
    }
}
