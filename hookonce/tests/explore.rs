//! The walk: every state of every small world, and for each guard of the engine a world without it, in which the walk
//! must find the damage. No depth is cut, no state left out.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use hookonce::testkit::explore::setup::consumer;
use hookonce::testkit::explore::world::Routings;
use hookonce::testkit::explore::{Mutation, Setup, Step, World, evidence, steps};
use hookonce_core::consumer::{Consumer, From, OnDead};
use stateright::{Checker, HasDiscoveries, Model, Property};

struct Walk {
    setup: Setup,
    begin: World,
    routings: Routings,
    found: [AtomicBool; 7],
}

impl Model for Walk {
    type State = World;
    type Action = Step;

    fn init_states(&self) -> Vec<World> {
        vec![self.begin.clone()]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Step>) {
        actions.extend(steps::all(world, &self.setup, &self.routings));
    }

    fn next_state(&self, world: &World, step: Step) -> Option<World> {
        let next = steps::apply(world, step, &self.setup, &self.routings);
        (next != *world).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Walk>> {
        vec![
            Property::always(NAMES[0], |walk, w| walk.first(0, evidence::tables(w, &walk.routings))),
            Property::always(NAMES[1], |walk, w| walk.first(1, evidence::answered(w, &walk.setup))),
            Property::always(NAMES[2], |walk, w| walk.first(2, evidence::one_runner_a_lane(w))),
            Property::always(NAMES[3], |walk, w| walk.first(3, evidence::effects_in_order(w))),
            Property::always(NAMES[4], |walk, w| walk.first(4, evidence::old_epochs(w))),
            Property::always(NAMES[5], |walk, w| walk.first(5, evidence::effect_means_success(w))),
            Property::always(NAMES[6], |walk, w| walk.first(6, evidence::drained(w, &walk.setup, &walk.routings))),
        ]
    }
}

const NAMES: [&str; 7] =
    ["tables", "answered", "one runner a lane", "effects in order", "old epochs", "effect means success", "drained"];

impl Walk {
    /// Only the first violation counts: the walk goes breadth first, so that one is the shortest, and the checker
    /// would report the last.
    fn first(&self, property: usize, wrong: Vec<String>) -> bool {
        wrong.is_empty() || self.found[property].swap(true, Ordering::SeqCst)
    }
}

fn walk(setup: Setup) -> Walk {
    let (begin, routings) = World::begin(&setup);
    Walk { setup, begin, routings, found: Default::default() }
}

/// Everything that is wrong with a world, in words.
fn wrong(walk: &Walk, world: &World) -> Vec<String> {
    let mut wrong = evidence::tables(world, &walk.routings);
    wrong.extend(evidence::answered(world, &walk.setup));
    wrong.extend(evidence::one_runner_a_lane(world));
    wrong.extend(evidence::effects_in_order(world));
    wrong.extend(evidence::old_epochs(world));
    wrong.extend(evidence::effect_means_success(world));
    wrong.extend(evidence::drained(world, &walk.setup, &walk.routings));
    wrong
}

/// The shortest way to each violation that was found: the steps, and what they broke.
fn found(checker: &impl Checker<Walk>) -> BTreeMap<&'static str, String> {
    let text = |path: stateright::Path<World, Step>| {
        let last = wrong(checker.model(), path.last_state());
        let steps: Vec<String> = path.into_actions().iter().map(|step| format!("{step:?}")).collect();
        format!("{}\n    breaks {}", steps.join(", "), last.join("; "))
    };
    checker.discoveries().into_iter().map(|(name, path)| (name, text(path))).collect()
}

/// Walks a world to its end: nothing may be found.
fn holds(setup: Setup) {
    let name = setup.name;
    let checker = walk(setup).checker().spawn_bfs().join();
    println!("{name}: {} states, {} steps deep", checker.unique_state_count(), checker.max_depth());
    let found = found(&checker);
    assert!(checker.is_done() && found.is_empty(), "{name}: {found:#?}");
}

/// Walks a world that lacks a guard: the named property must be broken.
fn breaks(setup: Setup, property: &'static str) {
    let (name, lacking) = (setup.name, setup.without);
    let until = HasDiscoveries::AllOf([property].into());
    let checker = walk(setup).checker().finish_when(until).spawn_bfs().join();
    let found = found(&checker);
    println!("{name} without {lacking:?}: {property} after {}", found.get(property).map_or("-", String::as_str));
    assert!(found.contains_key(property), "{name} without {lacking:?} does not break `{property}`: {found:#?}");
}

fn copies() -> Setup {
    let sent = [("gh/a1 agg=a", 2), ("gh/a1 agg=a body=B", 1), ("gh/a2 agg=a", 2), ("gh/b1 agg=b", 1)];
    Setup { workers: 0, crashes: 1, ..Setup::new("copies", &sent) }
}

fn lanes() -> Setup {
    let begin = Setup::new("lanes", &[("gh/a2 agg=a", 1)]).after(&["gh/a1 agg=a", "gh/b1 agg=b"]);
    Setup { workers: 2, crashes: 1, expiries: 1, failures: 1, ..begin }
}

fn routers() -> Setup {
    let sent = [("gh/a1 agg=a", 1), ("gh/a2 agg=a", 1), ("gh/b1 agg=b", 1)];
    Setup { routers: 2, crashes: 1, ..Setup::new("routers", &sent) }
}

fn commands() -> Setup {
    let before = ["gh/a1 agg=a", "gh/a2 agg=a", "crm/b1 agg=b", "crm/b2 agg=b"];
    Setup {
        consumers: vec![consumer("holds", "gh/*", OnDead::Hold), consumer("frees", "crm/*", OnDead::Continue)],
        deaths: 2,
        commands: 2,
        ..Setup::new("commands", &[]).after(&before)
    }
}

/// A consumer that begins at the beginning joins meanwhile; one event was held because nobody took it, one is a
/// suspect; a person releases.
fn joins() -> Setup {
    let sent = [("gh/a2 agg=a", 1), ("crm/b2 agg=b", 1)];
    let before = ["gh/a1 agg=a", "crm/b1 agg=b", "gh/a0 agg=a hold=schema_version"];
    let app = consumer("app", "gh/*", OnDead::Hold);
    let late = Consumer { from: From::Beginning, ..consumer("late", "*/*", OnDead::Hold) };
    Setup {
        consumers: vec![app.clone()],
        later: vec![app, late],
        workers: 0,
        crashes: 1,
        commands: 2,
        ..Setup::new("joins", &sent).after(&before)
    }
}

fn marks() -> Setup {
    let before = ["gh/a1 agg=a", "gh/a2 agg=a", "gh/a3 agg=a"];
    Setup { workers: 2, crashes: 1, failures: 1, marks: 2, ..Setup::new("marks", &[]).after(&before) }
}

/// What is done goes while a dead letter that has left its lane waits, and while one comes who reads the past.
fn purges() -> Setup {
    let app = consumer("app", "*/*", OnDead::Continue);
    let late = Consumer { from: From::Beginning, ..consumer("late", "*/*", OnDead::Hold) };
    Setup {
        consumers: vec![app.clone()],
        later: vec![app, late],
        deaths: 1,
        commands: 1,
        purges: 3,
        ..Setup::new("purges", &[]).after(&["gh/a1 agg=a", "gh/a2 agg=a"])
    }
}

fn everything() -> Setup {
    let sent = [("gh/a2 agg=a", 2), ("gh/a2 agg=a body=B", 1)];
    let begin = Setup::new("everything", &sent).after(&["gh/a1 agg=a", "gh/b1 agg=b"]);
    Setup { workers: 2, crashes: 1, expiries: 1, ..begin }
}

#[test]
fn copies_and_a_conflict() {
    holds(copies());
}

#[test]
fn two_lanes_two_workers() {
    holds(lanes());
}

#[test]
fn two_routers() {
    holds(routers());
}

#[test]
fn dead_letters_retried() {
    holds(commands());
}

#[test]
fn a_consumer_joins() {
    holds(joins());
}

#[test]
fn marks_to_cancel() {
    holds(marks());
}

#[test]
fn cleaning_beside_work() {
    holds(purges());
}

#[test]
fn with_a_purge_by_open_alone() {
    breaks(purges().without(Mutation::PurgeByOpen), "tables");
}

#[test]
fn without_cursors() {
    breaks(joins().without(Mutation::NoCursors), "tables");
}

#[test]
fn with_a_cancel_in_the_middle() {
    breaks(marks().without(Mutation::CancelInTheMiddle), "tables");
}

/// One lane of two, a duplicate and a conflict, a crash and a lease that ends: everything at once.
#[test]
fn everything_at_once() {
    holds(everything());
}

#[test]
fn without_the_lease_guard() {
    breaks(lanes().without(Mutation::NoLeaseGuard), "old epochs");
}

#[test]
fn without_the_lane_rule() {
    breaks(lanes().without(Mutation::NoLaneRule), "tables");
    breaks(lanes().without(Mutation::NoLaneRule), "effects in order");
}

#[test]
fn without_the_fence_on_passes() {
    breaks(routers().without(Mutation::NoPassFence), "tables");
}

#[test]
fn with_the_answer_before_the_commit() {
    breaks(copies().without(Mutation::AnswerBeforeCommit), "answered");
}

#[test]
fn with_a_look_before_the_insert() {
    breaks(copies().without(Mutation::LookThenInsert), "tables");
}

#[test]
fn with_the_effect_apart_from_its_settle() {
    breaks(lanes().without(Mutation::EffectApart), "effects in order");
    breaks(lanes().without(Mutation::EffectApart), "effect means success");
}

#[test]
fn with_a_holding_dead_letter_retried_through_the_router() {
    breaks(commands().without(Mutation::RetryThroughRouter), "tables");
}
