//! Cleaning on the model: one step in one go.

use hookonce_core::consumer::Standing;
use hookonce_core::event::EventNo;
use hookonce_core::retain::{
    self, Aged, Done, Retention, SAMPLES, STEP_AGAIN, STEP_NEW, STEP_ROWS, Verdict, Walked, What,
};
use hookonce_core::time::Micros;

use super::route::route_cursor;
use super::rows::{Event, Keep, Namespace, Rows};
use crate::store::Purged;

/// The verb.
pub fn purge(rows: &mut Rows, retention: &Retention, now: Micros) -> Purged {
    let (bound, mut purged) = (bound(rows), Purged::default());
    // Both are judged before anything goes: a body that goes now keeps its event until the next step.
    let said = What::ALL.map(|what| purge_say(rows, retention, what, bound, now));
    for (what, (walked, again)) in What::ALL.into_iter().zip(said) {
        purged.more |= walked.1 || again.1;
        let going = [walked.0.go, again.0].concat();
        match what {
            What::Payload => purged.payloads = going.into_iter().map(|event| purge_payload(rows, event)).sum(),
            What::Event => {
                purged.events = going.len();
                going.into_iter().for_each(|event| purge_event(rows, event));
            }
        }
        rows.counters.purged[at(what)] = walked.0.upto;
    }
    purged.more |= purge_aged(rows, retention, now);
    purged
}

fn at(what: What) -> usize {
    usize::from(what == What::Event)
}

/// How far everybody who is listed has read.
fn bound(rows: &Rows) -> EventNo {
    let main = rows.pass.values().rev().find(|p| p.own.is_none()).map_or(0, |p| p.pos);
    let listed = |state: &str| Standing::parse(state).is_some_and(|standing| standing.listed);
    let listed = super::definitions(rows).into_values().filter(|c| listed(&c.state)).map(|c| c.id);
    listed.map(|id| route_cursor(rows, id)).chain([main]).min().unwrap_or(0)
}

type Said = ((Walked, bool), (Vec<EventNo>, bool));

/// What goes of the new ones and of those that were kept, each with whether there may be more.
fn purge_say(rows: &mut Rows, retention: &Retention, what: What, bound: EventNo, now: Micros) -> Said {
    let from = rows.counters.purged[at(what)];
    let to = if what == What::Event { rows.counters.purged[0] } else { EventNo::MAX };
    let stretch = rows.event.range(from + 1..=to.max(from + 1)).map(|(_, e)| e).filter(|e| e.id <= to);
    let ripe = stretch.take(STEP_NEW).take_while(|e| retention.ripe(what, e.received, now));
    let new: Vec<&Event> = ripe.collect();
    let judge = |e: &Event| is_last(rows, what, e).then(|| judged(rows, retention, what, e, now));
    let walked = retain::walk(from, new.iter().filter(|e| e.id <= bound).map(|e| (e.id, judge(e))));
    let due = rows.keep.values().filter(|k| k.what == what.name());
    let mut due: Vec<(Micros, EventNo)> = due.filter_map(|k| Some((k.due?, k.event))).collect();
    due.retain(|(due, _)| *due <= now);
    due.sort_unstable();
    due.truncate(STEP_AGAIN);
    let again = due.iter().filter(|(_, id)| *id <= bound).filter_map(|(_, id)| rows.event.get(id));
    let again: Vec<_> = again.map(|e| (e.id, retain::again(judged(rows, retention, what, e, now), now))).collect();
    let full = (new.len() == STEP_NEW, due.len() == STEP_AGAIN);
    for (event, due) in &walked.stay {
        rows.keep.put(Keep { event: *event, what: what.name().into(), due: Some(*due) });
    }
    let mut go = Vec::new();
    for (event, due) in again {
        match due {
            Some(_) => rows.keep.put(Keep { event, what: what.name().into(), due }),
            None => {
                rows.keep.remove(&(event, what.name().into()));
                go.push(event);
            }
        }
    }
    ((walked, full.0), (go, full.1))
}

/// The last of those that share their bytes decides about these.
fn is_last(rows: &Rows, what: What, event: &Event) -> bool {
    what == What::Event || parts(rows, event).last() == Some(&event.id)
}

fn parts(rows: &Rows, event: &Event) -> Vec<EventNo> {
    rows.event.values().filter(|e| e.payload == event.payload).map(|e| e.id).collect()
}

fn judged(rows: &Rows, retention: &Retention, what: What, event: &Event, now: Micros) -> Verdict {
    let aged = aged(rows, event);
    let done = match what {
        What::Event => purge_facts(rows, event.id),
        What::Payload => {
            let undecided = rows.unmapped.values().any(|u| u.payload == event.payload && u.decided.is_none());
            let all = parts(rows, event).into_iter().map(|id| purge_facts(rows, id));
            all.fold(Done { open: undecided, ended: None }, Done::and)
        }
    };
    retain::may_go(retention, what, &aged, done, now)
}

fn aged(rows: &Rows, event: &Event) -> Aged {
    let conflicts = || rows.conflict.values().filter(|c| c.digest == event.digest);
    let ledger = rows.ledger.get(&event.digest).map(|l| l.last_seen);
    let seen = conflicts().map(|c| c.last_seen).chain(ledger).chain([event.received]).max();
    let variants = event.variant == 0 && conflicts().any(|c| c.event.is_some());
    Aged {
        event: event.id,
        source: event.source.clone(),
        received: event.received,
        seen: seen.unwrap_or(event.received),
        needed: rows.payload.contains_key(&event.payload) || variants,
    }
}

/// Mirror M6: what is open, halted, asked for or held, and the last end.
pub fn purge_facts(rows: &Rows, event: EventNo) -> Done {
    let of = || rows.delivery.values().filter(|d| d.event == event);
    let busy = of().any(|d| d.open || rows.halted.contains_key(&d.id));
    let held = rows.hold.get(&event).is_some_and(|h| h.released.is_none());
    let asked = rows.requeue.values().any(|r| r.event == event);
    Done { open: busy || held || asked, ended: of().filter_map(|d| d.ended).max() }
}

fn purge_payload(rows: &mut Rows, event: EventNo) -> usize {
    let payload = rows.event.get(&event).map(|e| e.payload);
    usize::from(payload.is_some_and(|id| rows.payload.remove(&id).is_some()))
}

fn purge_event(rows: &mut Rows, id: EventNo) {
    let Some(event) = rows.event.remove(&id) else { return };
    if let Some(floor) = retain::floor(event.event_time, event.received) {
        let before = rows.namespace.get(&event.namespace).and_then(|n| n.floor);
        rows.namespace.put(Namespace { name: event.namespace, floor: before.max(Some(floor)) });
    }
    let own = |digest: &[u8; 16]| event.variant == 0 && *digest == event.digest || Some(*digest) == event.guard;
    rows.ledger.retain(|digest, l| !(l.event == id && own(digest)));
    rows.conflict.retain(|(digest, _), c| *digest != event.digest || (event.variant != 0 && c.event != Some(id)));
    rows.request.retain(|_, r| r.event != Some(id));
    let gone: Vec<i64> = rows.delivery.values().filter(|d| d.event == id).map(|d| d.id).collect();
    rows.attempt.retain(|(delivery, _), _| !gone.contains(delivery));
    rows.delivery.retain(|_, d| d.event != id);
    rows.hold.remove(&id);
}

/// What goes by its age alone.
fn purge_aged(rows: &mut Rows, retention: &Retention, now: Micros) -> bool {
    let before = now.saturating_sub(retention.requests());
    let old = rows.request.values().filter(|r| r.at <= before && !rows.unmapped.contains_key(&r.id));
    let old: Vec<i64> = old.map(|r| r.id).take(STEP_ROWS).collect();
    let decided = rows.unmapped.values().filter(|u| u.decided.is_some() && u.received <= before);
    let decided: Vec<(i64, i64)> = decided.map(|u| (u.id, u.payload)).take(STEP_ROWS).collect();
    let full = old.len() == STEP_ROWS || decided.len() == STEP_ROWS;
    rows.request.retain(|id, _| !old.contains(id));
    for (id, payload) in decided {
        rows.unmapped.remove(&id);
        rows.request.remove(&id);
        let needed =
            rows.unmapped.values().any(|u| u.payload == payload) || rows.event.values().any(|e| e.payload == payload);
        if !needed {
            rows.payload.remove(&payload);
        }
    }
    let samples = now.saturating_sub(SAMPLES);
    rows.sample.retain(|_, s| s.received > samples);
    full
}
