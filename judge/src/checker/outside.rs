//! What arrived outside: invariants 3, 6, 14, 16 and 17 as the receiver sees them.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::sends::Sends;
use super::within::Within;
use super::{Case, Findings};
use crate::dump::{Delivery, Event};
use crate::history::{Arrival, Reply};
use crate::sign;

/// Arrivals by consumer and body: one event for one consumer, as it can be told from outside.
type Owed<'a> = Within<'a, Vec<&'a Arrival>>;

pub(super) fn check(case: &Case<'_>, sends: &Sends<'_>, f: &mut Findings) {
    let mut owed = Owed::default();
    for a in &case.evidence.sink {
        owed.at(&a.consumer, &a.digest).push(a);
    }
    bytes(case, sends, f);
    identities(&case.evidence.sink, f);
    for (what, arrivals) in owed.iter() {
        one_id(what, arrivals, f);
    }
    effects(case, f);
    settled(case, &owed, f);
    order(case, sends, &owed, f);
}

/// Events by (source, digest), first contents and variants alike: what may be forwarded.
fn contents<'a>(case: &Case<'a>) -> HashMap<(&'a str, &'a str), &'a Event> {
    case.dump.inbox.events.iter().filter_map(|e| Some(((e.source.as_str(), e.digest.as_deref()?), e))).collect()
}

/// Invariants 14, 3 and 17: the bytes are the sent ones, of a stored event, and of its first content.
fn bytes(case: &Case<'_>, sends: &Sends<'_>, f: &mut Findings) {
    let contents = contents(case);
    for a in &case.evidence.sink {
        let place = (a.source.as_str(), a.digest.as_str());
        if !a.signed {
            f.broken(17, format!("message `{}` arrived with a wrong signature", a.message));
        }
        if let Some(event) = contents.get(&place) {
            derived(a, event, f);
            continue;
        }
        match sends.occurrence(place.0, place.1) {
            None => f.broken(
                14,
                format!("`{}` got message `{}` with bytes that nobody validly sent", a.consumer, a.message),
            ),
            Some((source, key)) => {
                let rule = if sends.bodies(source, key) > 1 { 3 } else { 17 };
                f.broken(rule, format!("`{}` got a body of `{source}/{key}` that is no event's content", a.consumer));
            }
        }
    }
}

/// Invariant 17: the id is made of what the event is, never of a row number, a clock or chance.
fn derived(a: &Arrival, event: &Event, f: &mut Findings) {
    let due = sign::message_key(&event.namespace, &event.key_kind, &event.key, event.variant, &a.consumer);
    if a.message != due {
        f.broken(17, format!("event {} reached `{}` as `{}`; its id is `{due}`", event.id, a.consumer, a.message));
    }
}

/// Invariant 17: one message id has one content and one address.
fn identities(sink: &[Arrival], f: &mut Findings) {
    let mut known: HashMap<&str, &Arrival> = HashMap::new();
    for a in sink {
        let first = known.entry(a.message.as_str()).or_insert(a);
        if (&first.digest, &first.consumer, &first.key, &first.event) != (&a.digest, &a.consumer, &a.key, &a.event) {
            f.broken(17, format!("the message id `{}` was used for two contents", a.message));
        }
    }
}

/// Invariant 17: the same id over all retries and restarts.
fn one_id((consumer, digest): (&str, &str), arrivals: &[&Arrival], f: &mut Findings) {
    let Some(first) = arrivals.first() else { return };
    if let Some(other) = arrivals.iter().find(|a| a.message != first.message || a.key != first.key) {
        let short = digest.get(..12).unwrap_or(digest);
        f.broken(
            17,
            format!("body {short} reached `{consumer}` under the ids `{}` and `{}`", first.message, other.message),
        );
    }
}

/// Invariant 16: a receiver that recognises repeats by the id has done each event once.
fn effects(case: &Case<'_>, f: &mut Findings) {
    let mut done: HashMap<(&str, &str), u64> = HashMap::new();
    for e in &case.evidence.effects {
        *done.entry((&e.consumer, &e.digest)).or_default() += 1;
    }
    for ((consumer, digest), n) in done.into_iter().filter(|(_, n)| *n > 1) {
        f.account.doubled += 1;
        f.broken(16, format!("`{consumer}` did the event with body {} {n} times", digest.get(..12).unwrap_or(digest)));
    }
}

/// Invariants 16 and 17: recorded as succeeded ⇔ done outside, and never sent again once that was on record.
fn settled(case: &Case<'_>, owed: &Owed<'_>, f: &mut Findings) {
    let events: HashMap<i64, &Event> = case.dump.inbox.events.iter().map(|e| (e.id, e)).collect();
    let before: HashMap<i64, &Delivery> =
        case.earlier.map(|(d, _)| d.work.deliveries.iter().map(|d| (d.id, d)).collect()).unwrap_or_default();
    for d in case.dump.work.deliveries.iter().filter(|d| d.state == "succeeded") {
        let (Some(event), Some(consumer)) = (events.get(&d.event), case.dump.work.consumers.get(&d.consumer)) else {
            continue;
        };
        let Some(digest) = event.digest.as_deref() else { continue };
        let arrivals = owed.get(consumer, digest).map_or(&[][..], Vec::as_slice);
        if !arrivals.iter().any(|a| a.reply == Reply::Done) {
            f.broken(
                17,
                format!(
                    "delivery {} of event {} is recorded as succeeded, and `{consumer}` never said so",
                    d.id, d.event
                ),
            );
        }
        let Some((_, looked)) = case.earlier.filter(|_| before.get(&d.id).is_some_and(|b| b.state == "succeeded"))
        else {
            continue;
        };
        if let Some(again) = arrivals.iter().find(|a| a.at > looked) {
            f.broken(16, format!("delivery {} had succeeded and was sent again as `{}`", d.id, again.message));
        }
    }
}

/// Invariant 6 outside: in an ordered lane the next event shows up only after the one before it was taken.
fn order(case: &Case<'_>, sends: &Sends<'_>, owed: &Owed<'_>, f: &mut Findings) {
    for wants in case.expect.consumers.iter().filter(|w| w.ordered) {
        let skipped = skipped(case, &wants.name);
        let mut lanes: BTreeMap<(&str, &str), Vec<&Event>> = BTreeMap::new();
        let events = case.dump.inbox.events.iter();
        for event in events.filter(|e| wants.event(e) && e.hold_reason.is_none() && !skipped.contains(&e.id)) {
            let digest = event.digest.as_deref().unwrap_or("");
            if let Some(aggregate) = sends.of_body(&event.source, digest).find_map(|t| t.sent.aggregate.as_deref()) {
                lanes.entry((&event.source, aggregate)).or_default().push(event);
            }
        }
        for ((source, aggregate), mut lane) in lanes {
            // What no pass has met yet is behind all that one has.
            lane.sort_by_key(|e| (e.pos.is_none(), e.pos, e.id));
            let arrivals = |e: &Event| owed.get(&wants.name, e.digest.as_deref()?).map(Vec::as_slice);
            let steps: Vec<_> = lane.iter().map(|e| (e.id, arrivals(e).unwrap_or_default())).collect();
            one_lane(&format!("`{}`, `{source}` {aggregate}", wants.name), &steps, f);
        }
    }
}

/// Events that left their lane another way than by success: dead with a lane that goes on, cancelled, stale.
fn skipped(case: &Case<'_>, consumer: &str) -> HashSet<i64> {
    let name = |d: &Delivery| case.dump.work.consumers.get(&d.consumer).is_some_and(|n| n == consumer);
    let gone = case.dump.work.deliveries.iter().filter(|d| !d.open && d.state != "succeeded" && name(d));
    gone.map(|d| d.event).collect()
}

/// `steps`: the lane's events in log order, each with its arrivals.
fn one_lane(name: &str, steps: &[(i64, &[&Arrival])], f: &mut Findings) {
    for pair in steps.windows(2) {
        let [(first, ahead), (second, behind)] = pair else { continue };
        let Some(came) = behind.iter().map(|a| a.at).min() else { continue };
        let taken = ahead.iter().filter(|a| a.reply == Reply::Done).map(|a| a.at).min();
        if taken.is_none_or(|t| came < t) {
            f.broken(6, format!("{name}: event {second} was sent before event {first} was taken"));
        }
    }
}
