//! The two files together: the work file is never ahead of the inbox file, and both are of one store.

use std::collections::HashSet;

use super::{Case, Findings, Rule};

/// Settings that both files hold and that must be equal.
const SHARED: [&str; 2] = ["store_id", "generation"];

pub(super) fn check(case: &Case<'_>, f: &mut Findings) {
    let (inbox, work) = (&case.dump.inbox, &case.dump.work);
    case.dump.damage.iter().for_each(|d| f.add(Rule::Integrity, d.clone()));
    for name in SHARED {
        match (inbox.settings.get(name), work.settings.get(name)) {
            (Some(a), Some(b)) if a == b => {}
            // Killed before it was given a name: then there is nothing in it either.
            (None, None) if inbox.events.is_empty() && work.deliveries.is_empty() => {}
            (a, b) => {
                f.add(Rule::Pair, format!("the setting `{name}` is {a:?} in the inbox file and {b:?} in the work file"))
            }
        }
    }
    let counter = inbox.counter().unwrap_or(0);
    if work.routed() > counter {
        f.add(Rule::Pair, format!("the last pass is at {} and the inbox has only given out {counter}", work.routed()));
    }
    let known: HashSet<i64> = inbox.events.iter().map(|e| e.id).collect();
    if let Some(last) = known.iter().max().filter(|id| **id > counter) {
        f.add(Rule::Pair, format!("event {last} is above the inbox counter {counter}"));
    }
    for d in work.deliveries.iter().filter(|d| !known.contains(&d.event)) {
        f.add(Rule::Pair, format!("delivery {} is of event {}, which is not in the inbox file", d.id, d.event));
    }
}
