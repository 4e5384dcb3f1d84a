//! A backup of a store that is served, and what a store is that was brought back from one.

use std::fs;
use std::path::{Path, PathBuf};

use hookonce::backup::{BackupError, Manifest, Order, Restored};
use hookonce::sqlite::backup::backup;
use hookonce::sqlite::restore::restore;
use hookonce::sqlite::{OpenError, Options, SqliteStore};
use hookonce::store::Store as _;
use hookonce_core::admit::Verdict;
use hookonce_core::consumer;
use hookonce_core::delivery::Outcome;
use hookonce_core::event::{HoldReason, Mapped};
use hookonce_core::settle::Settled;
use hookonce_core::time::{HOUR, Micros, SECOND};

use crate::bed::{Bed, T0, consumer, item, of_items};

fn silent(_: u64, _: u64) {}

fn take(bed: &Bed, name: &str) -> (PathBuf, Manifest) {
    let to = bed.folder.path().join(name);
    let manifest = backup(&bed.work_file(), &to, T0, &mut silent).unwrap();
    (to, manifest)
}

fn bring(from: &Path, to: &Path, now: Micros) -> Result<Restored, BackupError> {
    let namespaces = ["shop".to_owned()];
    restore(to, &Order { from, replace: false, namespaces: &namespaces }, now)
}

fn open(path: &Path) -> Result<SqliteStore, OpenError> {
    let clock = std::sync::Arc::new(hookonce::clock::ManualClock::new(T0 + HOUR));
    SqliteStore::open(path, Options { clock, ..Options::default() })
}

/// An item that says when it happened.
async fn happened(store: &SqliteStore, namespace: &str, key: &str, at: Micros) -> Verdict {
    let mut item = item(key, b"x");
    (item.event_time, item.namespace) = (Some(at), namespace.into());
    let sent = of_items(b"x", vec![Mapped::Item(Box::new(item))]);
    store.admit(sent).await.unwrap().verdicts.remove(0)
}

#[tokio::test]
async fn a_store_that_was_brought_back_knows_what_it_knew_and_holds_what_it_may_have_known() {
    let bed = Bed::new();
    for n in 0..40 {
        bed.admit(&format!("k{n}"), "x").await;
    }
    let (from, manifest) = take(&bed, "taken");
    assert_eq!((manifest.events, manifest.generation, manifest.taken), (40, 1, T0));
    bed.admit("lost", "x").await;
    let target = bed.folder.path().join("again.db");
    let done = bring(&from, &target, T0 + HOUR).unwrap();
    assert_eq!((done.again.generation, done.again.from, done.again.to), (2, T0, T0 + HOUR));
    let store = open(&target).unwrap();
    assert_eq!((store.identity().store, store.identity().generation), (bed.store.identity().store, 2));
    assert_eq!(happened(&store, "crm", "k39", T0).await, Verdict::Duplicate { of: 40 });
    let first = (2 << 40) + 1;
    let held = Verdict::Accepted { event: first, hold: Some(HoldReason::BeyondRetention) };
    assert_eq!(happened(&store, "crm", "lost", T0 + 1).await, held, "it may have been");
    let held = Verdict::Accepted { event: first + 1, hold: Some(HoldReason::BeyondRetention) };
    assert_eq!(happened(&store, "shop", "first", T0 + HOUR).await, held, "a namespace that the backup has not met");
    let fresh = Verdict::Accepted { event: first + 2, hold: None };
    assert_eq!(happened(&store, "crm", "new", T0 + HOUR + 1).await, fresh);
}

/// The pair that is copied under load is one that opens, and what the router did before is not done again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_under_load_is_of_one_moment() {
    let bed = Bed::new();
    let routing = bed.consumers(vec![consumer("app", consumer::Order::None)]).await;
    bed.admit_all((0..200).map(|n| crate::bed::sent(&format!("k{n}"), "x")).collect()).await;
    bed.route(&routing).await;
    let (work, to) = (bed.work_file(), bed.folder.path().join("taken"));
    let (go, mut began) = tokio::sync::mpsc::unbounded_channel();
    let copying = std::thread::spawn(move || backup(&work, &to, T0, &mut |_, _| go.send(()).unwrap_or(())).map(|_| to));
    began.recv().await.unwrap();
    for n in 0..200 {
        bed.admit(&format!("late{n}"), "x").await;
        bed.route(&routing).await;
    }
    let target = bed.folder.path().join("again.db");
    bring(&copying.join().unwrap().unwrap(), &target, T0).unwrap();
    let store = open(&target).unwrap();
    let routing = store.configure(vec![consumer("app", consumer::Order::None)]).await.unwrap();
    while store.route(&routing).await.unwrap().more {}
    let due = store.claim(bed.ask(routing.consumers[0].id, 500)).await.unwrap().len();
    assert!((200..=400).contains(&due), "{due} of the 200 that were there, and perhaps later ones");
}

#[tokio::test]
async fn a_lease_from_before_is_over() {
    let bed = Bed::new();
    let app = consumer("app", consumer::Order::None);
    let routing = bed.consumers(vec![app.clone()]).await;
    bed.admit("k", "x").await;
    bed.route(&routing).await;
    let id = routing.consumers[0].id;
    let runs = bed.claim(id, 1).await;
    let (from, _) = take(&bed, "taken");
    let target = bed.folder.path().join("again.db");
    bring(&from, &target, T0 + SECOND).unwrap();
    let store = open(&target).unwrap();
    let mut lease = runs[0].claimed.clone();
    // Of a worker that asks its new server: what it was given says another generation, or, if it had forgotten that,
    // another epoch.
    for generation in [1, 2] {
        lease.lease.store = generation;
        let ending = hookonce_core::settle::plan(&lease, &Outcome::Done, &app, 10, 0);
        assert_eq!(store.settle(vec![ending], None).await.unwrap().0, [Settled::Fenced], "{generation}");
    }
    assert_eq!(store.claim(bed.ask(id, 1)).await.unwrap().len(), 1, "it is due again");
}

#[tokio::test]
async fn what_stands_in_its_place_is_kept_and_only_if_asked_for() {
    let bed = Bed::new();
    bed.admit("k", "x").await;
    let (from, _) = take(&bed, "taken");
    bed.admit("later", "x").await;
    let work = bed.work_file();
    let order = |replace| Order { from: &from, replace, namespaces: &[] };
    assert!(matches!(restore(&work, &order(true), T0), Err(BackupError::Sqlite(OpenError::Locked(_)))), "it is served");
    let Bed { folder, store, .. } = bed;
    drop(store);
    assert!(matches!(restore(&work, &order(false), T0), Err(BackupError::Occupied(_))));
    let generations: Vec<i64> =
        (0..2).map(|n| restore(&work, &order(true), T0 + n).unwrap().again.generation).collect();
    assert_eq!(generations, [2, 3], "the same backup twice is two generations");
    let kept = rusqlite::Connection::open(folder.path().join(format!("hookonce.inbox.db.replaced-{T0}"))).unwrap();
    let events: i64 = kept.query_row("select count(*) from hookonce_event", [], |row| row.get(0)).unwrap();
    assert_eq!(events, 2);
    open(&work).unwrap();
}

#[tokio::test]
async fn what_is_no_whole_backup_is_refused_and_nothing_changes() {
    let bed = Bed::new();
    bed.admit("k", "x").await;
    let (first, _) = take(&bed, "first");
    assert!(matches!(backup(&bed.work_file(), &first, T0, &mut silent), Err(BackupError::There(_))));
    bed.admit("more", "x").await;
    let routing = bed.consumers(vec![consumer("app", consumer::Order::None)]).await;
    bed.route(&routing).await;
    let (second, _) = take(&bed, "second");
    let target = bed.folder.path().join("again.db");
    for (file, mixed) in [("hookonce.db", true), ("hookonce.inbox.db", true), ("backup.json", false)] {
        let folder = bed.folder.path().join(format!("spoilt-{file}"));
        fs::create_dir(&folder).unwrap();
        for name in ["hookonce.db", "hookonce.inbox.db", "backup.json"] {
            let from = if name == file { &first } else { &second };
            fs::copy(from.join(name), folder.join(name)).unwrap();
        }
        if !mixed {
            fs::remove_file(folder.join(file)).unwrap();
        }
        assert!(matches!(bring(&folder, &target, T0), Err(BackupError::Damaged(..))), "{file}");
        assert!(!target.exists());
    }
}

/// Two halves of different stores whose papers are in order.
#[tokio::test]
async fn a_pair_that_is_none_is_refused() {
    let (ours, theirs) = (Bed::new(), Bed::with(|options| Options { seed: Some(2), ..options }));
    ours.admit("k", "x").await;
    theirs.admit("k", "x").await;
    let ((from, mut manifest), (other, _)) = (take(&ours, "taken"), take(&theirs, "taken"));
    fs::copy(other.join("hookonce.db"), from.join("hookonce.db")).unwrap();
    manifest.files = manifest.files.iter().map(|p| hookonce::backup::Part::of(&from, &p.name).unwrap()).collect();
    manifest.write(&from).unwrap();
    let refused = bring(&from, &ours.folder.path().join("again.db"), T0);
    assert!(matches!(&refused, Err(BackupError::Sqlite(OpenError::Mismatch(_)))), "{refused:?}");
}
