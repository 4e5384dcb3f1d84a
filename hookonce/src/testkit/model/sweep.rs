//! Housekeeping on the model: the slow audit of invariant 5, samples of refused requests, audit rows.

use hookonce_core::audit::{Entry, FIRST, link};
use hookonce_core::event::Hash;
use hookonce_core::time::Micros;

use super::rows::{InboxAudit, Rows, Sample, WorkAudit};
use super::settle::work_row;
use crate::store::{Refusals, SAMPLE_BASE, Swept};

/// The verb: lanes whose first open delivery is nobody's. It must never find one.
pub fn sweep(rows: &mut Rows, now: Micros) -> Swept {
    let headless = sweep_lanes(rows);
    for (_, seq) in &headless {
        work_row(rows, *seq, now);
    }
    Swept { headless: headless.into_iter().map(|(lane, _)| lane).collect() }
}

/// Open lanes without work or halted row at their head, with that head.
pub fn sweep_lanes(rows: &Rows) -> Vec<(i64, i64)> {
    let mut heads = std::collections::BTreeMap::new();
    for delivery in rows.delivery.values().filter(|d| d.open) {
        heads.entry(delivery.lane).or_insert(delivery.seq);
    }
    let idle = |seq: i64| !rows.work.contains_key(&seq) && !rows.halted.values().any(|h| h.seq == seq);
    heads.into_iter().filter(|(_, seq)| idle(*seq)).collect()
}

/// At a start: what an earlier process held is due at once. Its token stays, so that the claim counts it as lost.
pub fn open_due(rows: &mut Rows, now: Micros, instance: i64) {
    for work in rows.work.values_mut().filter(|w| w.owner.is_some_and(|owner| owner != instance)) {
        work.due = work.due.min(now);
    }
}

/// The verb: counts and copies of refused requests, apart from the inbox (invariant 22). How many copies a store keeps
/// is its own business.
pub fn refused(rows: &mut Rows, refusals: &Refusals) {
    for (source, reason, count) in &refusals.counts {
        let verdict = format!("refused/{reason}");
        let count = i64::try_from(*count).unwrap_or(i64::MAX);
        *rows.counters.tally.entry((source.to_string(), verdict)).or_default() += count;
    }
    for sample in &refusals.samples {
        let id = super::after(&rows.sample).max(SAMPLE_BASE + 1);
        rows.sample.put(Sample {
            id,
            source: sample.source.to_string(),
            target: sample.target.clone(),
            headers: super::headers(&sample.headers),
            body: sample.body.clone(),
            reason: sample.reason.clone(),
            received: sample.received,
        });
    }
}

pub fn audit_inbox(rows: &mut Rows, at: Micros, actor: &str, action: &str, target: &str, reason: &str) -> i64 {
    let last = rows.inbox_audit.last_key_value().map(|(_, row)| row.hash.clone());
    let entry = Entry { id: super::after(&rows.inbox_audit), at, actor, action, target, reason, detail: "" };
    let (prev, hash) = chained(last, &entry);
    let (actor, action, target, reason) = (actor.into(), action.into(), target.into(), reason.into());
    let id = entry.id;
    rows.inbox_audit.put(InboxAudit { id, at, actor, action, target, reason, detail: String::new(), prev, hash });
    id
}

pub fn audit_work(rows: &mut Rows, at: Micros, actor: &str, action: &str, target: &str, reason: &str) -> i64 {
    let last = rows.work_audit.last_key_value().map(|(_, row)| row.hash.clone());
    let entry = Entry { id: super::after(&rows.work_audit), at, actor, action, target, reason, detail: "" };
    let (prev, hash) = chained(last, &entry);
    let (actor, action, target, reason) = (actor.into(), action.into(), target.into(), reason.into());
    let id = entry.id;
    rows.work_audit.put(WorkAudit { id, at, actor, action, target, reason, detail: String::new(), prev, hash });
    id
}

/// What a row stands on, and its own hash.
fn chained(last: Option<Vec<u8>>, entry: &Entry<'_>) -> (Vec<u8>, Vec<u8>) {
    let prev: Hash = last.and_then(|hash| hash.try_into().ok()).unwrap_or(FIRST);
    (prev.to_vec(), link(&prev, entry).to_vec())
}
