//! One pass of the router on the model: read, decide in `core::route`, write, in one go.

use std::collections::BTreeMap;

use hookonce_core::consumer::ConsumerId;
use hookonce_core::event::HoldReason;
use hookonce_core::lane::Tail;
use hookonce_core::route::{
    self, Held, Moved, NewDelivery, Opened, PASS_EVENTS, PASS_REQUESTS, PASSES_KEPT, Pass, PassRows, Request, Routed,
    Routing, Tails, Wish,
};
use hookonce_core::time::Micros;

use super::rows::{self, Delivery, Event, Hold, Rows, Work};
use crate::store::Passed;

/// The verb.
pub fn route(rows: &mut Rows, routing: &Routing, now: Micros) -> Passed {
    match open(rows, routing) {
        None => Passed { config_behind: true, ..Passed::default() },
        Some(opened) => close(rows, &opened, routing, now),
    }
}

/// What a pass reads; `None`: another configuration is in force.
pub fn open(rows: &Rows, routing: &Routing) -> Option<Opened> {
    let last = route_last(rows)?;
    if last.config != routing.config {
        return None;
    }
    let cursors = route_cursors(rows, routing);
    let requests = route_requeue(rows);
    let busy = !requests.is_empty() || last.pos < rows.counters.event;
    let own = route::turn(last.own, last.pos, &cursors, busy);
    let from = own.and_then(|id| cursors.get(&id).copied()).unwrap_or(last.pos);
    let to = if own.is_some() { last.pos } else { rows.counters.event };
    let events = arrivals(rows, from, to);
    let upto = if events.len() < PASS_EVENTS { to } else { events.last().map_or(from, |e| e.event) };
    Some(Opened { last, cursors, checks: Vec::new(), requests, events, upto, own })
}

/// Decides and writes what was opened, unless another router was faster: then nothing is written.
pub fn close(rows: &mut Rows, opened: &Opened, routing: &Routing, now: Micros) -> Passed {
    if rows.pass.last_key_value().map(|(n, _)| *n) != Some(opened.last.n) {
        return Passed { more: true, ..Passed::default() };
    }
    write(rows, opened, routing, now)
}

/// The rows of the pass, without asking who was faster.
pub fn write(rows: &mut Rows, opened: &Opened, routing: &Routing, now: Micros) -> Passed {
    let wanted = route::wanted(opened, routing);
    let tails = route_tails(rows, &wanted.lanes());
    let pass = route::pass(opened, wanted, &tails, routing);
    if pass.is_empty(opened) {
        return Passed::default();
    }
    let mut passed = Passed { events: opened.events.len(), holds: pass.holds.len(), ..Passed::default() };
    passed.unmatched = pass.unmatched();
    passed.deliveries = pass.deliveries.len();
    passed.woken = pass.deliveries.iter().filter(|d| d.runnable).map(|d| d.append.consumer).collect();
    passed.woken.sort_unstable();
    passed.woken.dedup();
    for delivery in &pass.deliveries {
        route_write_delivery(rows, delivery, now);
    }
    route_write_holds(rows, &pass, now);
    rows.requeue.retain(|id, _| !pass.done.contains(id));
    route_write_pass(rows, &pass.pass, now);
    passed.more = open(rows, routing).is_some_and(|next| !idle(&next));
    passed
}

/// Nothing to do for a pass.
pub fn idle(next: &Opened) -> bool {
    next.own.is_none() && next.requests.is_empty() && next.upto == next.last.pos
}

/// The last row; its position is that of the last one whose `own` is null.
fn route_last(rows: &Rows) -> Option<Pass> {
    let (_, last) = rows.pass.last_key_value()?;
    let main = rows.pass.values().rev().find(|p| p.own.is_none())?;
    Some(Pass {
        n: last.n,
        pos: main.pos,
        seq: last.seq,
        config: last.config,
        consumers: ids(&main.consumers),
        own: last.own,
    })
}

/// How far each consumer of the routing has got.
pub fn route_cursors(rows: &Rows, routing: &Routing) -> BTreeMap<ConsumerId, i64> {
    routing.consumers.iter().map(|c| (c.id, route_cursor(rows, c.id))).collect()
}

/// Position of the last pass that listed it, or its own; a consumer without one begins where its definition says.
pub fn route_cursor(rows: &Rows, id: ConsumerId) -> i64 {
    let of = |p: &&rows::Pass| p.own == Some(id) || (p.own.is_none() && ids(&p.consumers).contains(&id));
    let pass = rows.pass.values().rev().find(of).map(|p| p.pos);
    pass.or_else(|| super::definitions(rows).get(&id).map(|c| c.from_pos)).unwrap_or(0)
}

/// The list of a pass row, as it is written.
pub fn ids(text: &str) -> Vec<ConsumerId> {
    text.split(',').filter_map(|id| id.trim().parse().ok()).collect()
}

pub fn written(ids: &[ConsumerId]) -> String {
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

fn route_requeue(rows: &Rows) -> Vec<Request> {
    let request = |r: &rows::Requeue| Request { id: r.id, what: wish(rows, r), decided: r.decided };
    rows.requeue.values().take(PASS_REQUESTS).map(request).collect()
}

fn wish(rows: &Rows, request: &rows::Requeue) -> Wish {
    let gone = Wish::Gone;
    match request.kind.as_str() {
        "release" => rows.event.get(&request.event).map_or(gone, |event| release(rows, event)),
        "move" => request.delivery.and_then(|id| moved(rows, id)).map_or(gone, |delivery| Wish::Move { delivery }),
        _ => gone,
    }
}

fn release(rows: &Rows, event: &Event) -> Wish {
    let of = rows.delivery.values().filter(|d| d.event == event.id && d.generation == 0);
    Wish::Release { event: routed(rows, event), delivered: of.map(|d| d.consumer).collect() }
}

/// Only what does not hold its lane goes to the tail: an open one was retried in place, or is not halted any more.
fn moved(rows: &Rows, id: i64) -> Option<Moved> {
    let halted = rows.halted.get(&id)?;
    let delivery = rows.delivery.get(&halted.seq).filter(|d| !d.open)?;
    Some(Moved {
        id,
        lane: delivery.lane,
        seq: delivery.seq,
        event: delivery.event,
        consumer: delivery.consumer,
        generation: delivery.generation,
        halted: halted.id,
        epoch: halted.epoch,
    })
}

/// Events behind one position and up to another.
pub fn arrivals(rows: &Rows, from: i64, to: i64) -> Vec<Routed> {
    if from >= to {
        return Vec::new();
    }
    rows.event.range(from + 1..=to).take(PASS_EVENTS).map(|(_, e)| routed(rows, e)).collect()
}

fn routed(rows: &Rows, event: &Event) -> Routed {
    let held = rows
        .hold
        .get(&event.id)
        .and_then(|h| HoldReason::parse(&h.reason).map(|reason| Held { reason, released: h.released }));
    Routed {
        event: event.id,
        pos: event.id,
        source: event.source.clone(),
        namespace: event.namespace.clone(),
        kind: event.kind.clone(),
        aggregate: event.aggregate.clone(),
        hold: event.hold_reason.as_deref().and_then(HoldReason::parse),
        silent: matches!(event.origin.as_str(), "import" | "copy"),
        held,
    }
}

/// The newest delivery of each lane: is it open?
fn route_tails(rows: &Rows, lanes: &[i64]) -> Tails {
    let tail = |lane: i64| {
        rows.delivery
            .values()
            .rev()
            .find(|d| d.lane == lane)
            .map(|d| (lane, if d.open { Tail::Open } else { Tail::Closed }))
    };
    lanes.iter().filter_map(|lane| tail(*lane)).collect()
}

fn route_write_delivery(rows: &mut Rows, new: &NewDelivery, now: Micros) {
    if let Some(moved) = &new.append.moved {
        rows.halted.remove(&moved.halted);
        rows.delivery.remove(&moved.seq);
    }
    rows.delivery.put(Delivery {
        seq: new.seq,
        lane: new.lane,
        id: new.id,
        consumer: new.append.consumer,
        event: new.append.event,
        generation: new.append.generation,
        repeat: None,
        open: true,
        cancel: false,
        decided: new.append.decided,
        state: None,
        attempts: 0,
        ended: None,
    });
    if new.runnable {
        route_write_work(rows, new, now);
    }
}

fn route_write_work(rows: &mut Rows, new: &NewDelivery, now: Micros) {
    rows.work.put(Work {
        seq: new.seq,
        id: new.id,
        lane: new.lane,
        event: new.append.event,
        consumer: new.append.consumer,
        generation: new.append.generation,
        repeat: None,
        due: now,
        since: None,
        attempts: 0,
        lost: 0,
        decided: new.append.decided,
        epoch: new.epoch(),
        token: None,
        owner: None,
    });
}

fn route_write_holds(rows: &mut Rows, pass: &PassRows, now: Micros) {
    for (event, reason) in &pass.holds {
        let reason = reason.name().to_owned();
        rows.hold.put(Hold { event: *event, reason, evidence: None, since: now, decided: None, released: None });
    }
    for event in &pass.closed {
        if let Some(hold) = rows.hold.get_mut(event) {
            hold.released = Some(true);
        }
    }
    for event in &pass.reopened {
        let reason = HoldReason::NoConsumer.name().to_owned();
        rows.hold.put(Hold { event: *event, reason, evidence: None, since: now, decided: None, released: None });
    }
}

/// Appends the row; what nobody reads any more goes.
fn route_write_pass(rows: &mut Rows, pass: &Pass, now: Micros) {
    rows.pass.put(rows::Pass {
        n: pass.n,
        pos: pass.pos,
        seq: pass.seq,
        consumers: written(&pass.consumers),
        own: pass.own,
        config: pass.config,
        node: rows.counters.instance,
        at: now,
    });
    route_trim(rows);
}

/// Keeps the newest, the last with `own` null, and for every consumer the last row that lists or owns it.
fn route_trim(rows: &mut Rows) {
    let Some(limit) = rows.pass.last_key_value().map(|(n, _)| n - PASSES_KEPT).filter(|limit| *limit > 0) else {
        return;
    };
    let mut keep: Vec<i64> = rows.pass.values().rev().find(|p| p.own.is_none()).map(|p| p.n).into_iter().collect();
    for id in super::definitions(rows).keys() {
        let of = |p: &&rows::Pass| p.own == Some(*id) || ids(&p.consumers).contains(id);
        keep.extend(rows.pass.values().rev().find(of).map(|p| p.n));
    }
    rows.pass.retain(|n, _| *n > limit || keep.contains(n));
}
