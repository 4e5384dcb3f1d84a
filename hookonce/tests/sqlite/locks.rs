//! Somebody else in the files (F22): readers disturb nobody, a writer delays, and what cannot wait is told so.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use hookonce::sqlite::Options;
use hookonce::store::{Store as _, StoreError};
use hookonce_core::admit::Verdict;
use hookonce_core::consumer::Order;
use hookonce_core::delivery::Outcome;
use rusqlite::Connection;

use crate::bed::{Bed, consumer, sent};

/// A store that gives up soon: what takes seconds in earnest takes no time here.
fn impatient() -> Bed {
    let soon = Duration::from_millis(20);
    Bed::with(|options| Options { lock_wait: soon, ack_patience: 2 * soon, ..options })
}

#[tokio::test]
async fn f22_readers_outside_disturb_nobody() {
    let bed = Bed::new();
    let routing = bed.consumers(vec![consumer("app", Order::None)]).await;
    let outside = [bed.inbox_file(), bed.work_file()].map(|path| {
        let db = Connection::open(path).unwrap();
        db.execute("begin", []).unwrap();
        db.query_row("select count(*) from hookonce_setting", [], |row| row.get::<_, i64>(0)).unwrap();
        db
    });
    for round in 0..20 {
        let all = (0..320).map(|n| sent(&format!("r{round}n{n}"), "x")).collect();
        assert!(bed.admit_all(all).await.iter().all(|a| matches!(a.verdicts[0], Verdict::Accepted { .. })));
        bed.route(&routing).await;
        loop {
            let runs = bed.claim(1, 100).await;
            if runs.is_empty() {
                break;
            }
            bed.settle(&routing.consumers[0], &runs, &Outcome::Done).await;
        }
    }
    assert_eq!(bed.inbox_count("select count(*) from hookonce_event"), 6_400);
    assert_eq!(bed.work_count("select count(*) from hookonce_delivery where state = 'succeeded'"), 6_400);
    drop(outside);
}

#[tokio::test]
async fn f22_a_write_lock_on_the_inbox_file_is_busy_and_nothing_is_stored() {
    let bed = impatient();
    let outside = Connection::open(bed.inbox_file()).unwrap();
    outside.execute("begin immediate", []).unwrap();
    let late = bed.store.admit(sent("a", "x")).await;
    assert!(matches!(late, Err(StoreError::Busy(_))), "{late:?}");
    assert!(matches!(bed.store.ready().await, Err(StoreError::Busy(_))));
    outside.execute("rollback", []).unwrap();
    bed.store.ready().await.unwrap();
    assert_eq!(bed.inbox_count("select count(*) from hookonce_ledger"), 0);
    assert_eq!(bed.admit("a", "x").await, Verdict::Accepted { event: 1, hold: None }, "the key was not used up");
}

#[tokio::test]
async fn f22_a_write_lock_on_the_work_file_delays_work_and_no_ack() {
    let bed = impatient();
    let routing = bed.consumers(vec![consumer("app", Order::None)]).await;
    let outside = Connection::open(bed.work_file()).unwrap();
    outside.execute("begin immediate", []).unwrap();
    for n in 0..100 {
        bed.admit(&format!("k{n}"), "x").await;
    }
    assert!(matches!(bed.store.route(&routing).await, Err(StoreError::Busy(_))));
    outside.execute("rollback", []).unwrap();
    bed.route(&routing).await;
    assert_eq!(bed.claim(1, 200).await.len(), 100);
}

/// Passive checkpoints alone never get there while somebody writes all the time.
#[tokio::test]
async fn the_log_begins_anew_under_steady_load() {
    const ENOUGH: usize = 200_000;
    let bed = Bed::with(|options| Options { wal_start: 64, ..options });
    let body = "x".repeat(4_000);
    let began_anew = AtomicBool::new(false);
    let (sent_so_far, highest) = (AtomicUsize::new(0), AtomicI64::new(0));
    let sender = async || {
        while !began_anew.load(Ordering::Relaxed) {
            let n = sent_so_far.fetch_add(1, Ordering::Relaxed);
            assert!(n < ENOUGH, "the log grows for ever: {} frames", highest.load(Ordering::Relaxed));
            bed.admit(&format!("k{n}"), &body).await;
            let frames = bed.store.wal_frames().0;
            began_anew.fetch_or(frames < highest.fetch_max(frames, Ordering::Relaxed), Ordering::Relaxed);
        }
    };
    join_all((0..16).map(|_| sender())).await;
}
