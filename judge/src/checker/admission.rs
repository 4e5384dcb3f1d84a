//! What was answered against what is stored: invariants 1, 2, 3, 13, 14, 15 and 22.
//!
//! Occurrences are recognised by the bodies that were sent for them, never by the engine's own keys or hashes.

use std::collections::{HashMap, HashSet};

use super::sends::{Outcome, Sends, Told};
use super::within::Within;
use super::{Case, Findings, Rule};
use crate::dump::{Conflict, Event, Inbox};

/// The inbox by body.
struct Stored<'a> {
    /// By source and digest of the body.
    events: Within<'a, Vec<&'a Event>>,
    /// Bodies kept beside a known key, by digest.
    conflicts: HashMap<&'a str, &'a Conflict>,
    unmapped: HashSet<&'a str>,
    /// By the digest of the key.
    seen: HashMap<&'a str, i64>,
}

impl<'a> Stored<'a> {
    fn of(inbox: &'a Inbox) -> Self {
        let mut events: Within<'_, Vec<_>> = Within::default();
        for e in &inbox.events {
            if let Some(digest) = &e.digest {
                events.at(&e.source, digest).push(e);
            }
        }
        Self {
            events,
            conflicts: inbox.conflicts.iter().filter_map(|c| Some((c.digest.as_deref()?, c))).collect(),
            unmapped: inbox.unmapped.iter().map(String::as_str).collect(),
            seen: inbox.ledger.iter().map(|l| (l.digest.as_str(), l.seen)).collect(),
        }
    }

    fn events(&self, source: &str, digest: &str) -> &[&'a Event] {
        self.events.get(source, digest).map_or(&[], Vec::as_slice)
    }

    fn holds(&self, source: &str, digest: &str) -> bool {
        !self.events(source, digest).is_empty() || self.conflicts.contains_key(digest) || self.unmapped.contains(digest)
    }
}

pub(super) fn check(case: &Case<'_>, sends: &Sends<'_>, f: &mut Findings) {
    let stored = Stored::of(&case.dump.inbox);
    keys(&case.dump.inbox, f);
    for ((source, key), told) in sends.occurrences() {
        occurrence(&format!("{source}/{key}"), &told, &stored, f);
    }
    unchanged(case, f);
    origins(&case.dump.inbox, sends, f);
    refusals(sends, &stored, f);
}

/// Invariant 1 by the engine's own columns: no two events under one key, no event whose key the ledger forgot.
fn keys(inbox: &Inbox, f: &mut Findings) {
    let mut known = HashMap::new();
    let ledger: HashSet<(&str, i64)> = inbox.ledger.iter().map(|l| (l.digest.as_str(), l.event)).collect();
    for e in &inbox.events {
        if let Some(other) = known.insert((&e.namespace, &e.key_kind, &e.key, &e.variant), e.id) {
            f.account.doubled += 1;
            f.broken(1, format!("events {other} and {} have the same key in namespace `{}`", e.id, e.namespace));
        }
        if is_first(e) && !ledger.contains(&(e.ledger.as_str(), e.id)) {
            f.broken(1, format!("event {} has no ledger row that keeps its key", e.id));
        }
    }
}

/// An import or a copy is a name for an event, not a new one; a released variant has its conflict row as ledger.
fn is_first(e: &Event) -> bool {
    e.variant == 0 && !matches!(e.origin.as_str(), "import" | "copy")
}

/// One occurrence: at most one event, nothing acknowledged is missing, the first content stands.
fn occurrence(name: &str, told: &[&Told<'_>], stored: &Stored<'_>, f: &mut Findings) {
    let mut bodies: Vec<&str> = told.iter().map(|t| t.sent.digest.as_str()).collect();
    bodies.sort_unstable();
    bodies.dedup();
    let source = told.first().map_or("", |t| t.sent.source.as_str());
    let mut events: Vec<&Event> = bodies.iter().flat_map(|d| stored.events(source, d)).copied().collect();
    events.retain(|e| is_first(e));
    if let [first, second, ..] = events.as_slice() {
        f.account.doubled += 1;
        f.broken(1, format!("`{name}` became the events {} and {}", first.id, second.id));
    }
    let first = events.first().copied();
    for body in bodies {
        let of_body: Vec<_> = told.iter().filter(|t| t.sent.digest == body).copied().collect();
        if stored.holds(source, body) {
            f.account.recovered += of_body.iter().filter(|t| t.outcome == Outcome::Unknown).count() as u64;
        } else {
            missing(name, body, &of_body, first, f);
        }
        counted(name, body, &of_body, first, stored, f);
    }
    if let Some(event) = first {
        first_stands(name, event, told, f);
    }
}

/// Invariants 2 and 15: acknowledged and not there.
fn missing(name: &str, body: &str, told: &[&Told<'_>], first: Option<&Event>, f: &mut Findings) {
    let Some(ack) = told.iter().find(|t| t.acked_at().is_some()) else { return };
    f.account.lost += told.iter().filter(|t| t.acked_at().is_some()).count() as u64;
    match first {
        None => f.broken(2, format!("`{name}` was answered 2xx (send {}) and is not stored", ack.sent.n)),
        Some(e) => f.broken(
            15,
            format!(
                "`{name}` was sent with body {} (send {}), answered 2xx, and no conflict with event {} is on record",
                short(body),
                ack.sent.n,
                e.id
            ),
        ),
    }
}

/// Invariant 13 as far as it shows outside: each 2xx, `duplicate` included, stands in a count that was committed
/// before it. The other way round: nothing is counted that was not sent.
fn counted(name: &str, body: &str, told: &[&Told<'_>], first: Option<&Event>, stored: &Stored<'_>, f: &mut Findings) {
    let seen = match first.filter(|e| e.digest.as_deref() == Some(body)) {
        Some(e) => stored.seen.get(e.ledger.as_str()).copied(),
        None => stored.conflicts.get(body).map(|c| c.seen),
    };
    let Some(seen) = seen.and_then(|s| usize::try_from(s).ok()) else { return };
    let acked = told.iter().filter(|t| t.acked_at().is_some()).count();
    if seen < acked {
        f.broken(13, format!("`{name}` was answered 2xx {acked} times and is counted {seen} times"));
    }
    if seen > told.len() {
        f.broken(14, format!("`{name}` was sent {} times and is counted {seen} times", told.len()));
    }
}

/// Invariant 3: had another content been acknowledged before this one was ever sent, this one cannot be the first.
fn first_stands(name: &str, event: &Event, told: &[&Told<'_>], f: &mut Findings) {
    let mine = |t: &&&Told<'_>| Some(&t.sent.digest) == event.digest.as_ref();
    let Some(sent) = told.iter().filter(mine).map(|t| t.sent.at).min() else { return };
    let before = told.iter().filter(|t| !mine(t)).find(|t| t.acked_at().is_some_and(|at| at < sent));
    if let Some(other) = before {
        f.broken(
            3,
            format!(
                "`{name}` was acknowledged with body {} first, but event {} holds the later body",
                short(&other.sent.digest),
                event.id
            ),
        );
    }
}

/// Invariants 2 and 3 between two looks: an event that was there is there, with the same content.
fn unchanged(case: &Case<'_>, f: &mut Findings) {
    let Some((earlier, _)) = case.earlier else { return };
    let now: HashMap<i64, &Event> = case.dump.inbox.events.iter().map(|e| (e.id, e)).collect();
    for was in &earlier.inbox.events {
        match now.get(&was.id) {
            None => f.broken(2, format!("event {} was stored at the last look and is gone", was.id)),
            Some(e) if (&e.digest, &e.key, &e.source) != (&was.digest, &was.key, &was.source) => {
                f.broken(3, format!("event {} changed its content or key since the last look", was.id));
            }
            Some(_) => {}
        }
    }
}

/// Invariants 14 and 22: everything stored was validly sent, byte for byte.
fn origins(inbox: &Inbox, sends: &Sends<'_>, f: &mut Findings) {
    let events = inbox
        .events
        .iter()
        .filter_map(|e| Some((Some(e.source.as_str()), e.digest.as_deref()?, format!("event {}", e.id))));
    let conflicts = inbox.conflicts.iter().filter_map(|c| Some((None, c.digest.as_deref()?, "a conflict".to_owned())));
    let unmapped = inbox.unmapped.iter().map(|d| (None, d.as_str(), "an unmapped request".to_owned()));
    let bodies: HashMap<&str, &str> =
        sends.all.iter().map(|t| (t.sent.digest.as_str(), t.sent.source.as_str())).collect();
    for (source, digest, what) in events.chain(conflicts).chain(unmapped) {
        let source = source.or_else(|| bodies.get(digest).copied()).unwrap_or("");
        let mut sent = sends.of_body(source, digest).peekable();
        if sent.peek().is_none() {
            f.account.unexpected += 1;
            f.broken(14, format!("{what} holds body {}, which nobody sent to `{source}`", short(digest)));
        } else if !sent.any(|t| t.valid()) {
            f.account.unexpected += 1;
            f.broken(22, format!("{what} holds body {}, which was only sent forged", short(digest)));
        }
    }
}

/// A forgery is refused, and what is truly signed is not.
fn refusals(sends: &Sends<'_>, stored: &Stored<'_>, f: &mut Findings) {
    for t in &sends.all {
        let s = t.sent;
        match t.outcome {
            Outcome::Acked { .. } if !t.valid() => f.broken(22, format!("the forged send {} was answered 2xx", s.n)),
            Outcome::Refused { status } if t.valid() => {
                f.add(Rule::Answer, format!("the valid send {} was answered {status}", s.n))
            }
            _ if t.valid() && stored.unmapped.contains(s.digest.as_str()) => {
                f.add(Rule::Answer, format!("the valid send {} was set aside as unmapped", s.n));
            }
            _ => {}
        }
    }
}

fn short(digest: &str) -> &str {
    digest.get(..12).unwrap_or(digest)
}
