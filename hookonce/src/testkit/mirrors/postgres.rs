//! Mirrors on PostgreSQL: a statement finds, writes and answers for a whole set, so it is compared with the model's verb.

use hookonce_core::claim::{Ask, LOST_QUIET};
use hookonce_core::delivery::{HaltKind, State};
use hookonce_core::lease::Lease;
use hookonce_core::settle::{ATTEMPT_ROWS, Attempt, Ending, How};
use hookonce_core::time::Micros;

use super::worlds::{self, NOW, OURS, PLACES, Place, ask, choices, claimable, delivery, lane, work, works};
use super::{Mirror, ingest, mirror};
use crate::postgres::sheets::Sheets;
use crate::sql::call::{Arg, Stmt};
use crate::sql::postgres as sql;
use crate::testkit::model::rows::{Consumer, Work};
use crate::testkit::model::table::Cell;
use crate::testkit::model::{Rows, claim, purge, settle, sweep};
use crate::testkit::{dump, invariant};

/// Every mirror on PostgreSQL. M7 comes with what it mirrors.
pub const ALL: &[Mirror<Sheets>] = &[
    mirror(1, sql::ADMIT_KEYS, ingest::admit_keys),
    mirror(1, sql::ADMIT_SEEN, ingest::admit_seen),
    mirror(2, sql::ADMIT_GUARDS, ingest::admit_guards),
    mirror(2, sql::ADMIT_FLOORS, ingest::admit_floors),
    mirror(3, sql::CLAIM, claim_ordinary),
    mirror(3, sql::CLAIM_QUIET, claim_quiet),
    mirror(4, sql::RENEW, renew),
    mirror(4, sql::RELEASE, release),
    mirror(4, sql::SETTLE_LOCK, settle_lock),
    mirror(4, sql::SETTLE_END, settle_end),
    mirror(4, sql::SETTLE_LATER, settle_later),
    mirror(5, sql::SETTLE_END, settle_next),
    mirror(5, sql::ROUTE_CHECK_NEXT, route_check_next),
    mirror(5, sql::SWEEP_LANES, sweep_lanes),
    mirror(6, sql::PURGE_FACTS, purge_facts),
];

/// Runs the statement in a world, and compares what is left with what the model made of the same world.
fn same(sheets: &Sheets, stmt: &Stmt, args: &[Arg<'_>], world: &Rows, model: &Rows) -> Vec<Vec<Cell>> {
    let (answer, left) = sheets.in_world(world, NOW, stmt, args);
    // To the last token: here nothing is renamed or left out.
    let left = Rows { counters: model.counters.clone(), ..left };
    let differences = dump::differences(&dump::dump(&left), &dump::dump(model));
    assert!(left == *model, "{} with {args:?} (- SQL, + model): {differences:#?}\nin {world:#?}", stmt.name);
    answer
}

/// The numbers of the first column, in order.
fn firsts(answer: Vec<Vec<Cell>>) -> Vec<i64> {
    let first = |row: Vec<Cell>| match row.into_iter().next() {
        Some(Cell::Int(n)) => n,
        other => panic!("{other:?} is no number"),
    };
    let mut firsts: Vec<i64> = answer.into_iter().map(first).collect();
    firsts.sort_unstable();
    firsts
}

fn claim_ordinary(sheets: &Sheets, stmt: &Stmt) -> usize {
    claims(sheets, stmt, false)
}

fn claim_quiet(sheets: &Sheets, stmt: &Stmt) -> usize {
    claims(sheets, stmt, true)
}

/// M3: due, oldest first, left alone or asked for by itself; a token that is still set counts as lost, and the loss is
/// history. Whoever is paused gets nothing.
fn claims(sheets: &Sheets, stmt: &Stmt, quiet: bool) -> usize {
    let mut worlds: Vec<Rows> = choices(&claimable(), 2).iter().map(|rows| works(rows)).collect();
    for states in choices(&["live", "paused"], 2) {
        let mut world = works(&[Some(work(0))]);
        for (at, state) in states.into_iter().enumerate() {
            world.consumer.put(version(at as i64 + 1, state));
        }
        worlds.push(world);
    }
    for world in &worlds {
        for count in [1, 2] {
            claimed(
                sheets,
                stmt,
                world,
                &Ask { tokens: vec![[3; 16], [4; 16]][..count].to_vec(), ..ask(count, quiet) },
            );
        }
    }
    worlds.len() * 2
}

fn version(number: i64, state: &str) -> Consumer {
    Consumer { id: 1, name: "app".into(), number, from_pos: 0, definition: String::new(), state: state.into() }
}

fn claimed(sheets: &Sheets, stmt: &Stmt, world: &Rows, ask: &Ask) {
    let mut model = world.clone();
    let mut taken: Vec<i64> = claim::claim(&mut model, ask, NOW).iter().map(|claimed| claimed.lease.seq).collect();
    taken.sort_unstable();
    let tokens: Vec<&[u8]> = ask.tokens.iter().map(|token| &token[..]).collect();
    let limit = if ask.quiet { 1 } else { tokens.len() as i64 };
    let args = [
        Arg::Int(ask.consumer),
        Arg::Blobs(&tokens),
        Arg::Int(Micros::MIN),
        Arg::Int(LOST_QUIET),
        Arg::Int(limit),
        Arg::Int(ask.lease),
        Arg::Int(ask.owner),
        Arg::Int(ATTEMPT_ROWS),
    ];
    assert_eq!(firsts(same(sheets, stmt, &args, world, &model)), taken, "{} in {world:#?}", stmt.name);
}

/// M4: the fence, as each statement that shows a lease tests it. `model` writes what the statement writes, behind it.
/// `answers`: the seq of what holds comes back.
fn fenced(sheets: &Sheets, stmt: &Stmt, more: &[Arg<'_>], answers: bool, model: impl Fn(&mut Rows, &Lease)) -> usize {
    let worlds = worlds::fenced();
    for (world, lease) in &worlds {
        let mut after = world.clone();
        model(&mut after, lease);
        let (seq, epoch, token, store) = ([lease.seq], [lease.epoch], [&lease.token[..]], [lease.store]);
        let fence = [Arg::Ints(&seq), Arg::Ints(&epoch), Arg::Blobs(&token), Arg::Ints(&store), Arg::Int(1)];
        let answer = firsts(same(sheets, stmt, &[&fence, more].concat(), world, &after));
        let held = claim::holds(world, lease) && answers;
        assert_eq!(answer, if held { vec![lease.seq] } else { vec![] }, "{} in {world:#?}", stmt.name);
    }
    worlds.len()
}

fn renew(sheets: &Sheets, stmt: &Stmt) -> usize {
    fenced(sheets, stmt, &[Arg::Int(100)], true, |rows, lease| {
        claim::renew_one(rows, lease, 100, NOW);
    })
}

fn release(sheets: &Sheets, stmt: &Stmt) -> usize {
    fenced(sheets, stmt, &[], false, |rows, lease| claim::release_one(rows, lease, NOW))
}

fn settle_lock(sheets: &Sheets, stmt: &Stmt) -> usize {
    fenced(sheets, stmt, &[], true, |_, _| {})
}

fn ending(lease: &Lease, how: How) -> Ending {
    Ending {
        lease: *lease,
        id: lease.seq,
        lane: -1,
        consumer: 1,
        event: lease.seq,
        generation: 0,
        attempts: 2,
        how,
        attempt: Attempt { started: 5, took: 2, outcome: "done", detail: "why".into() },
    }
}

fn settle_later(sheets: &Sheets, stmt: &Stmt) -> usize {
    let later = |counted: bool| {
        let (counts, more) = ([counted], How::Later { delay: 7, counted });
        let more_args = [
            Arg::Ints(&[7]),
            Arg::Bools(&counts),
            Arg::Ints(&[2]),
            Arg::Ints(&[5]),
            Arg::Ints(&[7]),
            Arg::Texts(&["done"]),
            Arg::Texts(&["why"]),
            Arg::Int(ATTEMPT_ROWS),
        ];
        fenced(sheets, stmt, &more_args, true, |rows, lease| {
            settle::settle_one(rows, &ending(lease, more.clone()), NOW);
        })
    };
    later(false) + later(true)
}

/// How a head may end: closed, dead and holding its lane, parked and leaving it.
fn hows() -> [How; 3] {
    let halted = |kind, holds_lane| How::Halted { kind, holds_lane, reason: "why".into() };
    [How::Closed(State::Succeeded), halted(HaltKind::Dead, true), halted(HaltKind::Parked, false)]
}

/// The arguments of `settle_end` behind the fence.
fn ends(how: &How) -> (bool, &'static str, Option<&'static str>) {
    match how {
        How::Halted { kind, holds_lane, .. } => (*holds_lane, kind.state().name(), Some(kind.name())),
        How::Closed(state) => (false, state.name(), None),
        How::Later { .. } => unreachable!("it does not end"),
    }
}

fn settle_end(sheets: &Sheets, stmt: &Stmt) -> usize {
    let ended = |how: How| {
        let (open, state, kind) = ends(&how);
        let (opens, states, kinds, reasons) = ([open], [state], [kind], [kind.map(|_| "why")]);
        let more = [
            Arg::Bools(&opens),
            Arg::Texts(&states),
            Arg::Ints(&[2]),
            Arg::OptTexts(&kinds),
            Arg::OptTexts(&reasons),
            Arg::Ints(&[5]),
            Arg::Ints(&[7]),
            Arg::Texts(&["done"]),
            Arg::Texts(&["why"]),
            Arg::Int(ATTEMPT_ROWS),
        ];
        fenced(sheets, stmt, &more, true, |rows, lease| {
            settle::settle_one(rows, &ending(lease, how.clone()), NOW);
        })
    };
    hows().map(ended).iter().sum()
}

/// M5: the first open delivery behind the one that ends, if it has neither work nor halted row; who is fenced makes
/// nobody next.
fn settle_next(sheets: &Sheets, stmt: &Stmt) -> usize {
    let mut tried = 0;
    for how in hows() {
        // The three differ in whether there is a next, not in who it is.
        let places = if matches!(how, How::Closed(_)) { 3 } else { 2 };
        for (places, head, epoch) in heads(places) {
            let mut world = lane(&places);
            world.halted.retain(|id, _| *id != head);
            world.delivery.put(delivery(head, -1, true));
            world.work.put(Work { seq: head, id: head, event: head, token: Some(OURS), ..work(head) });
            let lease = Lease { seq: head, epoch, token: OURS, store: 0 };
            ended(sheets, stmt, &world, &ending(&lease, how.clone()));
            tried += 1;
        }
    }
    tried
}

/// Every lane of so many places, its head before or among them, with a lease that holds (epoch 1) or not.
fn heads(places: usize) -> Vec<(Vec<Place>, i64, i64)> {
    let lanes = choices(&PLACES, places).into_iter();
    lanes.flat_map(|lane| [(0, 1), (2, 1), (0, 2)].map(|(head, epoch)| (lane.clone(), head, epoch))).collect()
}

fn ended(sheets: &Sheets, stmt: &Stmt, world: &Rows, ending: &Ending) {
    let mut model = world.clone();
    settle::settle_one(&mut model, ending, NOW);
    let (lease, (open, state, kind)) = (ending.lease, ends(&ending.how));
    let args = [
        Arg::Ints(&[lease.seq]),
        Arg::Ints(&[lease.epoch]),
        Arg::Blobs(&[&lease.token]),
        Arg::Ints(&[lease.store]),
        Arg::Int(0),
        Arg::Bools(&[open]),
        Arg::Texts(&[state]),
        Arg::Ints(&[2]),
        Arg::OptTexts(&[kind]),
        Arg::OptTexts(&[kind.map(|_| "why")]),
        Arg::Ints(&[5]),
        Arg::Ints(&[7]),
        Arg::Texts(&["done"]),
        Arg::Texts(&["why"]),
        Arg::Int(ATTEMPT_ROWS),
    ];
    same(sheets, stmt, &args, world, &model);
}

/// M5 for a lane that a pass was not sure of; two checks may find the same delivery.
fn route_check_next(sheets: &Sheets, stmt: &Stmt) -> usize {
    let (worlds, mut tried) = (choices(&PLACES, 3), 0);
    for places in &worlds {
        let world = lane(places);
        for behind in [&[0][..], &[1], &[2], &[0, 1]] {
            let mut model = world.clone();
            behind.iter().for_each(|behind| settle::settle_next(&mut model, -1, *behind, NOW));
            let lanes = vec![-1; behind.len()];
            same(sheets, stmt, &[Arg::Ints(&lanes), Arg::Ints(behind)], &world, &model);
            tried += 1;
        }
    }
    tried
}

/// M5: heads that nobody has. The statement looks only one place back, which is enough where lanes end in order.
fn sweep_lanes(sheets: &Sheets, stmt: &Stmt) -> usize {
    let mut tried = 0;
    for places in choices(&PLACES, 3) {
        let world = lane(&places);
        if !invariant::lanes_end_in_order(&world).is_empty() {
            continue;
        }
        let all = [Arg::Int(i64::MIN), Arg::Int(i64::MIN), Arg::Int(i64::MAX), Arg::Int(i64::MAX)];
        let mut found = same(sheets, stmt, &all, &world, &world);
        let heads = sweep::sweep_lanes(&world).into_iter().map(|(lane, seq)| vec![Cell::Int(lane), Cell::Int(seq)]);
        let mut heads: Vec<Vec<Cell>> = heads.collect();
        found.sort();
        heads.sort();
        assert_eq!(found, heads, "in {world:#?}");
        tried += 1;
    }
    tried
}

/// M6: what is open, halted, asked for or held is not done, whatever its deliveries say.
fn purge_facts(sheets: &Sheets, stmt: &Stmt) -> usize {
    let worlds = worlds::unfinished();
    for world in &worlds {
        let done = purge::purge_facts(world, 1);
        let answer = same(sheets, stmt, &[Arg::Ints(&[1])], world, world);
        let ended = done.ended.map_or(Cell::Null, Cell::Int);
        assert_eq!(answer, [vec![Cell::Int(1), Cell::Int(i64::from(done.open)), ended]], "in {world:#?}");
    }
    worlds.len()
}
