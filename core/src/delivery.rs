//! A delivery: one event owed to one consumer in one generation.

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

/// How one run of a delivery came out, whoever ran it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// Again after the delay; no attempt is counted.
    Snooze(i64),
    Discard(String),
    Park(String),
    /// Try again; `after` is the least delay the other side asked for (`Retry-After`).
    Retry { reason: String, after: Option<i64> },
    /// Listed as permanent, or out of patience by the other side's own word.
    Dead(String),
    /// Not tried at all (consumer paused, breaker open): back at once, nothing counted.
    Untried { delay: i64 },
    /// Tried, and the other side asked to come back after that long (`Retry-After`): said in the history, not counted.
    Deferred { reason: String, after: i64 },
}
