//! One clock for all evidence of a run: microseconds that never step back, close to the time of day.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

#[derive(Debug, Clone, Copy)]
pub struct Clock {
    started: Instant,
    epoch: u64,
}

impl Clock {
    pub fn start() -> Self {
        let epoch = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_micros());
        Self { started: Instant::now(), epoch: u64::try_from(epoch).unwrap_or(u64::MAX) }
    }

    pub fn now(&self) -> u64 {
        let since = u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.epoch.saturating_add(since)
    }

    /// Seconds since 1970, for signatures that carry a time.
    pub fn seconds(&self) -> u64 {
        self.now() / 1_000_000
    }
}
