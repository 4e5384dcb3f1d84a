//! Where the router begins to read the queue of arrivals, where several writers number the events.
//!
//! Numbers are drawn before the commit, so they become visible out of order, and some never do. What is read is deleted,
//! but somebody's old snapshot keeps the deleted rows, and each pass would walk over them from the beginning.

use std::collections::{BTreeSet, VecDeque};

use crate::event::EventNo;
use crate::time::{Micros, SECOND};

/// No admission lives as long as this after it has drawn its number: its locks and statements are given up before.
pub const LATEST: Micros = 10 * SECOND;
/// How often everything is read all the same: the net below whoever did live longer.
pub const NET: Micros = SECOND;
/// Between two looks at the last number drawn.
const APART: Micros = SECOND / 10;

/// The memory of one router. A hint, never a promise: an event that commits late is found by it, only later where its
/// transaction lived too long.
///
/// It trails by time, not by a count of numbers: behind a slow commit any count of newer ones may already be answered,
/// and who begins above it would give them their places first.
#[derive(Clone, Debug, Default)]
pub struct Hint {
    /// Whatever is at or below it was seen, or was drawn so long ago that it does not come any more.
    low: EventNo,
    /// Above `low`.
    seen: BTreeSet<EventNo>,
    /// The last number drawn at some instants, oldest first.
    drawn: VecDeque<(Micros, EventNo)>,
    /// When everything was read.
    all: Option<Micros>,
}

impl Hint {
    /// Events above this are read now.
    pub fn above(&mut self, now: Micros) -> EventNo {
        // A clock that was put back is no reason to wait for it.
        let fresh = self.all.is_some_and(|at| (at..at.saturating_add(NET)).contains(&now));
        if !fresh {
            self.all = Some(now);
            return EventNo::MIN;
        }
        self.low
    }

    /// A committed pass went over these.
    pub fn passed(&mut self, events: impl IntoIterator<Item = EventNo>) {
        let low = self.low;
        self.seen.extend(events.into_iter().filter(|event| *event > low));
        self.rise(low);
    }

    /// `last` was the newest number drawn at `now`, whether or not its admission has ended.
    pub fn drawn(&mut self, now: Micros, last: EventNo) {
        while let Some((_, over)) = self.drawn.pop_front_if(|(at, _)| at.saturating_add(LATEST) <= now) {
            self.rise(over);
        }
        if self.drawn.back().is_none_or(|(at, _)| *at > now || at.saturating_add(APART) <= now) {
            self.drawn.push_back((now, last));
        }
    }

    fn rise(&mut self, to: EventNo) {
        if to > self.low {
            self.low = to;
            self.seen = self.seen.split_off(&to.saturating_add(1));
        }
        while self.seen.remove(&self.low.saturating_add(1)) {
            self.low += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything was read at 0 and the last number drawn was 0.
    fn hint() -> Hint {
        let mut hint = Hint::default();
        assert_eq!(hint.above(0), EventNo::MIN);
        hint.drawn(0, 0);
        hint
    }

    #[test]
    fn what_was_seen_without_a_gap_is_not_read_again() {
        let mut hint = hint();
        hint.passed([2, 1, 3, 5]);
        assert_eq!(hint.above(1), 3);
        hint.passed([4]);
        assert_eq!(hint.above(2), 5);
    }

    #[test]
    fn a_late_commit_is_waited_for_however_many_come_before_it() {
        let mut hint = hint();
        hint.passed(2..=50_000);
        hint.drawn(1, 50_000);
        hint.drawn(LATEST - 1, 60_000);
        assert!(hint.above(NET - 1) < 1);
        hint.passed([1]);
        assert_eq!(hint.above(NET - 1), 50_000);
    }

    #[test]
    fn a_number_that_nobody_used_is_given_up_when_its_time_is_over() {
        let mut hint = hint();
        hint.passed([2, 3]);
        hint.drawn(APART, 5);
        hint.all = Some(LATEST);
        hint.drawn(LATEST + APART - 1, 9);
        assert_eq!(hint.above(LATEST), 0);
        hint.drawn(LATEST + APART, 9);
        assert_eq!(hint.above(LATEST), 5);
        hint.passed([6]);
        assert_eq!(hint.above(LATEST), 6);
    }

    #[test]
    fn everything_is_read_once_in_a_while_and_when_the_clock_is_put_back() {
        let mut hint = hint();
        hint.passed([1]);
        assert_eq!((hint.above(NET - 1), hint.above(NET), hint.above(NET + 1)), (1, EventNo::MIN, 1));
        assert_eq!((hint.above(5), hint.above(6)), (EventNo::MIN, 1));
    }
}
