//! When a loop looks for work: at once after a hint or a full claim, else when the next thing falls due, and at least
//! once a second whatever anybody says.

use std::time::Duration;

use hookonce_core::time::Micros;
use tokio::time::Instant;

/// The net below lost hints and other processes' work.
pub const POLL: Duration = Duration::from_secs(1);
/// After a claim that found less than it asked for, but something.
const AGAIN: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(super) struct Look {
    /// A hint, or there was more.
    pub now: bool,
    pub at: Instant,
    /// Something is due that an ordinary claim does not take: ask for suspects.
    pub quiet: bool,
    /// Suspects have been asked for since the last work was found.
    asked_quiet: bool,
}

impl Look {
    pub fn new() -> Look {
        Look { now: true, at: Instant::now(), quiet: false, asked_quiet: false }
    }

    pub fn due(&self, now: Instant) -> bool {
        self.now || self.quiet || self.at <= now
    }

    /// Not later than that.
    pub fn within(&mut self, delay: Duration) {
        self.at = self.at.min(Instant::now() + delay);
    }

    /// A claim answered: `got` of `asked` rows, and if none, what the store says is due first.
    pub fn answered(&mut self, asked: usize, quiet: bool, got: usize, due: Option<(Option<Micros>, Micros)>) {
        let now = Instant::now();
        self.at = now + POLL;
        self.now = false;
        self.quiet = false;
        if got > 0 {
            self.asked_quiet = false;
            self.now = got >= asked && !quiet;
            self.at = now + AGAIN;
            return;
        }
        match due {
            // Due and not had: a suspect, or it fell due just after the claim. Both are asked for once, then we wait.
            Some((Some(at), store_now)) if at <= store_now => {
                if quiet {
                    self.now = true;
                } else if !self.asked_quiet {
                    self.quiet = true;
                    self.asked_quiet = true;
                } else {
                    self.asked_quiet = false;
                }
            }
            Some((Some(at), store_now)) => {
                self.asked_quiet = false;
                let ahead = u64::try_from(at.saturating_sub(store_now)).unwrap_or(0);
                self.at = now + Duration::from_micros(ahead).min(POLL);
            }
            _ => self.asked_quiet = false,
        }
    }
}
