//! Retention: how long what is done with is kept. Bytes go first, the key of an event much later, and neither before
//! its work is finished.
//!
//! Events are looked at once in the order of their numbers, as soon as the shortest time that any source keeps is over.
//! What has to stay then is noted down with the instant of its next look, so that nothing stands in the way of the rest.

use std::collections::BTreeMap;

use crate::admit;
use crate::event::EventNo;
use crate::time::{DAY, HOUR, MINUTE, Micros};

/// Events that a step looks at for the first time, and those that it looks at again.
pub const STEP_NEW: usize = 500;
pub const STEP_AGAIN: usize = 100;
/// Requests, samples and unmapped rows that a step takes away, each.
pub const STEP_ROWS: usize = 500;
/// What is due that soon is waited for and not noted down.
pub const SOON: Micros = MINUTE;
/// What is unfinished is looked at again after as long as it is kept, at the latest after this.
const AGAIN: Micros = HOUR;
/// Samples of refused requests, whatever their source.
pub const SAMPLES: Micros = 7 * DAY;

/// How long a source's events are kept once they are done with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    pub payload: Micros,
    /// The identity, from the last copy on: what comes later under the same key is not known any more.
    pub ledger: Micros,
}

impl Default for Keep {
    fn default() -> Self {
        Keep { payload: 30 * DAY, ledger: 90 * DAY }
    }
}

/// The two things that go by age.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum What {
    Payload,
    Event,
}

impl What {
    pub const ALL: [What; 2] = [What::Payload, What::Event];

    pub fn name(self) -> &'static str {
        match self {
            What::Payload => "payload",
            What::Event => "event",
        }
    }
}

/// What each source keeps; of a source that is not listed any more the defaults hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    pub sources: BTreeMap<String, Keep>,
}

impl Retention {
    pub fn of(&self, source: &str, what: What) -> Micros {
        of(self.sources.get(source).copied().unwrap_or_default(), what)
    }

    /// Whether an event of that age can be asked about at all.
    pub fn ripe(&self, what: What, received: Micros, now: Micros) -> bool {
        let all = self.sources.values().copied().chain([Keep::default()]);
        let least = all.map(|keep| of(keep, what)).min().unwrap_or_default();
        received.saturating_add(least) <= now
    }

    /// Requests are history: they stay as long as the longest that a source keeps its bytes.
    pub fn requests(&self) -> Micros {
        let longest = self.sources.values().map(|keep| keep.payload).max();
        longest.unwrap_or_else(|| Keep::default().payload)
    }
}

fn of(keep: Keep, what: What) -> Micros {
    match what {
        What::Payload => keep.payload,
        What::Event => keep.ledger,
    }
}

/// What the inbox knows of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aged {
    pub event: EventNo,
    pub source: String,
    pub received: Micros,
    /// The last copy that came under its key, with whatever content.
    pub seen: Micros,
    /// Its bytes are there, or another event of its key: that one goes first.
    pub needed: bool,
}

/// What is known of the work on it: anything open, halted, asked for or held, and the last end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    pub open: bool,
    pub ended: Option<Micros>,
}

impl Done {
    /// Of several events that share their bytes.
    pub fn and(self, other: Done) -> Done {
        Done { open: self.open || other.open, ended: self.ended.max(other.ended) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Goes,
    /// So soon that it is worth waiting for.
    Waits,
    /// To be looked at again at that instant.
    Stays(Micros),
}

/// Mirror M6: what may go. Never what is unfinished, whatever its age.
pub fn may_go(retention: &Retention, what: What, aged: &Aged, done: Done, now: Micros) -> Verdict {
    let keep = retention.of(&aged.source, what);
    if done.open || (what == What::Event && aged.needed) {
        return Verdict::Stays(now.saturating_add(keep.clamp(1, AGAIN)));
    }
    let last = aged.received.max(done.ended.unwrap_or(aged.received));
    let last = if what == What::Event { last.max(aged.seen) } else { last };
    match last.saturating_add(keep) {
        due if due <= now => Verdict::Goes,
        due if due.saturating_sub(now) <= SOON => Verdict::Waits,
        due => Verdict::Stays(due),
    }
}

/// How high the floor of its namespace rises when an event goes: nobody can tell any more what was older than it.
pub fn floor(event_time: Option<Micros>, received: Micros) -> Option<Micros> {
    admit::believed(event_time, received)
}

/// What a walk in the order of the numbers comes to: how far it gets, what has to stay until when, what goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walked {
    pub upto: EventNo,
    pub stay: Vec<(EventNo, Micros)>,
    pub go: Vec<EventNo>,
}

/// Judges events in their order. `None`: it is no event's turn, its bytes are those of a later one as well.
pub fn walk(from: EventNo, judged: impl IntoIterator<Item = (EventNo, Option<Verdict>)>) -> Walked {
    let mut walked = Walked { upto: from, ..Walked::default() };
    for (event, verdict) in judged {
        match verdict {
            Some(Verdict::Waits) => break,
            Some(Verdict::Stays(due)) => walked.stay.push((event, due)),
            Some(Verdict::Goes) => walked.go.push(event),
            None => {}
        }
        walked.upto = event;
    }
    walked
}

/// The second look at what stayed: it goes, or it stays until then.
pub fn again(verdict: Verdict, now: Micros) -> Option<Micros> {
    match verdict {
        Verdict::Goes => None,
        Verdict::Waits => Some(now.saturating_add(SOON)),
        Verdict::Stays(due) => Some(due),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn retention() -> Retention {
        let keep = |payload, ledger| Keep { payload: payload * DAY, ledger: ledger * DAY };
        Retention { sources: [("gh".to_owned(), keep(1, 30)), ("crm".to_owned(), keep(400, 800))].into() }
    }

    fn aged(source: &str, received: i64, seen: i64, needed: bool) -> Aged {
        Aged { event: 1, source: source.into(), received: received * DAY, seen: seen * DAY, needed }
    }

    #[test]
    fn only_what_is_done_and_old_goes() {
        use Verdict::{Goes, Stays, Waits};
        use What::{Event, Payload};
        let open = Done { open: true, ended: None };
        let ended = |day: i64| Done { open: false, ended: Some(day * DAY) };
        for (what, aged, done, now, want) in [
            (Payload, aged("gh", 0, 0, true), ended(0), DAY, Goes),
            (Payload, aged("gh", 0, 0, true), ended(0), DAY - 1, Waits),
            (Payload, aged("gh", 0, 0, true), ended(3), DAY, Stays(4 * DAY)),
            (Payload, aged("gh", 0, 9, true), ended(3), 4 * DAY, Goes),
            (Payload, aged("gh", 0, 0, true), open, 99 * DAY, Stays(99 * DAY + AGAIN)),
            (Payload, aged("gone", 0, 0, true), ended(0), 30 * DAY, Goes),
            (Payload, aged("crm", 0, 0, true), ended(0), 30 * DAY, Stays(400 * DAY)),
            (Event, aged("gh", 0, 9, false), ended(3), 39 * DAY, Goes),
            (Event, aged("gh", 0, 9, false), ended(3), 30 * DAY, Stays(39 * DAY)),
            (Event, aged("gh", 0, 0, true), ended(0), 30 * DAY, Stays(30 * DAY + AGAIN)),
            (Event, aged("gh", 0, 0, false), Done::default(), 30 * DAY, Goes),
            (Event, aged("gh", 0, 0, false), open, 99 * DAY, Stays(99 * DAY + AGAIN)),
        ] {
            assert_eq!(may_go(&retention(), what, &aged, done, now), want, "{what:?} {aged:?} {done:?} at {now}");
        }
    }

    #[test]
    fn nothing_is_asked_about_before_the_shortest_time_is_over() {
        assert!(retention().ripe(What::Payload, 0, DAY) && !retention().ripe(What::Payload, 0, DAY - 1));
        assert!(!Retention::default().ripe(What::Event, 0, 90 * DAY - 1));
        assert_eq!(retention().requests(), 400 * DAY);
    }

    #[test]
    fn a_walk_stops_where_waiting_is_shorter_than_noting_down() {
        use Verdict::{Goes, Stays, Waits};
        let judged = [(3, Some(Goes)), (4, None), (6, Some(Stays(9))), (7, Some(Waits)), (8, Some(Goes))];
        assert_eq!(walk(2, judged), Walked { upto: 6, stay: vec![(6, 9)], go: vec![3] });
        assert_eq!(walk(2, []).upto, 2);
    }
}
