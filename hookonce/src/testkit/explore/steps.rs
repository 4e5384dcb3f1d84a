//! The steps of a world: which are possible, and what each does. A step is one verb on the tables, or what lies
//! between two verbs of a task.

use hookonce_core::admit::Submission;
use hookonce_core::claim::{Ask, Claimed, Triage, triage};
use hookonce_core::command::{Command, Who};
use hookonce_core::delivery::Outcome;
use hookonce_core::event::Mapped;
use hookonce_core::retain::{Keep, Retention};
use hookonce_core::route::Routing;
use hookonce_core::settle::{self, Ending};
use hookonce_core::time::Micros;

use super::evidence::Effect;
use super::mutation::Mutation;
use super::setup::{LEASE, Setup};
use super::world::{Copy, End, Router, Routings, Worker, World};
use crate::testkit::invariant;
use crate::testkit::model::{Rows, admit, claim, command, configure, purge, route, settle as settling, sweep};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// The commit of a copy's admission, and its answer: between them nobody else notices the copy, but a crash.
    Admit(usize),
    /// The commit, and no answer: the process dies in between.
    AdmitAndCrash(usize),
    /// Only where looking and inserting are apart.
    Look(usize),
    /// Only where the answer comes first.
    AnswerEarly(usize),
    Route,
    /// Of one router among several: what it reads, what it writes.
    PassOpen(usize),
    PassWrite(usize),
    Claim {
        worker: usize,
        consumer: i64,
    },
    /// Only where an effect is apart from its settle.
    Effect(usize),
    /// The run's effect and its ending, in one commit.
    Settle {
        worker: usize,
        end: Option<End>,
    },
    /// The next instant at which something falls due.
    Wait,
    Retry(i64),
    Release(i64),
    /// A mark on an open delivery, by its seq.
    Mark(i64),
    Purge,
    /// The other configuration comes into force.
    Configure,
    CrashProcess,
    CrashWorker(usize),
}

/// Everything that can happen now.
pub fn all(world: &World, setup: &Setup, routings: &Routings) -> Vec<Step> {
    let routing = world.in_force(routings);
    let mut steps: Vec<Step> = progress(world, setup, routing).collect();
    if world.left.crashes > 0 {
        steps.push(Step::CrashProcess);
        let sent = (0..world.copies.len()).filter(|sent| world.has_copy(*sent, Copy::Sent));
        steps.extend(sent.filter(|_| setup.without.is_none()).map(Step::AdmitAndCrash));
        let working = |w: &usize| world.workers[*w] != Worker::Idle;
        steps.extend((0..world.workers.len()).filter(working).map(Step::CrashWorker));
    }
    if world.left.commands > 0 {
        let dead = world.rows.halted.values().filter(|h| h.kind == "dead");
        steps.extend(dead.map(|h| Step::Retry(h.id)));
        let held = world.rows.hold.values().filter(|h| h.released.is_none());
        steps.extend(held.map(|h| Step::Release(h.event)));
    }
    if world.left.marks > 0 {
        let open = world.rows.delivery.values().filter(|d| d.open && !d.cancel);
        steps.extend(open.map(|d| Step::Mark(d.seq)));
    }
    if world.left.purges > 0 {
        steps.push(Step::Purge);
    }
    if routings.last() != Some(routing) {
        steps.push(Step::Configure);
    }
    // A lease may end under a worker that still runs, but only so often.
    if world.left.expiries > 0 && !steps.contains(&Step::Wait) && next_due(world).is_some() {
        steps.push(Step::Wait);
    }
    steps
}

/// What happens by itself: nobody fails, nobody decides. Time passes for nothing only when nothing else can happen.
pub fn progress<'a>(world: &'a World, setup: &'a Setup, routing: &'a Routing) -> impl Iterator<Item = Step> + 'a {
    let tasks = senders(world, setup).chain(routers(world, setup, routing)).chain(workers(world, setup, routing));
    let mut tasks = tasks.peekable();
    let wait = tasks.peek().is_none() && next_due(world).is_some();
    tasks.chain(wait.then_some(Step::Wait))
}

fn senders<'a>(world: &'a World, setup: &'a Setup) -> impl Iterator<Item = Step> + 'a {
    let look = setup.lacks(Mutation::LookThenInsert);
    let early = setup.lacks(Mutation::AnswerBeforeCommit);
    (0..world.copies.len())
        .flat_map(move |sent| {
            let has = |state| world.has_copy(sent, state);
            [
                (has(Copy::Sent) && !look && !early).then_some(Step::Admit(sent)),
                (has(Copy::Sent) && look).then_some(Step::Look(sent)),
                (has(Copy::Sent) && early).then_some(Step::AnswerEarly(sent)),
                (has(Copy::Unknown) || has(Copy::Early)).then_some(Step::Admit(sent)),
            ]
        })
        .flatten()
}

fn routers<'a>(world: &'a World, setup: &'a Setup, routing: &'a Routing) -> Box<dyn Iterator<Item = Step> + 'a> {
    let idle = || route::open(&world.rows, routing).is_none_or(|opened| route::idle(&opened));
    if setup.routers == 1 {
        return Box::new((!idle()).then_some(Step::Route).into_iter());
    }
    Box::new(world.routers.iter().enumerate().filter_map(move |(at, router)| match router {
        Router::Opened(_) => Some(Step::PassWrite(at)),
        Router::Idle => (!idle()).then_some(Step::PassOpen(at)),
    }))
}

fn workers<'a>(world: &'a World, setup: &'a Setup, routing: &'a Routing) -> impl Iterator<Item = Step> + 'a {
    world.workers.iter().enumerate().flat_map(move |(at, worker)| match worker {
        Worker::Idle => claims(world, routing, at),
        Worker::Holds { run, .. } if triage(run) == Triage::Cancelled => vec![Step::Settle { worker: at, end: None }],
        Worker::Holds { done: false, .. } if setup.lacks(Mutation::EffectApart) => vec![Step::Effect(at)],
        Worker::Holds { .. } => ends(world, at),
    })
}

/// Workers are alike: of several idle ones only the first claims.
fn claims(world: &World, routing: &Routing, worker: usize) -> Vec<Step> {
    if world.workers.iter().position(|w| *w == Worker::Idle) != Some(worker) {
        return Vec::new();
    }
    let due = |c: &&hookonce_core::consumer::Consumer| {
        !claim::claim_due(&world.rows, &ask(world, c.id), world.now).is_empty()
    };
    routing.consumers.iter().filter(due).map(|c| Step::Claim { worker, consumer: c.id }).collect()
}

fn ends(world: &World, worker: usize) -> Vec<Step> {
    let mut ends = vec![End::Done];
    ends.extend((world.left.failures > 0).then_some(End::Failed));
    ends.extend((world.left.deaths > 0).then_some(End::Dead));
    ends.into_iter().map(|end| Step::Settle { worker, end: Some(end) }).collect()
}

fn ask(world: &World, consumer: i64) -> Ask {
    // A token is drawn at random and never again; here the count of claims so far stands for it.
    let claims: i64 = world.rows.work.values().map(|w| w.epoch).sum::<i64>() + world.rows.attempt.len() as i64;
    let mut token = [0; 16];
    token[..8].copy_from_slice(&claims.to_be_bytes());
    token[8..].copy_from_slice(&world.now.to_be_bytes());
    Ask { consumer, tokens: vec![token], lease: LEASE, owner: world.rows.counters.instance, quiet: false }
}

fn next_due(world: &World) -> Option<Micros> {
    world.rows.work.values().map(|w| w.due).filter(|due| *due > world.now).min()
}

/// The world after a step.
pub fn apply(before: &World, step: Step, setup: &Setup, routings: &Routings) -> World {
    let mut world = before.clone();
    let routing = before.in_force(routings);
    match step {
        Step::Admit(sent) => admitted(&mut world, sent, setup),
        Step::AdmitAndCrash(sent) => {
            admitted(&mut world, sent, setup);
            world.move_copy(sent, Copy::Answered, Copy::Sent);
            crash_process(&mut world);
        }
        Step::AnswerEarly(sent) => world.move_copy(sent, Copy::Sent, Copy::Early),
        Step::Look(sent) => looked(&mut world, sent, setup),
        Step::Route => routed(&mut world, setup, routing),
        Step::PassOpen(router) => pass_open(&mut world, router, routing),
        Step::PassWrite(router) => pass_write(&mut world, router, setup, routing),
        Step::Claim { worker, consumer } => claimed(&mut world, worker, consumer),
        Step::Effect(worker) => effect(&mut world, worker),
        Step::Settle { worker, end } => settled(&mut world, worker, end, setup, routing),
        Step::Wait => waited(&mut world),
        Step::Retry(delivery) => decided(&mut world, &Command::DeadRetry { delivery }, setup),
        Step::Release(event) => decided(&mut world, &Command::HeldRelease { event }, setup),
        Step::Mark(seq) => marked(&mut world, seq, setup),
        Step::Purge => purged(&mut world, setup),
        Step::Configure => {
            let definitions = setup.later.clone();
            drop(configure::configure(&mut world.rows, definitions, world.now));
        }
        Step::CrashProcess => crash_process(&mut world),
        Step::CrashWorker(worker) => crash_worker(&mut world, worker),
    }
    if setup.lacks(Mutation::NoLaneRule) {
        every_delivery_runs(&mut world);
    }
    world.sort_workers();
    world.evidence.broken = invariant::of_step(&before.rows, &world.rows);
    world
}

fn admitted(world: &mut World, sent: usize, setup: &Setup) {
    let submission = &setup.sent[sent].0;
    if setup.lacks(Mutation::LookThenInsert) {
        // What was not there when we looked is inserted as if it still were not.
        forget_key(&mut world.rows, submission);
    }
    let from = [Copy::Early, Copy::Unknown].into_iter().find(|c| world.has_copy(sent, *c)).unwrap_or(Copy::Sent);
    if admit::admit(&mut world.rows, submission, world.now).is_ok() {
        world.move_copy(sent, from, Copy::Answered);
    }
}

fn looked(world: &mut World, sent: usize, setup: &Setup) {
    let submission = &setup.sent[sent].0;
    if items(submission).any(|item| !world.rows.ledger.contains_key(&item.digest)) {
        world.move_copy(sent, Copy::Sent, Copy::Unknown);
    } else if admit::admit(&mut world.rows, submission, world.now).is_ok() {
        world.move_copy(sent, Copy::Sent, Copy::Answered);
    }
}

fn forget_key(rows: &mut Rows, submission: &Submission) {
    for item in items(submission) {
        rows.ledger.remove(&item.digest);
    }
}

fn items(submission: &Submission) -> impl Iterator<Item = &hookonce_core::event::Item> {
    submission.mapped.iter().filter_map(|m| match m {
        Mapped::Item(item) => Some(item.as_ref()),
        Mapped::Unmapped { .. } => None,
    })
}

/// Whether everything of a request is on record: as an event, or as a conflict with one.
pub fn stored(rows: &Rows, submission: &Submission) -> bool {
    items(submission).all(|item| {
        let known = rows.ledger.get(&item.digest).is_some_and(|l| l.fingerprint == item.fingerprint);
        (known && rows.event.values().any(|e| e.digest == item.digest))
            || rows.conflict.contains_key(&(item.digest, item.fingerprint))
    })
}

fn routed(world: &mut World, setup: &Setup, routing: &Routing) {
    let Some(mut opened) = route::open(&world.rows, routing) else { return };
    if setup.lacks(Mutation::NoCursors) {
        opened.cursors.values_mut().for_each(|cursor| *cursor = opened.last.pos);
        (opened.own, opened.upto) = (None, world.rows.counters.event);
        opened.events = route::arrivals(&world.rows, opened.last.pos, opened.upto);
    }
    route::close(&mut world.rows, &opened, routing, world.now);
}

fn pass_open(world: &mut World, router: usize, routing: &Routing) {
    if let Some(opened) = route::open(&world.rows, routing) {
        world.routers[router] = Router::Opened(Box::new(opened));
    }
}

fn pass_write(world: &mut World, router: usize, setup: &Setup, routing: &Routing) {
    let Router::Opened(opened) = std::mem::replace(&mut world.routers[router], Router::Idle) else { return };
    if setup.lacks(Mutation::NoPassFence) {
        // Numbers go on from what is there now: without keys nothing would collide.
        let mut late = *opened;
        if let Some((n, last)) = world.rows.pass.last_key_value() {
            (late.last.n, late.last.seq) = (*n, last.seq);
        }
        route::write(&mut world.rows, &late, routing, world.now);
    } else {
        route::close(&mut world.rows, &opened, routing, world.now);
    }
}

fn claimed(world: &mut World, worker: usize, consumer: i64) {
    let ask = ask(world, consumer);
    if let Some(run) = claim::claim(&mut world.rows, &ask, world.now).pop() {
        world.workers[worker] = Worker::Holds { run, done: false };
    }
}

/// An effect that commits by itself.
fn effect(world: &mut World, worker: usize) {
    if let Worker::Holds { run, done } = &mut world.workers[worker] {
        *done = true;
        world.evidence.effects.push(Effect::of(run));
    }
}

fn settled(world: &mut World, worker: usize, end: Option<End>, setup: &Setup, routing: &Routing) {
    match end {
        Some(End::Failed) => world.left.failures -= 1,
        Some(End::Dead) => world.left.deaths -= 1,
        Some(End::Done) | None => {}
    }
    let Worker::Holds { run, .. } = std::mem::replace(&mut world.workers[worker], Worker::Idle) else { return };
    let Some(ending) = ending(&run, end, routing, world.now) else { return };
    let row = world.rows.work.get(&run.lease.seq).map(|w| (w.epoch, w.token));
    let kept = if setup.lacks(Mutation::NoLeaseGuard) {
        let leased = row.is_some_and(|(_, token)| token.is_some());
        if leased {
            settling::settle_write(&mut world.rows, &ending, world.now);
        }
        leased
    } else {
        settling::settle_one(&mut world.rows, &ending, world.now)
    };
    if let Some((epoch, _)) = row.filter(|r| kept && *r != (run.lease.epoch, Some(run.lease.token))) {
        world.evidence.foreign.push((run.lease.seq, run.lease.epoch, epoch));
    }
    if kept && end == Some(End::Done) && !setup.lacks(Mutation::EffectApart) {
        world.evidence.effects.push(Effect::of(&run));
    }
}

fn ending(run: &Claimed, end: Option<End>, routing: &Routing, now: Micros) -> Option<Ending> {
    let consumer = routing.consumers.iter().find(|c| c.id == run.consumer)?;
    let outcome = match end {
        None => return Some(settle::cancelled(run)),
        Some(End::Done) => Outcome::Done,
        Some(End::Failed) => Outcome::Retry { reason: String::new(), after: None },
        Some(End::Dead) => Outcome::Dead(String::new()),
    };
    Some(settle::plan(run, &outcome, consumer, now.saturating_sub(run.now), 0))
}

fn waited(world: &mut World) {
    let Some(due) = next_due(world) else { return };
    let holder = |w: &Worker| matches!(w, Worker::Holds { run, .. } if claim::holds(&world.rows, &run.lease));
    let ends = world.rows.work.values().any(|w| w.due == due && w.token.is_some());
    if ends && world.workers.iter().any(holder) {
        world.left.expiries = world.left.expiries.saturating_sub(1);
    }
    world.now = due;
}

fn decided(world: &mut World, what: &Command, setup: &Setup) {
    world.left.commands -= 1;
    let who = Who { actor: "ann".into(), reason: String::new() };
    let through = setup.lacks(Mutation::RetryThroughRouter);
    if let (Command::DeadRetry { delivery }, true) = (what, through) {
        open_aside(&mut world.rows, *delivery);
    }
    // A refusal changes nothing: it is a person's answer, not a step that can go wrong.
    let _ = command::command(&mut world.rows, what, &who, world.now);
}

/// Whoever holds it as head will settle it as cancelled; one that is not head keeps its place until then.
fn marked(world: &mut World, seq: i64, setup: &Setup) {
    world.left.marks -= 1;
    let Some(delivery) = world.rows.delivery.get_mut(&seq) else { return };
    delivery.cancel = true;
    if setup.lacks(Mutation::CancelInTheMiddle) {
        (delivery.open, delivery.state) = (false, Some("cancelled".to_owned()));
        world.rows.work.remove(&seq);
    }
}

fn purged(world: &mut World, setup: &Setup) {
    world.left.purges -= 1;
    let now = Keep { payload: 0, ledger: 0 };
    let retention = Retention { sources: ["gh", "crm"].map(|source| (source.to_owned(), now)).into() };
    let hidden = setup.lacks(Mutation::PurgeByOpen).then(|| std::mem::take(&mut world.rows.halted));
    purge::purge(&mut world.rows, &retention, world.now);
    world.rows.halted.extend(hidden.iter().flat_map(|rows| rows.iter().map(|(id, row)| (*id, row.clone()))));
}

/// The dead letter that holds its lane is treated like one that does not: it leaves, to come back at the tail.
fn open_aside(rows: &mut Rows, id: i64) {
    let seq = rows.halted.get(&id).map(|h| h.seq);
    if let Some(delivery) = seq.and_then(|seq| rows.delivery.get_mut(&seq)) {
        delivery.open = false;
    }
}

/// Everything in memory is gone; what was not answered is sent again. A start makes leases of before due at once.
fn crash_process(world: &mut World) {
    world.left.crashes -= 1;
    for copies in &mut world.copies {
        for copy in copies.iter_mut() {
            *copy = match copy {
                Copy::Answered | Copy::Early => Copy::Answered,
                _ => Copy::Sent,
            };
        }
        copies.sort_unstable();
    }
    world.workers.fill(Worker::Idle);
    world.routers.fill(Router::Idle);
    world.rows.counters.instance += 1;
    let instance = world.rows.counters.instance;
    sweep::open_due(&mut world.rows, world.now, instance);
}

fn crash_worker(world: &mut World, worker: usize) {
    world.left.crashes -= 1;
    world.workers[worker] = Worker::Idle;
}

fn every_delivery_runs(world: &mut World) {
    let open = world.rows.delivery.values().filter(|d| d.open).map(|d| d.seq);
    let idle: Vec<i64> = open.filter(|seq| !world.rows.work.contains_key(seq)).collect();
    for seq in idle {
        settling::work_row(&mut world.rows, seq, world.now);
    }
}
