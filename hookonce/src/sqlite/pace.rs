//! How long the inbox writer waits for a group to fill.
//!
//! A flush costs the same for one request as for sixty. While it lasts, the next requests come; when it is over, those
//! who were answered send again, and whoever is the first of them would take a flush for itself alone while all others
//! wait for it. So a writer that was busy waits a part of what a group takes, unless as many are there as were at work
//! just now. One request at a time finds nobody to wait for, and where a flush is cheap the wait is short.

use std::time::Duration;

/// Part of a group's time that the next one may wait.
const PART: u32 = 3;
/// Whatever the disk does, nothing waits longer than this: it is paid in the median.
const LONGEST: Duration = Duration::from_millis(1);
/// Of an average, in which one slow flush shall not count for much.
const WEIGHT: u32 = 8;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pace {
    /// Requests that are expected together.
    pub wanted: usize,
    pub patience: Duration,
    /// What a group takes, smoothed.
    took: Duration,
}

impl Pace {
    /// A group of `taken` requests was answered, and meanwhile `waiting` have come.
    pub fn after(&mut self, taken: usize, took: Duration, waiting: usize) {
        self.took = (self.took * (WEIGHT - 1) + took) / WEIGHT;
        self.wanted = taken + waiting;
        self.patience = if self.wanted > 1 { (self.took / PART).min(LONGEST) } else { Duration::ZERO };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn who_comes_alone_waits_for_nobody() {
        let mut pace = Pace::default();
        for _ in 0..9 {
            pace.after(1, 5 * MS, 0);
        }
        assert_eq!((pace.wanted, pace.patience), (1, Duration::ZERO));
    }

    #[test]
    fn those_at_work_are_waited_for_a_part_of_a_group_and_never_long() {
        let mut pace = Pace::default();
        for _ in 0..99 {
            pace.after(40, MS / 2, 24);
        }
        assert_eq!(pace.wanted, 64);
        assert!(pace.patience > MS / 8 && pace.patience < MS / 5, "{:?}", pace.patience);
        pace.after(40, 100 * MS, 24);
        assert_eq!(pace.patience, LONGEST);
    }
}
