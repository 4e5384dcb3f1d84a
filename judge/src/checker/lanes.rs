//! Lanes at rest: invariant 5 (one runnable head, never none) and the order of endings of invariant 6.

use std::collections::{BTreeMap, HashMap};

use super::{Case, Findings};
use crate::dump::{Delivery, Dump};

pub(super) fn check(case: &Case<'_>, f: &mut Findings) {
    let heads = heads(case.dump);
    let mut lanes: BTreeMap<i64, Vec<&Delivery>> = BTreeMap::new();
    for d in &case.dump.work.deliveries {
        match d.lane {
            0 => {}
            1.. => alone(d, &heads, f),
            _ => lanes.entry(d.lane).or_default().push(d),
        }
    }
    for (lane, mut deliveries) in lanes {
        deliveries.sort_by_key(|d| d.seq);
        one_head(lane, &deliveries, &heads, case.dump.work.checks.contains(&lane), f);
        in_order(lane, &deliveries, f);
    }
}

/// Rows in `work` and `halted` by delivery id: what makes a delivery the head of its lane.
fn heads(dump: &Dump) -> HashMap<i64, usize> {
    let mut heads = HashMap::new();
    let ids = dump.work.work.iter().map(|w| w.id).chain(dump.work.halted.iter().map(|h| h.id));
    ids.for_each(|id| *heads.entry(id).or_default() += 1);
    heads
}

fn alone(d: &Delivery, heads: &HashMap<i64, usize>, f: &mut Findings) {
    let rows = heads.get(&d.id).copied().unwrap_or(0);
    if d.open && rows != 1 {
        f.broken(5, format!("the open delivery {} has {rows} work or halted rows instead of one", d.id));
    }
}

fn one_head(lane: i64, deliveries: &[&Delivery], heads: &HashMap<i64, usize>, asked: bool, f: &mut Findings) {
    let mut open = deliveries.iter().filter(|d| d.open);
    let Some(head) = open.next() else { return };
    let rows = |d: &Delivery| heads.get(&d.id).copied().unwrap_or(0);
    // The router was asked to look whether it needs one.
    if rows(head) != 1 && !(asked && rows(head) == 0) {
        f.broken(5, format!("lane {lane} stands still: its head {} has {} work or halted rows", head.id, rows(head)));
    }
    for other in open.filter(|d| rows(d) > 0) {
        f.broken(5, format!("lane {lane} has a second head: {} beside {}", other.id, head.id));
    }
}

/// Nothing ends behind something that is still open.
fn in_order(lane: i64, deliveries: &[&Delivery], f: &mut Findings) {
    let Some(first_open) = deliveries.iter().find(|d| d.open) else { return };
    for d in deliveries.iter().filter(|d| !d.open && d.seq > first_open.seq) {
        f.broken(6, format!("lane {lane}: delivery {} ended before {}, which was ahead of it", d.id, first_open.id));
    }
}
