//! Mirrors of admission on PostgreSQL.

use super::worlds::{NOW, a_copy, choices, ledger, ledgers};
use crate::postgres::sheets::Sheets;
use crate::sql::call::{Arg, Stmt};
use crate::testkit::dump;
use crate::testkit::model::rows::{Ledger, Namespace};
use crate::testkit::model::table::Cell;
use crate::testkit::model::{Rows, admit};

const OTHER: [u8; 16] = [9; 16];

/// To the last column.
fn agree(stmt: &Stmt, left: Rows, model: &Rows, world: &Rows) {
    let left = Rows { counters: model.counters.clone(), ..left };
    let differences = dump::differences(&dump::dump(&left), &dump::dump(model));
    assert!(left == *model, "{} (- SQL, + model): {differences:#?}\nin {world:#?}", stmt.name);
}

/// What may stand under the key of the copy: equal and other content, under its rule and an older one.
fn standing() -> Vec<Option<Ledger>> {
    let digest = a_copy("A").digest;
    let mut rows = vec![None];
    for last in [5, NOW, NOW + 5] {
        let row = ledger(digest, 7, last);
        rows.push(Some(row.clone()));
        for (rule, body_hash) in [(row.rule, row.body_hash), (2, row.body_hash), (2, [0; 32])] {
            rows.push(Some(Ledger { fingerprint: [0; 32], rule, body_hash, ..row.clone() }));
        }
    }
    rows
}

/// M1: a digest is known, or its row is inserted; a copy that counts raises `seen`, and the time never runs back.
pub fn admit_keys(sheets: &Sheets, stmt: &Stmt) -> usize {
    let (item, worlds) = (a_copy("A"), standing());
    for row in &worlds {
        let world = ledgers(&[row.clone(), Some(ledger(OTHER, 8, 5))]);
        // Of the second element only the number is asked for.
        let args = [
            Arg::OptBlobs(&[Some(&item.digest), None]),
            Arg::OptBlobs(&[Some(&item.fingerprint), None]),
            Arg::OptBlobs(&[Some(&item.body_hash), None]),
            Arg::OptInts(&[Some(item.rule), None]),
        ];
        let (answer, left) = sheets.in_world(&world, NOW, stmt, &args);
        let number = |place: i64| match answer.iter().find(|row| row[0] == Cell::Int(place)).map(|row| &row[1]) {
            Some(Cell::Int(number)) => *number,
            other => panic!("{other:?} is no number"),
        };
        assert!(number(1) < number(2), "numbers are drawn in order");
        let mut model = world.clone();
        if !admit::admit_key(&mut model, &item, number(1), NOW) {
            admit::admit_seen(&mut model, &item, NOW);
        }
        agree(stmt, left, &model, &world);
        let row = &model.ledger[&item.digest];
        let hashes = [&row.digest[..], &row.fingerprint, &row.body_hash].map(|hash| Cell::Blob(hash.to_vec()));
        let [digest, fingerprint, body_hash] = hashes;
        let (event, rule) = (Cell::Int(row.event), Cell::Int(row.rule));
        let want = vec![Cell::Null, Cell::Null, event, digest, fingerprint, body_hash, rule];
        assert!(answer.contains(&want), "{answer:?} does not say {want:?}");
    }
    worlds.len()
}

/// M1: further copies, as many as there are.
pub fn admit_seen(sheets: &Sheets, stmt: &Stmt) -> usize {
    let item = a_copy("A");
    let rows = [None, Some(5), Some(NOW), Some(NOW + 5)].map(|last| last.map(|last| ledger(item.digest, 7, last)));
    for row in &rows {
        for copies in [1, 2] {
            let world = ledgers(&[row.clone(), Some(ledger(OTHER, 8, 5))]);
            let args = [Arg::Blobs(&[&item.digest]), Arg::Ints(&[copies]), Arg::Int(NOW)];
            let (_, left) = sheets.in_world(&world, NOW, stmt, &args);
            let mut model = world.clone();
            for _ in 0..copies {
                admit::admit_seen(&mut model, &item, NOW);
            }
            agree(stmt, left, &model, &world);
        }
    }
    rows.len() * 2
}

/// M2: whose guard row it is; one that is there stays as it is.
pub fn admit_guards(sheets: &Sheets, stmt: &Stmt) -> usize {
    let item = a_copy("A");
    let guard = item.guard.map_or([0; 16], |guard| guard.digest);
    let worlds = choices(&[None, Some(ledger(guard, 7, 5)), Some(ledger(OTHER, 8, 5))], 2);
    for rows in &worlds {
        let world = ledgers(rows);
        let args = [
            Arg::Blobs(&[&guard]),
            Arg::Blobs(&[&item.fingerprint]),
            Arg::Blobs(&[&item.body_hash]),
            Arg::Ints(&[item.rule]),
            Arg::Ints(&[9]),
            Arg::Int(NOW),
        ];
        let (answer, left) = sheets.in_world(&world, NOW, stmt, &args);
        let mut model = world.clone();
        admit::admit_guard(&mut model, &item, 9, NOW);
        agree(stmt, left, &model, &world);
        let event = Cell::Int(model.ledger[&guard].event);
        assert_eq!(answer, [vec![Cell::Blob(guard.to_vec()), event]], "in {world:#?}");
    }
    worlds.len()
}

/// M2: the floor of the namespace, where it has one.
pub fn admit_floors(sheets: &Sheets, stmt: &Stmt) -> usize {
    let (item, mut worlds) = (a_copy("A"), 0);
    for floor in [None, Some(None), Some(Some(5))] {
        for name in ["gh", "crm"] {
            let mut world = Rows::default();
            if let Some(floor) = floor {
                world.namespace.put(Namespace { name: name.into(), floor });
            }
            let (answer, left) = sheets.in_world(&world, NOW, stmt, &[Arg::Texts(&[&item.namespace])]);
            agree(stmt, left, &world, &world);
            let floor = admit::admit_beside(&world, &item).floor;
            let want = floor.map(|floor| vec![Cell::Text(item.namespace.to_string()), Cell::Int(floor)]);
            assert_eq!(answer, want.into_iter().collect::<Vec<_>>(), "in {world:#?}");
            worlds += 1;
        }
    }
    worlds
}
