//! Routing: events in their one order become deliveries. One pass at a time, fenced by its own row.
//!
//! Three parts, the same on every store: read what the pass stands on ([`Opened`]), decide what is wanted
//! ([`wanted`]), read the tails of the lanes that need it, decide the rows ([`pass`]).

use std::collections::BTreeMap;

use crate::consumer::{Consumer, ConsumerId};
use crate::event::{EventNo, HoldReason};
use crate::lane::{self, Check, Found, Tail};

/// Events in one pass.
pub const PASS_EVENTS: usize = 2_000;
/// Requests of commands and settles in one pass.
pub const PASS_REQUESTS: usize = 500;
/// Lane checks in one pass.
pub const PASS_CHECKS: usize = 500;
/// Pass rows kept behind the newest (`engine.md` section 1).
pub const PASSES_KEPT: i64 = 1_000;

/// A place in the log. Where one writer numbers the events it is the event's number; where several do, the router gives
/// it, dense and in the order in which it goes over them.
pub type Position = i64;

/// The configuration that routes, by its number in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routing {
    pub config: i64,
    /// Live consumers, in the order of their ids.
    pub consumers: Vec<Consumer>,
}

/// The last pass row: cursor, fence and configuration in one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pass {
    pub n: i64,
    pub pos: Position,
    pub seq: i64,
    pub config: i64,
    pub consumers: Vec<ConsumerId>,
    /// The one consumer whose own position `pos` is, while it catches up.
    pub own: Option<ConsumerId>,
}

/// What the router needs of an event: no payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routed {
    pub event: EventNo,
    pub pos: Position,
    pub source: String,
    pub namespace: String,
    pub kind: String,
    pub aggregate: Option<String>,
    pub hold: Option<HoldReason>,
    /// Origin `import` or `copy`: a position and no deliveries, not even a hold.
    pub silent: bool,
    /// For a catching-up consumer: its hold row, if there is one.
    pub held: Option<Held>,
}

/// A hold row as a later pass meets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    pub reason: HoldReason,
    /// `None`: undecided.
    pub released: Option<bool>,
}

/// What a command asked the router to append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub id: i64,
    pub what: Wish,
    /// Audit row of the decision.
    pub decided: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    /// A held event goes on: to every consumer that takes it and has not got it.
    Release { event: Routed, delivered: Vec<ConsumerId> },
    /// A halted delivery that does not hold its lane goes to the tail, as what it was.
    Move { delivery: Moved },
    /// What it names is gone or was decided otherwise: dropped, a pass never fails on a request.
    Gone,
    /// Somebody holds what it names: the next pass asks again.
    Busy,
}

/// A halted delivery on its way back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    pub id: i64,
    /// Its place so far.
    pub lane: i64,
    pub seq: i64,
    pub event: EventNo,
    pub consumer: ConsumerId,
    pub generation: i64,
    pub halted: i64,
    /// Goes on, so that a lease from before is of no use.
    pub epoch: i64,
}

/// What a pass stands on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// The last row, with the position of the last one whose `own` is null: the router's own.
    pub last: Pass,
    /// How far each consumer of the routing has got: the position of the last pass that listed it, or its own, else
    /// where it begins.
    pub cursors: BTreeMap<ConsumerId, Position>,
    /// Lanes whose tail an earlier pass could not lock; none where nobody else writes.
    pub checks: Vec<(Check, Found)>,
    pub requests: Vec<Request>,
    pub events: Vec<Routed>,
    /// Position after this pass (the last event read, or where it stood).
    pub upto: Position,
    /// Set when this is a catching-up consumer's own pass.
    pub own: Option<ConsumerId>,
}

impl Opened {
    /// A pass lists a consumer only if it has got as far as the pass begins; else it catches up first. Its state
    /// decides nothing.
    pub fn lists(&self, consumer: ConsumerId) -> bool {
        self.own.is_none() && self.cursors.get(&consumer) == Some(&self.last.pos)
    }

    /// A release reaches whoever has gone past the event; the others will meet it.
    fn passed(&self, consumer: ConsumerId, event: Position) -> bool {
        self.cursors.get(&consumer).is_some_and(|cursor| *cursor >= event)
    }

    /// A consumer that begins later than the event never meets it.
    fn will_meet(&self, consumer: ConsumerId, event: Position) -> bool {
        self.cursors.get(&consumer).is_some_and(|cursor| *cursor < event)
    }

    /// Where this pass begins.
    pub fn start(&self) -> Position {
        let own = self.own.and_then(|id| self.cursors.get(&id));
        own.copied().unwrap_or(self.last.pos)
    }
}

/// Whose pass is next: the router's (`None`) and those of consumers that catch up take turns, so that neither waits
/// for the other's end. `last_own` is of the last row; `busy`: requests or arrivals wait for the router's own pass.
pub fn turn(
    last_own: Option<ConsumerId>,
    pos: Position,
    cursors: &BTreeMap<ConsumerId, Position>,
    busy: bool,
) -> Option<ConsumerId> {
    let behind = cursors.iter().filter(|(_, cursor)| **cursor < pos);
    let furthest = behind.min_by_key(|(id, cursor)| (**cursor, **id)).map(|(id, _)| *id);
    furthest.filter(|_| !busy || last_own.is_none())
}

/// One delivery to append. `lane` is `None` where it has none: then it is its own `seq`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Append {
    pub event: EventNo,
    pub consumer: ConsumerId,
    pub generation: i64,
    pub lane: Option<i64>,
    pub decided: Option<i64>,
    /// The delivery that moves, or none: a new one.
    pub moved: Option<Moved>,
}

/// What the pass wants, before the lanes have been looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    pub appends: Vec<Append>,
    pub holds: Vec<(EventNo, HoldReason)>,
    /// Hold rows that this pass closes or, finding no consumer again, reopens.
    pub reopened: Vec<EventNo>,
    pub closed: Vec<EventNo>,
    /// Requests that are done with.
    pub done: Vec<i64>,
    /// Checks that are done with, and those of them whose lane must be asked for its next.
    pub checked: Vec<i64>,
    pub headless: Vec<Check>,
}

impl Wanted {
    /// Lanes whose tails must be read.
    pub fn lanes(&self) -> Vec<i64> {
        let mut lanes: Vec<i64> = self.appends.iter().filter_map(|a| a.lane).collect();
        lanes.sort_unstable();
        lanes.dedup();
        lanes
    }
}

/// What the pass wants: what earlier passes left open first, then requests, they are older promises than the arrivals.
pub fn wanted(opened: &Opened, routing: &Routing) -> Wanted {
    let mut wanted = Wanted::default();
    for (check, found) in &opened.checks {
        resolve(check, *found, &mut wanted);
    }
    for request in &opened.requests {
        wish(opened, request, routing, &mut wanted);
    }
    for event in &opened.events {
        match opened.own {
            None => arrival(opened, event, routing, &mut wanted),
            Some(id) => catch_up(event, id, routing, &mut wanted),
        }
    }
    wanted
}

fn resolve(check: &Check, found: Found, wanted: &mut Wanted) {
    match lane::check(found) {
        lane::Checked::Stays => return,
        lane::Checked::Answered => {}
        lane::Checked::Asks => wanted.headless.push(*check),
    }
    wanted.checked.push(check.id);
}

fn arrival(opened: &Opened, event: &Routed, routing: &Routing, wanted: &mut Wanted) {
    if event.silent {
        return;
    }
    if let Some(reason) = event.hold {
        wanted.holds.push((event.event, reason));
        return;
    }
    let mut nobody = true;
    // A taker that still catches up will meet the event: held is only what nobody takes, listed or not.
    for consumer in takers(event, routing).filter(|c| opened.will_meet(c.id, event.pos)) {
        nobody = false;
        if opened.lists(consumer.id) {
            wanted.appends.push(append(event, consumer, None));
        }
    }
    if nobody {
        wanted.holds.push((event.event, HoldReason::NoConsumer));
    }
}

/// A late consumer skips what is held or was dropped, except what was held only because nobody took it.
fn catch_up(event: &Routed, id: ConsumerId, routing: &Routing, wanted: &mut Wanted) {
    let Some(consumer) = takers(event, routing).find(|c| c.id == id) else { return };
    let reason = event.held.map(|h| h.reason).or(event.hold);
    let released = event.held.is_some_and(|h| h.released == Some(true));
    match reason {
        _ if event.silent => {}
        None => wanted.appends.push(append(event, consumer, None)),
        Some(HoldReason::NoConsumer) => {
            wanted.closed.push(event.event);
            wanted.appends.push(append(event, consumer, None));
        }
        Some(_) if released => wanted.appends.push(append(event, consumer, None)),
        Some(_) => {}
    }
}

fn wish(opened: &Opened, request: &Request, routing: &Routing, wanted: &mut Wanted) {
    if request.what != Wish::Busy {
        wanted.done.push(request.id);
    }
    match &request.what {
        Wish::Gone | Wish::Busy => {}
        // A second approval of the same changes nothing.
        Wish::Move { delivery } if moves(wanted, delivery) => {}
        Wish::Move { delivery } => wanted.appends.push(moved(delivery, request.decided)),
        Wish::Release { event, delivered } => {
            let mut nobody = true;
            for consumer in takers(event, routing) {
                nobody = false;
                let twice = wanted.appends.iter().any(|a| a.event == event.event && a.consumer == consumer.id);
                let has = delivered.contains(&consumer.id) || twice;
                if !has && opened.passed(consumer.id, event.pos) {
                    wanted.appends.push(append(event, consumer, request.decided));
                }
            }
            if nobody {
                wanted.reopened.push(event.event);
            }
        }
    }
}

fn moves(wanted: &Wanted, delivery: &Moved) -> bool {
    wanted.appends.iter().any(|a| a.moved.as_ref().is_some_and(|m| m.id == delivery.id))
}

fn takers<'a>(event: &'a Routed, routing: &'a Routing) -> impl Iterator<Item = &'a Consumer> {
    routing.consumers.iter().filter(|c| c.takes(&event.source, &event.kind))
}

fn append(event: &Routed, consumer: &Consumer, decided: Option<i64>) -> Append {
    let aggregate = event.aggregate.as_deref().map(|a| (event.namespace.as_str(), a));
    // 0 stands for "its own seq": a lane is negative, so the two never meet.
    let lane = Some(lane::of(consumer.id, consumer.order, aggregate, 0)).filter(|l| *l != 0);
    Append { event: event.event, consumer: consumer.id, generation: 0, lane, decided, moved: None }
}

fn moved(delivery: &Moved, decided: Option<i64>) -> Append {
    Append {
        event: delivery.event,
        consumer: delivery.consumer,
        generation: delivery.generation,
        lane: Some(delivery.lane).filter(|l| *l < 0),
        decided,
        moved: Some(delivery.clone()),
    }
}

/// The tail of each lane that has one.
pub type Tails = BTreeMap<i64, Tail>;

/// A delivery row to insert (or to move: then `id` is the old one).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDelivery {
    pub seq: i64,
    pub lane: i64,
    pub id: i64,
    pub append: Append,
    /// The lane was free: it gets its work row at once.
    pub runnable: bool,
}

impl NewDelivery {
    /// Of the work row: a lease from before a move is of no use.
    pub fn epoch(&self) -> i64 {
        self.append.moved.as_ref().map_or(0, |moved| moved.epoch)
    }
}

/// Everything that one pass writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassRows {
    pub deliveries: Vec<NewDelivery>,
    pub holds: Vec<(EventNo, HoldReason)>,
    pub reopened: Vec<EventNo>,
    pub closed: Vec<EventNo>,
    pub done: Vec<i64>,
    pub checked: Vec<i64>,
    pub headless: Vec<Check>,
    /// Lanes that this pass appended to without knowing whether their tail still runs: (lane, seq of that tail).
    pub unsure: Vec<(i64, i64)>,
    pub pass: Pass,
}

impl PassRows {
    /// Events that this pass leaves without anybody who takes them.
    pub fn unmatched(&self) -> usize {
        let nobody = self.holds.iter().filter(|(_, reason)| *reason == HoldReason::NoConsumer);
        nobody.count() + self.reopened.len()
    }

    /// A pass that changes nothing is not written.
    pub fn is_empty(&self, opened: &Opened) -> bool {
        self.done.is_empty() && self.checked.is_empty() && self.pass.pos == opened.start()
    }
}

/// The rows of the pass: sequence numbers in order, a work row for the first of each free lane. Behind a tail that could
/// not be locked nobody knows whether its settle will still see what is appended: a check outlives that settle.
pub fn pass(opened: &Opened, wanted: Wanted, tails: &Tails, routing: &Routing) -> PassRows {
    let mut tails = tails.clone();
    let mut unsure = Vec::new();
    let mut seq = opened.last.seq;
    let deliveries = wanted.appends.into_iter().map(|append| {
        seq += 1;
        let lane = append.lane.unwrap_or(seq);
        let before = append.lane.and_then(|lane| tails.insert(lane, Tail::Open)).unwrap_or(Tail::Closed);
        if let Tail::Unsure { seq: behind } = before {
            unsure.push((lane, behind));
        }
        let id = append.moved.as_ref().map_or(seq, |m| m.id);
        NewDelivery { seq, lane, id, append, runnable: before == Tail::Closed }
    });
    let deliveries: Vec<NewDelivery> = deliveries.collect();
    PassRows {
        deliveries,
        unsure,
        checked: wanted.checked,
        headless: wanted.headless,
        holds: wanted.holds,
        reopened: wanted.reopened,
        closed: wanted.closed,
        done: wanted.done,
        pass: next(opened, seq, routing),
    }
}

fn next(opened: &Opened, seq: i64, routing: &Routing) -> Pass {
    Pass {
        n: opened.last.n + 1,
        pos: opened.upto,
        seq,
        config: routing.config,
        consumers: match opened.own {
            Some(_) => Vec::new(),
            None => routing.consumers.iter().map(|c| c.id).filter(|id| opened.lists(*id)).collect(),
        },
        own: opened.own,
    }
}
