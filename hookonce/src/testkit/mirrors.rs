//! Mirrors: the few look-ups of core that SQL repeats (`docs/ARCHITECTURE.md`), each tested over every world of a few
//! rows. A world is loaded, the one statement is run, and what it answered and left is compared with the model's
//! function of the same name.
//!
//! Start at [`ALL`]: a statement file that says `-- Mirrors Mn` in its first line is on it, and nothing else is.

use hookonce_core::claim::{Ask, LOST_QUIET};
use hookonce_core::lease::{Lease, Token};
use hookonce_core::time::Micros;

use super::dump;
use super::model::rows::{Delivery, Halted, Ledger, Namespace, Work};
use super::model::table::{Cell, File};
use super::model::{Rows, admit, claim, settle, sweep};
use super::script::{item, words};
use crate::sql::call::{Arg, Stmt};
use crate::sql::sqlite as sql;
use crate::sqlite::bed::Sheets;

/// A statement that mirrors a look-up of core, and the test of it, which answers how many worlds it tried.
pub struct Mirror {
    pub number: u8,
    pub stmt: &'static Stmt,
    pub test: fn(&Sheets, &Stmt) -> usize,
}

impl std::fmt::Debug for Mirror {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "M{} {}", self.number, self.stmt.name)
    }
}

const fn mirror(number: u8, stmt: &'static Stmt, test: fn(&Sheets, &Stmt) -> usize) -> Mirror {
    Mirror { number, stmt, test }
}

/// Every mirror on SQLite. M6 and M7 come with what they mirror.
pub const ALL: &[Mirror] = &[
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
];

const NOW: Micros = 1_000;
const OURS: Token = [1; 16];
const THEIRS: Token = [2; 16];

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

/// Every way to choose one of the options for each of `places`.
fn choices<T: Clone>(options: &[T], places: usize) -> Vec<Vec<T>> {
    (0..places).fold(vec![Vec::new()], |worlds, _| {
        let with = |world: &Vec<T>, option: &T| [world.as_slice(), std::slice::from_ref(option)].concat();
        worlds.iter().flat_map(|world| options.iter().map(|option| with(world, option)).collect::<Vec<_>>()).collect()
    })
}

fn work(seq: i64) -> Work {
    Work {
        seq,
        id: seq,
        lane: -1,
        event: seq,
        consumer: 1,
        generation: 0,
        repeat: None,
        due: NOW,
        since: None,
        attempts: 0,
        lost: 0,
        decided: None,
        epoch: 1,
        token: None,
        owner: None,
    }
}

fn delivery(seq: i64, lane: i64, open: bool) -> Delivery {
    let state = (!open).then(|| "succeeded".to_owned());
    Delivery {
        seq,
        lane,
        id: seq,
        consumer: 1,
        event: seq,
        generation: 0,
        repeat: None,
        open,
        cancel: false,
        decided: None,
        state,
        attempts: 0,
        ended: None,
    }
}

fn halted(seq: i64, lane: i64) -> Halted {
    Halted {
        id: seq,
        seq,
        lane,
        consumer: 1,
        event: seq,
        generation: 0,
        aggregate: None,
        version: None,
        kind: "dead".into(),
        reason: String::new(),
        evidence: None,
        since: 0,
        attempts: 1,
        lost: 0,
        epoch: 1,
    }
}

fn a_copy(body: &str) -> hookonce_core::event::Item {
    let line = words::line(1, &format!("admit gh/1 guard=hold:S body={body}"));
    let mapped = item::submission(&line, NOW).expect("the line is written by hand").mapped.remove(0);
    match mapped {
        hookonce_core::event::Mapped::Item(item) => *item,
        hookonce_core::event::Mapped::Unmapped { .. } => unreachable!("the line names a key"),
    }
}

fn ledger(digest: [u8; 16], event: i64, last_seen: Micros) -> Ledger {
    let item = a_copy("A");
    Ledger {
        digest,
        fingerprint: item.fingerprint,
        body_hash: item.body_hash,
        rule: item.rule,
        event,
        first_seen: 1,
        last_seen,
        seen: 3,
    }
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

fn ledgers(rows: &[Option<Ledger>]) -> Rows {
    let mut world = Rows::default();
    rows.iter().flatten().for_each(|row| world.ledger.put(row.clone()));
    world
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

fn ask(count: usize, quiet: bool) -> Ask {
    Ask { consumer: 1, tokens: vec![THEIRS; count], lease: 100, owner: 2, quiet }
}

/// Work rows as a claim may find them.
fn claimable() -> Vec<Option<Work>> {
    let mut rows = vec![None];
    for due in [NOW - 1, NOW, NOW + 1] {
        for lost in [0, LOST_QUIET - 1, LOST_QUIET, LOST_QUIET + 1] {
            for token in [None, Some(OURS)] {
                rows.push(Some(Work { due, lost, token, ..work(0) }));
            }
        }
    }
    rows.push(Some(Work { consumer: 2, ..work(0) }));
    rows
}

fn works(rows: &[Option<Work>]) -> Rows {
    let mut world = Rows::default();
    for (at, row) in rows.iter().enumerate() {
        let seq = at as i64 + 1;
        if let Some(row) = row {
            world.work.put(Work { seq, id: seq, event: seq, ..row.clone() });
        }
    }
    world
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
    let held = [None, Some((1, None)), Some((1, Some(OURS))), Some((1, Some(THEIRS))), Some((2, Some(OURS)))];
    let mut worlds = 0;
    for (row, seq) in held.iter().flat_map(|row| [1, 2].map(|seq| (row, seq))) {
        for (epoch, token) in [(1, OURS), (1, THEIRS), (2, OURS), (2, THEIRS)] {
            for store in [0, 1] {
                let mut world = works(&[row.map(|(epoch, token)| Work { epoch, token, ..work(0) })]);
                world.counters.generation = 1;
                let lease = Lease { seq, epoch, token, store };
                let mut after = world.clone();
                model(&mut after, &lease);
                let fence = [Arg::Int(seq), Arg::Int(epoch), Arg::Blob(&lease.token), Arg::Int(store), Arg::Int(1)];
                same(sheets, File::Work, stmt, &[&fence, more].concat(), &world, &after);
                worlds += 1;
            }
        }
    }
    worlds
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

/// One place in a lane or beside it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Nothing,
    Elsewhere,
    Closed,
    ClosedHalted,
    Open,
    OpenWork,
    OpenHalted,
}

const PLACES: [Place; 7] = [
    Place::Nothing,
    Place::Elsewhere,
    Place::Closed,
    Place::ClosedHalted,
    Place::Open,
    Place::OpenWork,
    Place::OpenHalted,
];

fn lane(places: &[Place]) -> Rows {
    let mut world = Rows::default();
    for (at, place) in places.iter().enumerate() {
        let seq = at as i64 + 1;
        match place {
            Place::Nothing => continue,
            Place::Elsewhere => world.delivery.put(delivery(seq, -2, true)),
            Place::Closed | Place::ClosedHalted => world.delivery.put(delivery(seq, -1, false)),
            Place::Open | Place::OpenWork | Place::OpenHalted => world.delivery.put(delivery(seq, -1, true)),
        }
        match place {
            Place::OpenWork => world.work.put(work(seq)),
            Place::ClosedHalted | Place::OpenHalted => world.halted.put(halted(seq, -1)),
            _ => {}
        }
    }
    world
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
        if !super::invariant::lanes_end_in_order(&world).is_empty() {
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
