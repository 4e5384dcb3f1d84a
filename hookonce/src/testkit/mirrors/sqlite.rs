//! Mirrors on SQLite, which runs them on the rows of one after the other.

use hookonce_core::claim::LOST_QUIET;
use hookonce_core::lease::Lease;
use hookonce_core::time::Micros;

use super::worlds::{self, NOW, PLACES, THEIRS, a_copy, ask, choices, claimable, lane, ledger, ledgers, works};
use super::{Mirror, mirror};
use crate::sql::call::{Arg, Stmt};
use crate::sql::sqlite as sql;
use crate::sqlite::bed::Sheets;
use crate::testkit::model::rows::Namespace;
use crate::testkit::model::table::{Cell, File};
use crate::testkit::model::{Rows, admit, claim, purge, settle, sweep};
use crate::testkit::{dump, invariant};

/// Every mirror on SQLite. M7 comes with what it mirrors.
pub const ALL: &[Mirror<Sheets>] = &[
    mirror(1, sql::ADMIT_KEY, admit_key),
    mirror(1, sql::ADMIT_SEEN, admit_seen),
    mirror(2, sql::ADMIT_BESIDE, admit_beside),
    mirror(3, sql::CLAIM_DUE, claim_due),
    mirror(3, sql::CLAIM_DUE_QUIET, claim_due_quiet),
    mirror(3, sql::CLAIM_TAKE, claim_take),
    mirror(4, sql::RENEW, renew),
    mirror(4, sql::RELEASE, release),
    mirror(4, sql::SETTLE_GONE, settle_gone),
    mirror(4, sql::SETTLE_LATER, settle_later),
    mirror(5, sql::SETTLE_NEXT, settle_next),
    mirror(5, sql::SWEEP_LANES, sweep_lanes),
    mirror(6, sql::PURGE_FACTS, purge_facts),
];

/// Loads a world, runs the statement, and compares what is left with what the model made of the same world.
fn same(sheets: &Sheets, file: File, stmt: &Stmt, args: &[Arg<'_>], world: &Rows, model: &Rows) -> Vec<Vec<Cell>> {
    sheets.load(world);
    let answer = sheets.run(file, stmt, args);
    // To the last token: here nothing is renamed or left out.
    let left = Rows { counters: model.counters.clone(), ..sheets.rows() };
    let differences = dump::differences(&dump::dump(&left), &dump::dump(model));
    assert!(left == *model, "{} with {args:?} (- SQL, + model): {differences:#?}\nin {world:#?}", stmt.name);
    answer
}

/// M1: a digest is known, whatever stands under it, or its row is inserted.
fn admit_key(sheets: &Sheets, stmt: &Stmt) -> usize {
    let item = a_copy("A");
    let others = [None, Some(ledger(item.digest, 7, 5)), Some(ledger([9; 16], 8, 5))];
    let worlds = choices(&others, 2);
    for rows in &worlds {
        let world = ledgers(rows);
        let mut model = world.clone();
        admit::admit_key(&mut model, &item, 9, NOW);
        let (fingerprint, body) = (Arg::Blob(&item.fingerprint), Arg::Blob(&item.body_hash));
        let args = [Arg::Blob(&item.digest), fingerprint, body, Arg::Int(item.rule), Arg::Int(9), Arg::Int(NOW)];
        same(sheets, File::Inbox, stmt, &args, &world, &model);
    }
    worlds.len()
}

/// M1: a copy that counts raises `seen`; the time never runs back.
fn admit_seen(sheets: &Sheets, stmt: &Stmt) -> usize {
    let item = a_copy("A");
    let others = [None, Some(5), Some(NOW), Some(NOW + 5)].map(|last| last.map(|last| ledger(item.digest, 7, last)));
    let worlds = choices(&others, 1);
    for rows in &worlds {
        let mut world = ledgers(rows);
        world.ledger.put(ledger([9; 16], 8, 5));
        let mut model = world.clone();
        admit::admit_seen(&mut model, &item, NOW);
        same(sheets, File::Inbox, stmt, &[Arg::Blob(&item.digest), Arg::Int(NOW)], &world, &model);
    }
    worlds.len()
}

/// M2: the event that the guard's row belongs to, and the floor of the namespace.
fn admit_beside(sheets: &Sheets, stmt: &Stmt) -> usize {
    let (item, mut worlds) = (a_copy("A"), 0);
    let guard = item.guard.map_or([0; 16], |g| g.digest);
    for met in [None, Some(ledger(guard, 7, 5)), Some(ledger([9; 16], 8, 5))] {
        for floor in [None, Some(None), Some(Some(5))] {
            for name in ["gh", "crm"] {
                let mut world = ledgers(std::slice::from_ref(&met));
                if let Some(floor) = floor {
                    world.namespace.put(Namespace { name: name.into(), floor });
                }
                let beside = admit::admit_beside(&world, &item);
                let args = [Arg::Blob(&guard), Arg::Text(&item.namespace)];
                let answer = same(sheets, File::Inbox, stmt, &args, &world, &world);
                assert_eq!(answer, [vec![int(beside.guard), int(beside.floor)]], "in {world:#?}");
                worlds += 1;
            }
        }
    }
    worlds
}

fn int(value: Option<i64>) -> Cell {
    value.map_or(Cell::Null, Cell::Int)
}

/// M3: due, oldest first, and what must run with nothing beside it only for a claim of its own.
fn claim_due(sheets: &Sheets, stmt: &Stmt) -> usize {
    dues(sheets, stmt, false)
}

fn claim_due_quiet(sheets: &Sheets, stmt: &Stmt) -> usize {
    dues(sheets, stmt, true)
}

fn dues(sheets: &Sheets, stmt: &Stmt, quiet: bool) -> usize {
    let worlds = choices(&claimable(), 2);
    for rows in &worlds {
        let world = works(rows);
        for count in [1, 2] {
            let ask = ask(count, quiet);
            let limit = if quiet { 1 } else { count as i64 };
            let args = [Arg::Int(1), Arg::Int(NOW), Arg::Int(LOST_QUIET), Arg::Int(limit)];
            let answer = same(sheets, File::Work, stmt, &args, &world, &world);
            let found: Vec<Option<Cell>> = answer.into_iter().map(|row| row.into_iter().next()).collect();
            let wanted = claim::claim_due(&world, &ask, NOW).into_iter().map(|seq| Some(Cell::Int(seq)));
            assert_eq!(found, wanted.collect::<Vec<_>>(), "{} takes {count} of {world:#?}", stmt.name);
        }
    }
    worlds.len() * 2
}

/// M3: a token that is still set counts as lost.
fn claim_take(sheets: &Sheets, stmt: &Stmt) -> usize {
    let worlds = claimable();
    for row in &worlds {
        let world = works(std::slice::from_ref(row));
        let mut model = world.clone();
        claim::claim_take(&mut model, &ask(1, false), 1, THEIRS, NOW);
        // The row of history is a statement of its own.
        model.attempt = world.attempt.clone();
        let args = [Arg::Int(1), Arg::Int(NOW + 100), Arg::Blob(&THEIRS), Arg::Int(2)];
        same(sheets, File::Work, stmt, &args, &world, &model);
    }
    worlds.len()
}

/// M4: the fence, as each statement that shows a lease tests it. `model` writes what the statement writes, behind it.
fn fenced(sheets: &Sheets, stmt: &Stmt, more: &[Arg<'_>], model: impl Fn(&mut Rows, &Lease)) -> usize {
    let worlds = worlds::fenced();
    for (world, lease) in &worlds {
        let mut after = world.clone();
        model(&mut after, lease);
        let (seq, epoch, store) = (Arg::Int(lease.seq), Arg::Int(lease.epoch), Arg::Int(lease.store));
        let fence = [seq, epoch, Arg::Blob(&lease.token), store, Arg::Int(1)];
        same(sheets, File::Work, stmt, &[&fence, more].concat(), world, &after);
    }
    worlds.len()
}

fn renew(sheets: &Sheets, stmt: &Stmt) -> usize {
    let more = [Arg::Int(NOW + 100)];
    fenced(sheets, stmt, &more, |rows, lease| {
        claim::renew_one(rows, lease, 100, NOW);
    })
}

fn release(sheets: &Sheets, stmt: &Stmt) -> usize {
    fenced(sheets, stmt, &[Arg::Int(NOW)], |rows, lease| claim::release_one(rows, lease, NOW))
}

fn settle_gone(sheets: &Sheets, stmt: &Stmt) -> usize {
    fenced(sheets, stmt, &[], |rows, lease| {
        if claim::holds(rows, lease) {
            settle::settle_gone(rows, lease.seq);
        }
    })
}

fn settle_later(sheets: &Sheets, stmt: &Stmt) -> usize {
    let later = |since: Option<Micros>| [Arg::Int(NOW + 7), Arg::Int(2), Arg::int(since)];
    let model = |counted: bool| {
        move |rows: &mut Rows, lease: &Lease| {
            if claim::holds(rows, lease) {
                settle::settle_later(rows, lease.seq, 2, 7, counted, NOW);
            }
        }
    };
    fenced(sheets, stmt, &later(None), model(false)) + fenced(sheets, stmt, &later(Some(NOW)), model(true))
}

/// M5: the first open delivery behind the last one closed, if it has neither work nor halted row.
fn settle_next(sheets: &Sheets, stmt: &Stmt) -> usize {
    let worlds = choices(&PLACES, 3);
    for places in &worlds {
        let world = lane(places);
        for behind in 0..=2 {
            let mut model = world.clone();
            settle::settle_next(&mut model, -1, behind, NOW);
            let args = [Arg::Int(-1), Arg::Int(behind), Arg::Int(NOW)];
            same(sheets, File::Work, stmt, &args, &world, &model);
        }
    }
    worlds.len() * 3
}

/// M5: heads that nobody has. The statement looks only one place back, which is enough where lanes end in order.
fn sweep_lanes(sheets: &Sheets, stmt: &Stmt) -> usize {
    let mut tried = 0;
    for places in choices(&PLACES, 3) {
        let world = lane(&places);
        if !invariant::lanes_end_in_order(&world).is_empty() {
            continue;
        }
        let answer = same(sheets, File::Work, stmt, &[Arg::Int(0), Arg::Int(9)], &world, &world);
        let mut found: Vec<Vec<Cell>> = answer;
        let heads = sweep::sweep_lanes(&world).into_iter().map(|(lane, seq)| vec![Cell::Int(seq), Cell::Int(lane)]);
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
        let answer = same(sheets, File::Work, stmt, &[Arg::Int(1)], world, world);
        assert_eq!(answer, [vec![Cell::Int(i64::from(done.open)), int(done.ended)]], "in {world:#?}");
    }
    worlds.len()
}
