//! The invariants of `docs/INVARIANTS.md` as functions over the tables: the suite, the explorer and the mirror tests
//! ask the same ones. Each answers what it found wrong, in words; empty: it holds.
//!
//! Not here: what needs evidence from outside the store (13 and up); the judge asks that.

use std::collections::{BTreeMap, BTreeSet};

use hookonce_core::admit::{CONFLICT_BODIES, variant};
use hookonce_core::audit::{Entry, FIRST, link};
use hookonce_core::delivery::State;
use hookonce_core::route::Routing;

use super::model::Rows;
use super::model::purge::purge_facts;
use super::model::route::ids;
use super::model::rows::{Delivery, Event};

/// What a reader outside the tables knows: which definitions each configuration number stood for.
pub type Configurations = BTreeMap<i64, Routing>;

/// Every invariant that the tables alone can break.
pub fn of_rows(rows: &Rows, configurations: &Configurations) -> Vec<String> {
    let mut wrong = one_event_a_key(rows);
    wrong.extend(first_untouched(rows));
    wrong.extend(deliveries_match(rows, configurations));
    wrong.extend(released_is_delivered(rows));
    wrong.extend(one_head_a_lane(rows));
    wrong.extend(lanes_end_in_order(rows));
    wrong.extend(ended_or_parked(rows));
    wrong.extend(nothing_dangles(rows));
    wrong.extend(audit_chains(rows));
    wrong
}

/// Invariant 1: at most one event per namespace, key kind, key and variant.
pub fn one_event_a_key(rows: &Rows) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let key = |e: &Event| (e.namespace.clone(), e.key_kind.clone(), e.key.clone(), e.variant);
    let twice = rows.event.values().filter(|e| !seen.insert(key(e)));
    twice.map(|e| format!("1: event {} is a second one of `{}` variant {}", e.id, e.key_text, e.variant)).collect()
}

/// Invariant 2: what was answered 2xx is there. `answered`: the event, or for an unmapped one none, of each answer.
pub fn answered_is_kept(rows: &Rows, answered: impl IntoIterator<Item = i64>) -> Vec<String> {
    let lost = answered.into_iter().filter(|id| !rows.event.contains_key(id));
    lost.map(|id| format!("2: event {id} was answered 2xx and is not there")).collect()
}

/// Invariant 3: a known key with another fingerprint changes nothing of the first; a conflict differs, and its bodies
/// are bounded.
pub fn first_untouched(rows: &Rows) -> Vec<String> {
    let mut wrong = Vec::new();
    for event in rows.event.values().filter(|e| e.variant == 0) {
        let ledger = rows.ledger.get(&event.digest);
        let same = ledger.is_some_and(|l| {
            (l.event, l.fingerprint, l.body_hash, l.rule) == (event.id, event.fingerprint, event.body_hash, event.rule)
        });
        if !same {
            wrong.push(format!("3: the ledger row of event {} does not say what the event says", event.id));
        }
    }
    let mut bodies = BTreeMap::new();
    for conflict in rows.conflict.values() {
        *bodies.entry(conflict.digest).or_insert(0usize) += 1;
        let ledger = rows.ledger.get(&conflict.digest);
        if ledger.is_none_or(|l| l.fingerprint == conflict.fingerprint) {
            wrong.push("3: a conflict is equal to what it conflicts with".to_owned());
        }
        let released = conflict.event.and_then(|id| rows.event.get(&id));
        if conflict.event.is_some() && released.is_none_or(|e| e.variant != variant(&conflict.fingerprint)) {
            wrong.push("3: a released conflict is not the variant of its fingerprint".to_owned());
        }
    }
    wrong.extend(bodies.values().filter(|n| **n > CONFLICT_BODIES).map(|n| format!("3: {n} bodies for one key")));
    wrong
}

/// Invariant 4: exactly one delivery per event and matching consumer, written with the pass that goes over the event
/// or over its release; none before.
pub fn deliveries_match(rows: &Rows, configurations: &Configurations) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut have = BTreeMap::new();
    for d in rows.delivery.values() {
        *have.entry((d.event, d.consumer, d.generation)).or_insert(0) += 1;
    }
    wrong.extend(have.iter().filter(|(_, n)| **n > 1).map(|(key, n)| format!("4: {n} deliveries of {key:?}")));
    let want = expected(rows, configurations);
    let ours: BTreeSet<(i64, i64)> = have.keys().filter(|(.., g)| *g == 0).map(|(e, c, _)| (*e, *c)).collect();
    wrong.extend(want.difference(&ours).map(|(e, c)| format!("4: event {e} has no delivery to consumer {c}")));
    let more = ours.difference(&want).filter(|(e, _)| !may_exceed(rows, *e));
    wrong.extend(more.map(|(e, c)| format!("4: event {e} was not to be delivered to consumer {c}")));
    wrong
}

/// What the passes on record owe: to each consumer that one lists (or whose own it is) the events behind the place that
/// it had got to, as far as the pass goes and the consumer takes them. So a pass that lists one which is not there yet
/// passes events over, and shows. Trimmed passes owe nothing: this is for stores of less than a thousand of them.
fn expected(rows: &Rows, configurations: &Configurations) -> BTreeSet<(i64, i64)> {
    let mut want = BTreeSet::new();
    let mut cursors: BTreeMap<i64, i64> = BTreeMap::new();
    for pass in rows.pass.values() {
        let Some(routing) = configurations.get(&pass.config) else { continue };
        let listed = pass.own.map_or_else(|| ids(&pass.consumers), |own| vec![own]);
        for consumer in routing.consumers.iter().filter(|c| listed.contains(&c.id)) {
            let from = cursors.get(&consumer.id).copied().unwrap_or_else(|| begins(rows, consumer.id));
            let events = rows.event.range(from + 1..).map(|(_, e)| e).take_while(|e| e.id <= pass.pos);
            let owed = events.filter(|e| consumer.takes(&e.source, &e.kind) && owed(e));
            want.extend(owed.map(|e| (e.id, consumer.id)));
        }
        cursors.extend(listed.into_iter().map(|id| (id, pass.pos)));
    }
    want
}

fn begins(rows: &Rows, consumer: i64) -> i64 {
    rows.consumer.values().find(|c| c.id == consumer).map_or(0, |c| c.from_pos)
}

/// Whether a pass that goes over the event must have given it to a consumer that takes it. A held event is owed with
/// its release; whether a catching-up consumer met it before or after that is not on record.
fn owed(event: &Event) -> bool {
    !matches!(event.origin.as_str(), "copy" | "import") && event.hold_reason.is_none()
}

/// A delivery beyond what the passes owe: of a held event that was released.
fn may_exceed(rows: &Rows, event: i64) -> bool {
    rows.hold.get(&event).is_some_and(|h| h.released == Some(true))
}

/// Invariant 4 for releases: once its request is done, a released event has a delivery.
pub fn released_is_delivered(rows: &Rows) -> Vec<String> {
    let released = rows.hold.values().filter(|h| h.released == Some(true));
    let waiting = |event: i64| rows.requeue.values().any(|r| r.kind == "release" && r.event == event);
    let delivered = |event: i64| rows.delivery.values().any(|d| d.event == event);
    let wrong = released.filter(|h| !waiting(h.event) && !delivered(h.event));
    wrong.map(|h| format!("4: event {} was released and is delivered to nobody", h.event)).collect()
}

/// Invariant 5: an unfinished lane has exactly one work row, at its head, unless the head is halted and holds it.
pub fn one_head_a_lane(rows: &Rows) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut heads: BTreeMap<i64, &Delivery> = BTreeMap::new();
    for delivery in rows.delivery.values().filter(|d| d.open) {
        heads.entry(delivery.lane).or_insert(delivery);
    }
    for (lane, head) in &heads {
        let halted = rows.halted.values().filter(|h| h.seq == head.seq).count();
        let work = usize::from(rows.work.contains_key(&head.seq));
        if halted + work != 1 {
            wrong.push(format!("5: head {} of lane {lane} has {work} work and {halted} halted rows", head.seq));
        }
    }
    let stray = rows.work.values().filter(|w| heads.get(&w.lane).is_none_or(|head| head.seq != w.seq));
    wrong.extend(stray.map(|w| format!("5: work row {} is not the head of lane {}", w.seq, w.lane)));
    wrong
}

/// Invariant 6: in a lane nothing has ended behind what is still open.
pub fn lanes_end_in_order(rows: &Rows) -> Vec<String> {
    let mut open = BTreeMap::new();
    let mut wrong = Vec::new();
    for d in rows.delivery.values() {
        if d.open {
            open.entry(d.lane).or_insert(d.seq);
        } else if let Some(before) = open.get(&d.lane) {
            wrong.push(format!("6: delivery {} ended before {before} of the same lane", d.seq));
        }
    }
    wrong
}

/// Invariant 8: a delivery that occupies no lane any more is final, or halted and waits for somebody.
pub fn ended_or_parked(rows: &Rows) -> Vec<String> {
    let mut wrong = Vec::new();
    for d in rows.delivery.values() {
        let halted = rows.halted.values().any(|h| h.seq == d.seq);
        let state = d.state.as_deref().and_then(State::parse);
        let ended = matches!(state, Some(State::Succeeded | State::Stale | State::Cancelled));
        if (!d.open && !ended && !halted) || (d.open && ended) || (ended && halted) {
            wrong.push(format!("8: delivery {} is open {}, halted {halted}, {state:?}", d.seq, d.open));
        }
    }
    wrong
}

/// Invariant 21, as far as it is built: each audit row stands on the one before.
pub fn audit_chains(rows: &Rows) -> Vec<String> {
    let inbox = rows.inbox_audit.values();
    let inbox =
        inbox.map(|r| (entry(r.id, r.at, [&r.actor, &r.action, &r.target, &r.reason, &r.detail]), &r.prev, &r.hash));
    let work = rows.work_audit.values();
    let work =
        work.map(|r| (entry(r.id, r.at, [&r.actor, &r.action, &r.target, &r.reason, &r.detail]), &r.prev, &r.hash));
    chain(inbox).or_else(|| chain(work)).into_iter().collect()
}

fn entry(id: i64, at: i64, [actor, action, target, reason, detail]: [&str; 5]) -> Entry<'_> {
    Entry { id, at, actor, action, target, reason, detail }
}

fn chain<'r>(rows: impl Iterator<Item = (Entry<'r>, &'r Vec<u8>, &'r Vec<u8>)>) -> Option<String> {
    let mut last = FIRST;
    for (entry, prev, hash) in rows {
        let own = link(&last, &entry);
        if prev[..] != last || hash[..] != own {
            return Some(format!("21: audit row {} does not stand on the one before", entry.id));
        }
        last = own;
    }
    None
}

/// Invariants 7 and 9 over a step: epochs grow, what is final changes only by a recorded command.
pub fn of_step(before: &Rows, after: &Rows) -> Vec<String> {
    let mut wrong = Vec::new();
    for (seq, work) in before.work.iter() {
        if after.work.get(seq).is_some_and(|w| w.epoch < work.epoch) {
            wrong.push(format!("7: the epoch of {seq} fell"));
        }
    }
    for d in before.delivery.values().filter(|d| is_final(d)) {
        let now = after.delivery.values().find(|a| a.id == d.id);
        let event_gone = now.is_none() && !after.event.contains_key(&d.event);
        let recorded = now.and_then(|a| a.decided).is_some_and(|id| after.work_audit.contains_key(&id));
        if now != Some(d) && !recorded && !event_gone {
            wrong.push(format!("9: delivery {} was final and changed without a command", d.id));
        }
    }
    for e in before.event.values().filter(|e| after.event.get(&e.id).is_some_and(|now| now != *e)) {
        wrong.push(format!("3: event {} was changed", e.id));
    }
    wrong.extend(gone_is_done(before, after));
    wrong
}

/// Invariants 12 and 28 over a step: bytes go only when all work on them is done, an event only behind its bytes, and
/// nothing is left that names one that is gone.
fn gone_is_done(before: &Rows, after: &Rows) -> Vec<String> {
    let mut wrong = Vec::new();
    let unfinished = |id: i64| purge_facts(before, id).open;
    let bytes = before.event.values().filter(|e| before.payload.contains_key(&e.payload));
    let bytes = bytes.filter(|e| !after.payload.contains_key(&e.payload) && unfinished(e.id));
    wrong.extend(bytes.map(|e| format!("12: the bytes of event {} went before its work was done", e.id)));
    for e in before.event.values().filter(|e| !after.event.contains_key(&e.id)) {
        if unfinished(e.id) || before.payload.contains_key(&e.payload) {
            wrong.push(format!("12: event {} went before its work or its bytes", e.id));
        }
    }
    wrong
}

/// Nothing names an event that is not there.
fn nothing_dangles(rows: &Rows) -> Vec<String> {
    let named = (rows.delivery.values().map(|d| ("delivery", d.event)))
        .chain(rows.work.values().map(|w| ("work", w.event)))
        .chain(rows.halted.values().map(|h| ("halted", h.event)))
        .chain(rows.hold.values().map(|h| ("hold", h.event)))
        .chain(rows.requeue.values().map(|r| ("requeue", r.event)))
        .chain(rows.keep.values().map(|k| ("keep", k.event)))
        .chain(rows.ledger.values().map(|l| ("ledger", l.event)))
        .chain(rows.request.values().filter_map(|r| Some(("request", r.event?))))
        .chain(rows.conflict.values().filter_map(|c| Some(("conflict", c.event?))));
    let dangling = named.filter(|(_, event)| !rows.event.contains_key(event));
    let mut wrong: Vec<String> =
        dangling.map(|(table, event)| format!("12: {table} names event {event}, which is gone")).collect();
    let deliveries: BTreeSet<i64> = rows.delivery.values().map(|d| d.id).collect();
    let attempts = rows.attempt.values().filter(|a| !deliveries.contains(&a.delivery));
    wrong.extend(attempts.map(|a| format!("12: an attempt names delivery {}, which is gone", a.delivery)));
    wrong
}

fn is_final(delivery: &Delivery) -> bool {
    let state = delivery.state.as_deref().and_then(State::parse);
    matches!(state, Some(State::Succeeded | State::Stale | State::Cancelled | State::PermanentlyFailed))
}
