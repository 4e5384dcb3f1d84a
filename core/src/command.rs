//! What a person decides. Each is one audit row, in the transaction of what it changes.

use crate::delivery::HaltKind;

/// A command on the work file, or on the inbox file where it says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// A dead letter is tried again, from the beginning of its patience.
    DeadRetry {
        delivery: i64,
    },
    HeldRelease {
        event: i64,
    },
    HeldDrop {
        event: i64,
    },
    /// Inbox file.
    UnmappedDrop {
        id: i64,
    },
    ConsumerPause {
        consumer: i64,
    },
    ConsumerResume {
        consumer: i64,
    },
}

/// Who and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Who {
    pub actor: String,
    pub reason: String,
}

/// Why a command changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    NotFound,
    /// It is not in the state that the command is for (already decided, not dead).
    State,
}

impl Command {
    pub fn name(&self) -> &'static str {
        match self {
            Command::DeadRetry { .. } => "dead.retry",
            Command::HeldRelease { .. } => "held.release",
            Command::HeldDrop { .. } => "held.drop",
            Command::UnmappedDrop { .. } => "unmapped.drop",
            Command::ConsumerPause { .. } => "consumer.pause",
            Command::ConsumerResume { .. } => "consumer.resume",
        }
    }
}

/// How a dead letter comes back: what holds its lane is retried in place, what does not goes through the router to
/// the tail (`engine.md` section 3, "In place").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Back {
    InPlace,
    Tail,
}

/// Judges the halted row that a retry met.
pub fn retry(kind: Option<HaltKind>, open: bool) -> Result<Back, Refused> {
    match kind {
        None => Err(Refused::NotFound),
        Some(HaltKind::Dead) if open => Ok(Back::InPlace),
        Some(HaltKind::Dead) => Ok(Back::Tail),
        Some(_) => Err(Refused::State),
    }
}

/// Judges the hold row that a release or a drop met: `decided` is what somebody said before.
pub fn hold(found: Option<Option<bool>>) -> Result<(), Refused> {
    match found {
        None => Err(Refused::NotFound),
        Some(Some(_)) => Err(Refused::State),
        Some(None) => Ok(()),
    }
}
