//! The files as they stand when the process dies: copied by another process while a writer is held at a commit.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use hookonce::clock::ManualClock;
use hookonce::sqlite::bed::Sheets;
use hookonce::sqlite::{Options, SqliteStore};
use hookonce::store::Store as _;
use hookonce::testkit::invariant;
use hookonce_core::admit::Verdict;
use hookonce_core::consumer::Order;
use hookonce_core::delivery::Outcome;

use crate::bed::{Bed, consumer, sent};
use crate::tap::Gate;

/// Another process copies: closing a handle of ours would drop SQLite's locks (trap T5).
fn copied(from: &Path) -> tempfile::TempDir {
    let to = tempfile::tempdir().unwrap();
    let done = Command::new("cp").arg("-r").arg(from.join(".")).arg(to.path()).status().unwrap();
    assert!(done.success());
    to
}

/// Opens the copy as a new process would and asks every invariant of it.
async fn revived(folder: &Path, clock: &Arc<ManualClock>) -> SqliteStore {
    let options = Options { clock: clock.clone(), ..Options::default() };
    let store = SqliteStore::open(&folder.join("hookonce.db"), options).unwrap();
    let routing = store.configure(vec![consumer("app", Order::Arrival)]).await.unwrap();
    let sheets = Sheets::of_store(&folder.join("hookonce.db"));
    for db in [&sheets.inbox, &sheets.work] {
        let sound: String = db.query_row("pragma integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(sound, "ok");
    }
    let broken = invariant::of_rows(&sheets.rows(), &BTreeMap::from([(routing.config, routing)]));
    assert!(broken.is_empty(), "{broken:?}");
    store
}

#[tokio::test]
async fn a_death_before_the_commit_leaves_nothing_and_one_behind_it_leaves_all() {
    let gate = Arc::new(Gate::default());
    let tap = gate.clone();
    let bed = Bed::with(|options| Options { tap: Some(tap), ..options });
    bed.admit("a-1", "x").await;
    gate.close("commit");
    let asked = bed.store.admit(sent("a-2", "x"));
    gate.reached();
    let before = copied(bed.folder.path());
    gate.open();
    assert_eq!(asked.await.unwrap().verdicts[0], Verdict::Accepted { event: 2, hold: None });
    let behind = copied(bed.folder.path());
    let (before, behind) = (revived(before.path(), &bed.clock).await, revived(behind.path(), &bed.clock).await);
    for (store, second) in
        [(before, Verdict::Accepted { event: 2, hold: None }), (behind, Verdict::Duplicate { of: 2 })]
    {
        assert_eq!(store.admit(sent("a-1", "x")).await.unwrap().verdicts[0], Verdict::Duplicate { of: 1 });
        assert_eq!(store.admit(sent("a-2", "x")).await.unwrap().verdicts[0], second);
    }
}

#[tokio::test]
async fn work_is_taken_up_again_from_any_commit() {
    let bed = Bed::new();
    for n in 0..6 {
        bed.admit(&format!("a{}-{n}", n % 2), "x").await;
    }
    let mut copies = vec![copied(bed.folder.path())];
    let routing = bed.consumers(vec![consumer("app", Order::Arrival)]).await;
    copies.push(copied(bed.folder.path()));
    bed.route(&routing).await;
    copies.push(copied(bed.folder.path()));
    for _ in 0..3 {
        let runs = bed.claim(1, 10).await;
        copies.push(copied(bed.folder.path()));
        bed.settle(&routing.consumers[0], &runs, &Outcome::Done).await;
        copies.push(copied(bed.folder.path()));
    }
    for copy in copies {
        let store = revived(copy.path(), &bed.clock).await;
        let bed = Bed { store, folder: copy, clock: bed.clock.clone() };
        let routing = bed.consumers(vec![consumer("app", Order::Arrival)]).await;
        bed.route(&routing).await;
        loop {
            let runs = bed.claim(1, 10).await;
            if runs.is_empty() {
                break;
            }
            bed.settle(&routing.consumers[0], &runs, &Outcome::Done).await;
        }
        assert_eq!(bed.work_count("select count(*) from hookonce_delivery where state = 'succeeded'"), 6);
        assert_eq!(bed.work_count("select count(*) from hookonce_delivery"), 6);
    }
}
