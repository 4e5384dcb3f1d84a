//! What was seen outside the tables, and the properties that need it. Those of the tables alone are in
//! [`crate::testkit::invariant`]; here they are asked with it.

use hookonce_core::claim::Claimed;

use super::setup::Setup;
use super::steps;
use super::world::{Copy, Routings, Worker, World};
use crate::testkit::invariant;
use crate::testkit::model::{claim, rows::Delivery};

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Evidence {
    /// Effects in the order of their commits.
    pub effects: Vec<Effect>,
    /// Settles that changed something under a lease that was not the row's: (seq, its epoch, the row's).
    pub foreign: Vec<(i64, i64, i64)>,
    /// What the last step broke (invariants 7 and 9 are about steps).
    pub broken: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Effect {
    pub lane: i64,
    pub seq: i64,
    pub event: i64,
    pub consumer: i64,
}

impl Effect {
    pub fn of(run: &Claimed) -> Effect {
        Effect { lane: run.lane, seq: run.lease.seq, event: run.event, consumer: run.consumer }
    }
}

/// Invariants 1, 3, 4, 5, 6 and 8, as far as the tables show them.
pub fn tables(world: &World, routings: &Routings) -> Vec<String> {
    let configurations = routings.iter().map(|routing| (routing.config, routing.clone())).collect();
    invariant::of_rows(&world.rows, &configurations)
}

/// Invariant 2: what was answered 2xx is stored, whatever died since.
pub fn answered(world: &World, setup: &Setup) -> Vec<String> {
    let mut lost = Vec::new();
    for ((submission, _), copies) in setup.sent.iter().zip(&world.copies) {
        if copies.contains(&Copy::Answered) && !steps::stored(&world.rows, submission) {
            lost.push(format!("2: {} was answered 2xx and is not there", submission.target));
        }
    }
    lost
}

/// Invariant 5 as a worker sees it: at most one of a lane holds a lease, and what it holds is the lane's head.
pub fn one_runner_a_lane(world: &World) -> Vec<String> {
    let holds = |w: &Worker| match w {
        Worker::Holds { run, .. } if claim::holds(&world.rows, &run.lease) => Some((run.lane, run.lease.seq)),
        _ => None,
    };
    let mut runs: Vec<(i64, i64)> = world.workers.iter().filter_map(holds).collect();
    runs.sort_unstable();
    let twice = runs.windows(2).filter(|w| w[0].0 == w[1].0).map(|w| format!("5: two runs in lane {}", w[0].0));
    let before = |lane: i64, seq: i64| world.rows.delivery.values().any(|d| d.lane == lane && d.open && d.seq < seq);
    let early = runs.iter().filter(|(lane, seq)| before(*lane, *seq));
    twice.chain(early.map(|(_, seq)| format!("5: {seq} runs before its predecessor ended"))).collect()
}

/// Invariant 6: effects of a lane in its order, none twice. What comes back at the tail has a place there.
pub fn effects_in_order(world: &World) -> Vec<String> {
    let mut wrong = Vec::new();
    for (at, effect) in world.evidence.effects.iter().enumerate() {
        for earlier in world.evidence.effects.iter().take(at) {
            if (earlier.event, earlier.consumer) == (effect.event, effect.consumer) {
                wrong.push(format!("6: the effect of event {} happened twice", effect.event));
            } else if earlier.lane == effect.lane && earlier.seq > effect.seq {
                wrong.push(format!("6: the effect of event {} came after that of {}", effect.event, earlier.event));
            }
        }
    }
    wrong
}

/// Invariant 7: an old epoch changes nothing, epochs never fall, what is final changes by command only (9).
pub fn old_epochs(world: &World) -> Vec<String> {
    let foreign = world.evidence.foreign.iter();
    let foreign = foreign.map(|(seq, had, row)| format!("7: epoch {had} settled {seq}, which was at epoch {row}"));
    foreign.chain(world.evidence.broken.iter().cloned()).collect()
}

/// Invariant 10: an effect if and only if its delivery succeeded.
pub fn effect_means_success(world: &World) -> Vec<String> {
    let succeeded = |d: &&Delivery| d.state.as_deref() == Some("succeeded");
    let mut done: Vec<(i64, i64)> =
        world.rows.delivery.values().filter(succeeded).map(|d| (d.event, d.consumer)).collect();
    let mut effects: Vec<(i64, i64)> = world.evidence.effects.iter().map(|e| (e.event, e.consumer)).collect();
    // What is gone from the tables cannot be compared any more.
    effects.retain(|(event, _)| world.rows.event.contains_key(event));
    done.sort_unstable();
    effects.sort_unstable();
    if done == effects { Vec::new() } else { vec![format!("10: succeeded {done:?}, effects {effects:?}")] }
}

/// Nothing is stuck: where no task can go on by itself, everything has ended (2, 4, 8).
pub fn drained(world: &World, setup: &Setup, routings: &Routings) -> Vec<String> {
    if steps::progress(world, setup, world.in_force(routings)).next().is_some() {
        return Vec::new();
    }
    let mut stuck = Vec::new();
    if world.copies.iter().flatten().any(|c| *c != Copy::Answered) {
        stuck.push("2: a request was never answered".to_owned());
    }
    let pos = world.rows.pass.values().filter(|p| p.own.is_none()).map(|p| p.pos).max();
    if pos != Some(world.rows.counters.event) {
        stuck.push("4: an event was never routed".to_owned());
    }
    if world.workers.is_empty() {
        return stuck;
    }
    let behind = world.rows.delivery.values().filter(|d| d.open && !world.rows.halted.contains_key(&d.id));
    let behind = behind.filter(|d| !world.rows.halted.values().any(|h| h.lane == d.lane));
    stuck.extend(behind.map(|d| format!("8: delivery {} never ends", d.id)));
    stuck
}
