//! Every admitted event against the deliveries that it owes: invariants 4 and 20.

use std::collections::{HashMap, HashSet};

use super::{Case, Findings, Wants};
use crate::dump::{Dump, Event};

pub(super) fn check(case: &Case<'_>, f: &mut Findings) {
    let work = &case.dump.work;
    let routed = work.routed();
    let ids: HashMap<&str, i64> = work.consumers.iter().map(|(id, name)| (name.as_str(), *id)).collect();
    let owed = owed(case.dump);
    unique(case.dump, routed, f);
    let held: HashSet<i64> = work.holds.iter().map(|h| h.event).collect();
    let mut matched = HashSet::new();
    for wants in &case.expect.consumers {
        let Some(id) = ids.get(wants.name.as_str()).copied() else {
            if routed > 0 {
                f.broken(4, format!("the consumer `{}` is configured and unknown to the store", wants.name));
            }
            continue;
        };
        let mut matching = 0_usize;
        for event in case.dump.inbox.events.iter().filter(|e| e.routed(routed) && e.hold_reason.is_none()) {
            let delivered = owed.contains(&(id, event.id));
            match (wants.event(event), delivered) {
                (true, true) => matching += 1,
                (true, false) => f.broken(
                    4,
                    format!("a pass went over event {} and left no delivery for `{}`", event.id, wants.name),
                ),
                (false, true) => f.broken(
                    4,
                    format!("`{}` has a delivery of event {}, which it does not ask for", wants.name, event.id),
                ),
                (false, false) => continue,
            }
            matched.insert(event.id);
        }
        balance(case.dump, id, wants, matching, f);
    }
    for event in case.dump.inbox.events.iter().filter(|e| e.routed(routed)) {
        if !matched.contains(&event.id) && !held.contains(&event.id) {
            f.broken(4, format!("event {} has neither a delivery nor a hold", event.id));
        }
    }
}

/// (consumer, event) pairs that have a first-generation delivery.
fn owed(dump: &Dump) -> HashSet<(i64, i64)> {
    dump.work.deliveries.iter().filter(|d| d.generation == 0).map(|d| (d.consumer, d.event)).collect()
}

/// Exactly one, and never ahead of the pass that wrote it.
fn unique(dump: &Dump, routed: i64, f: &mut Findings) {
    let mut known = HashSet::new();
    let met: HashSet<i64> = dump.inbox.events.iter().filter(|e| e.routed(routed)).map(|e| e.id).collect();
    for d in &dump.work.deliveries {
        if !known.insert((d.consumer, d.event, d.generation)) {
            f.account.doubled += 1;
            f.broken(
                4,
                format!(
                    "event {} has two deliveries of generation {} for consumer {}",
                    d.event, d.generation, d.consumer
                ),
            );
        }
        if !met.contains(&d.event) {
            f.broken(4, format!("delivery {} is of event {}, but the passes end at {routed}", d.id, d.event));
        }
    }
}

/// Invariant 20: what matched = what is in one of the nine states.
fn balance(dump: &Dump, consumer: i64, wants: &Wants, matching: usize, f: &mut Findings) {
    let mine = dump.work.deliveries.iter().filter(|d| d.consumer == consumer && d.generation == 0);
    let in_a_state = mine.filter(|d| super::endings::state(dump, d).is_some()).count();
    if in_a_state != matching {
        f.broken(
            20,
            format!("`{}` was owed {matching} events and has {in_a_state} deliveries in the nine states", wants.name),
        );
    }
}

/// What a drained store has none of.
pub(super) fn left_over(dump: &Dump) -> Vec<String> {
    let behind = dump.inbox.events.iter().filter(|e| !e.routed(dump.work.routed())).count();
    let open = dump.work.deliveries.iter().filter(|d| d.open).count();
    let mut why = Vec::new();
    if behind > 0 {
        why.push(format!("not drained: routed up to {}, {behind} events are behind", dump.work.routed()));
    }
    let asked = dump.work.requeue + dump.work.checks.len() as u64;
    if open > 0 || asked > 0 {
        why.push(format!("not drained: {open} deliveries open, {asked} requests to the router"));
    }
    why
}

impl Wants {
    pub(super) fn event(&self, event: &Event) -> bool {
        self.on.iter().any(|on| {
            let (source, kind) = on.split_once('/').unwrap_or((on, "*"));
            fits(source, &event.source) && fits(kind, &event.event_type)
        })
    }
}

fn fits(pattern: &str, text: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == text, |start| text.starts_with(start))
}
