//! What a person decides. Each is one audit row, in the transaction of what it changes.

use crate::consumer::Standing;
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

/// Characters of a name or a reason: an audit is read by people.
pub const SAID_MAX: usize = 1_000;

/// What a decision lacks before it is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unsaid {
    #[error("`actor` must name who decides")]
    Actor,
    #[error("`reason` must say why: it stands in the audit")]
    Reason,
    #[error("`{0}` has more than {SAID_MAX} characters")]
    TooLong(&'static str),
}

impl Who {
    /// Nothing is decided without a name and a reason (S34).
    pub fn new(actor: &str, reason: &str) -> Result<Who, Unsaid> {
        let (actor, reason) = (actor.trim(), reason.trim());
        let long = [("actor", actor), ("reason", reason)].into_iter().find(|(_, text)| text.chars().count() > SAID_MAX);
        match long {
            _ if actor.is_empty() => Err(Unsaid::Actor),
            _ if reason.is_empty() => Err(Unsaid::Reason),
            Some((name, _)) => Err(Unsaid::TooLong(name)),
            None => Ok(Who { actor: actor.into(), reason: reason.into() }),
        }
    }
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

/// Judges a pause or a resume: what the consumer then is. Being listed or not is the configuration's to say.
pub fn stand(found: Option<Standing>, paused: bool) -> Result<Standing, Refused> {
    match found {
        None => Err(Refused::NotFound),
        Some(from) if from.paused == paused => Err(Refused::State),
        Some(from) => Ok(Standing { paused, ..from }),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_decided_without_a_name_and_a_reason() {
        let long = "x".repeat(SAID_MAX + 1);
        for (actor, reason, want) in [
            ("ann", "mended", Ok(("ann", "mended"))),
            (" ann ", " why \n", Ok(("ann", "why"))),
            ("ann", &long[1..], Ok(("ann", &long[1..]))),
            ("", "why", Err(Unsaid::Actor)),
            (" \t", "why", Err(Unsaid::Actor)),
            ("ann", "", Err(Unsaid::Reason)),
            ("ann", " \u{a0}\n", Err(Unsaid::Reason)),
            (&long, "why", Err(Unsaid::TooLong("actor"))),
            ("ann", &long, Err(Unsaid::TooLong("reason"))),
        ] {
            let want = want.map(|(actor, reason)| Who { actor: actor.into(), reason: reason.into() });
            assert_eq!(Who::new(actor, reason), want);
        }
    }
}
