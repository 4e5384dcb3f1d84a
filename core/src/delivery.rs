//! A delivery: one event owed to one consumer in one generation.

use crate::time::Micros;

/// The nine states of a delivery. Only the ended ones and `Parked` are stored; the others are read off the rows that
/// a delivery has beside it (`engine.md` section 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    Waiting,
    Ready,
    Processing,
    RetryableFailed,
    Succeeded,
    Stale,
    Parked,
    PermanentlyFailed,
    Cancelled,
}

impl State {
    pub const ALL: [State; 9] = [
        State::Waiting,
        State::Ready,
        State::Processing,
        State::RetryableFailed,
        State::Succeeded,
        State::Stale,
        State::Parked,
        State::PermanentlyFailed,
        State::Cancelled,
    ];

    pub fn name(self) -> &'static str {
        match self {
            State::Waiting => "waiting",
            State::Ready => "ready",
            State::Processing => "processing",
            State::RetryableFailed => "retryable_failed",
            State::Succeeded => "succeeded",
            State::Stale => "stale",
            State::Parked => "parked",
            State::PermanentlyFailed => "permanently_failed",
            State::Cancelled => "cancelled",
        }
    }

    pub fn parse(name: &str) -> Option<State> {
        Self::ALL.into_iter().find(|s| s.name() == name)
    }
}

/// Why a delivery is out of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HaltKind {
    Gap,
    Parked,
    Dead,
}

impl HaltKind {
    pub fn name(self) -> &'static str {
        match self {
            HaltKind::Gap => "gap",
            HaltKind::Parked => "parked",
            HaltKind::Dead => "dead",
        }
    }

    pub fn parse(name: &str) -> Option<HaltKind> {
        [HaltKind::Gap, HaltKind::Parked, HaltKind::Dead].into_iter().find(|k| k.name() == name)
    }

    /// The state a person sees.
    pub fn state(self) -> State {
        match self {
            HaltKind::Gap => State::Waiting,
            HaltKind::Parked => State::Parked,
            HaltKind::Dead => State::PermanentlyFailed,
        }
    }
}

/// What stands beside a delivery in `work`, as far as its state depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queued {
    /// A lease is on it, whether or not its time is over.
    pub leased: bool,
    pub due: Micros,
    pub attempts: i64,
}

/// The state that a person sees: what was halted is what it was halted as, what can run is told by its work row, the
/// rest is stored; an open delivery with nothing beside it waits for its turn.
pub fn state(stored: Option<State>, halted: Option<HaltKind>, work: Option<Queued>, now: Micros) -> State {
    match (halted, work) {
        (Some(kind), _) => kind.state(),
        (None, Some(work)) if work.leased && work.due > now => State::Processing,
        (None, Some(work)) if work.attempts > 0 => State::RetryableFailed,
        (None, Some(_)) => State::Ready,
        (None, None) => stored.unwrap_or(State::Waiting),
    }
}

/// How one run of a delivery came out, whoever ran it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// Again after the delay; no attempt is counted.
    Snooze(i64),
    Discard(String),
    Park(String),
    /// Try again; `after` is the least delay the other side asked for (`Retry-After`).
    Retry {
        reason: String,
        after: Option<i64>,
    },
    /// Listed as permanent, or out of patience by the other side's own word.
    Dead(String),
    /// Not tried at all (consumer paused, breaker open): back at once, nothing counted.
    Untried {
        delay: i64,
    },
    /// Tried, and the other side asked to come back after that long (`Retry-After`): said in the history, no attempt is
    /// counted. `None`: it did not say when and a person decides (410), so no time counts either.
    Deferred {
        reason: String,
        after: Option<i64>,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nine_states_as_they_are_seen() {
        let queued = |leased, due, attempts| Some(Queued { leased, due, attempts });
        for (stored, halted, work, want) in [
            (None, None, None, State::Waiting),
            (None, None, queued(false, 5, 0), State::Ready),
            (None, None, queued(true, 11, 0), State::Processing),
            (None, None, queued(true, 10, 0), State::Ready),
            (None, None, queued(false, 99, 2), State::RetryableFailed),
            (Some(State::Waiting), Some(HaltKind::Gap), None, State::Waiting),
            (Some(State::Parked), Some(HaltKind::Parked), None, State::Parked),
            (Some(State::PermanentlyFailed), Some(HaltKind::Dead), None, State::PermanentlyFailed),
            (Some(State::Succeeded), None, None, State::Succeeded),
            (Some(State::Cancelled), None, None, State::Cancelled),
        ] {
            assert_eq!(state(stored, halted, work, 10), want);
        }
    }
}
