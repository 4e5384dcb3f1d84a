//! The two files: what they are opened with, and which pairs do not open.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use hookonce::sqlite::{OpenError, Options, SqliteStore};
use hookonce_core::admit::Verdict;
use hookonce_core::consumer::Order;

use crate::bed::{Bed, consumer};

fn open(folder: &Path) -> Result<SqliteStore, OpenError> {
    SqliteStore::open(&folder.join("hookonce.db"), Options::default())
}

/// A folder with a store that was closed, after `events` events and their passes.
async fn stored(events: usize) -> tempfile::TempDir {
    let bed = Bed::new();
    let routing = bed.consumers(vec![consumer("app", Order::None)]).await;
    for n in 0..events {
        bed.admit(&format!("k{n}"), "x").await;
    }
    bed.route(&routing).await;
    drop(bed.store);
    bed.folder
}

#[tokio::test]
async fn f23a_the_settings_that_make_a_commit_durable_are_read_back() {
    let bed = Bed::new();
    for file in ["inbox", "work"] {
        let of = |name: &str| {
            let found = bed.store.settings().iter().find(|s| s.file == file && s.name == name);
            found.map(|s| s.value.clone()).unwrap_or_default()
        };
        let all = ["journal_mode", "synchronous", "page_size", "wal_autocheckpoint"].map(of);
        assert_eq!(all, ["wal", "2", "4096", "0"], "{file}");
    }
}

#[tokio::test]
async fn files_are_for_us_alone_and_no_second_server_opens_them() {
    let bed = Bed::new();
    bed.admit("k", "x").await;
    for entry in std::fs::read_dir(bed.folder.path()).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{:?}", entry.file_name());
    }
    assert!(matches!(open(bed.folder.path()), Err(OpenError::Locked(_))));
}

#[tokio::test]
async fn a_pair_that_does_not_match_does_not_open() {
    let (ours, theirs) = (stored(3).await, stored(3).await);
    let other = rusqlite::Connection::open(theirs.path().join("hookonce.db")).unwrap();
    other.execute("update hookonce_setting set value = x'3939' where name = 'store_id'", []).unwrap();
    drop(other);
    std::fs::copy(theirs.path().join("hookonce.db"), ours.path().join("hookonce.db")).unwrap();
    assert!(matches!(open(ours.path()), Err(OpenError::Mismatch(_))));
}

#[tokio::test]
async fn a_work_file_that_leads_does_not_open() {
    let (older, newer) = (stored(3).await, stored(5).await);
    std::fs::copy(newer.path().join("hookonce.db"), older.path().join("hookonce.db")).unwrap();
    let refused = open(older.path());
    assert!(matches!(&refused, Err(OpenError::Mismatch(why)) if why.contains('5')), "{refused:?}");
    // The other way round is a work file that lags: the router goes on from there.
    let (older, newer) = (stored(3).await, stored(5).await);
    std::fs::copy(older.path().join("hookonce.db"), newer.path().join("hookonce.db")).unwrap();
    open(newer.path()).unwrap();
}

#[tokio::test]
async fn half_a_store_does_not_open_however_often_it_is_tried() {
    let folder = stored(3).await;
    std::fs::remove_file(folder.path().join("hookonce.db")).unwrap();
    for _ in 0..2 {
        let refused = open(folder.path());
        assert!(matches!(&refused, Err(OpenError::Mismatch(_))), "{refused:?}");
    }
    let folder = stored(3).await;
    std::fs::remove_file(folder.path().join("hookonce.inbox.db")).unwrap();
    for _ in 0..2 {
        assert!(matches!(open(folder.path()), Err(OpenError::Mismatch(_))));
    }
}

#[tokio::test]
async fn a_file_of_a_later_program_is_left_alone() {
    let folder = stored(0).await;
    let db = rusqlite::Connection::open(folder.path().join("hookonce.inbox.db")).unwrap();
    db.execute("update hookonce_setting set value = cast('99' as blob) where name = 'schema'", []).unwrap();
    drop(db);
    assert!(matches!(open(folder.path()), Err(OpenError::Newer { found: 99, .. })));
}

#[tokio::test]
async fn closing_finishes_what_was_handed_in() {
    use hookonce::store::Store as _;
    let bed = Bed::new();
    let asked: Vec<_> = (0..50).map(|n| bed.store.admit(crate::bed::sent(&format!("k{n}"), "x"))).collect();
    bed.store.close().await.unwrap();
    for answer in futures_util::future::join_all(asked).await {
        assert!(matches!(answer.unwrap().verdicts[0], Verdict::Accepted { .. }));
    }
    let after = bed.store.admit(crate::bed::sent("late", "x")).await;
    assert_eq!(after.unwrap_err(), hookonce::store::StoreError::Closed);
    let log = bed.folder.path().join("hookonce.inbox.db-wal");
    assert!(std::fs::metadata(log).map_or(0, |found| found.len()) == 0, "no recovery is left for the next start");
}
