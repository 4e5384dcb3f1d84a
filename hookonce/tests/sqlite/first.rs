//! The path of one webhook through the store, and the store over a restart.

use hookonce::sqlite::{Options, SqliteStore};
use hookonce::store::Store as _;
use hookonce_core::admit::{Differs, Verdict};
use hookonce_core::consumer::Order;
use hookonce_core::delivery::Outcome;
use hookonce_core::settle::Settled;

use crate::bed::{Bed, consumer, sent};

#[tokio::test]
async fn admitted_routed_claimed_settled() {
    let bed = Bed::new();
    assert_eq!(bed.admit("a-1", "x").await, Verdict::Accepted { event: 1, hold: None });
    assert_eq!(bed.admit("a-1", "x").await, Verdict::Duplicate { of: 1 });
    let conflict = Verdict::Conflict { with: 1, differs: Differs::Payload, kept: true };
    assert_eq!(bed.admit("a-1", "y").await, conflict);
    assert_eq!(bed.admit("a-2", "z").await, Verdict::Accepted { event: 2, hold: None });
    let routing = bed.consumers(vec![consumer("app", Order::Arrival)]).await;
    bed.route(&routing).await;
    let app = &routing.consumers[0];
    let first = bed.claim(app.id, 10).await;
    assert_eq!(first.len(), 1, "one at a time for an aggregate");
    assert_eq!(first[0].event.body.as_ref(), b"x");
    assert_eq!(bed.settle(app, &first, &Outcome::Done).await, [Settled::Kept]);
    assert_eq!(bed.settle(app, &first, &Outcome::Done).await, [Settled::Fenced]);
    let second = bed.claim(app.id, 10).await;
    assert_eq!(second.len(), 1);
    assert_eq!(second[0].event.body.as_ref(), b"z");
}

#[tokio::test]
async fn a_restart_goes_on_where_it_stopped() {
    let bed = Bed::new();
    bed.admit("a-1", "x").await;
    let routing = bed.consumers(vec![consumer("app", Order::Arrival)]).await;
    bed.route(&routing).await;
    let held = bed.claim(1, 1).await;
    assert_eq!(held.len(), 1);
    let (path, clock) = (bed.work_file(), bed.clock.clone());
    drop(bed.store);
    let store = SqliteStore::open(&path, Options { clock, ..Options::default() }).unwrap();
    let again = Bed { store, ..bed };
    assert_eq!(again.admit("a-1", "x").await, Verdict::Duplicate { of: 1 });
    assert_eq!(again.admit("a-2", "y").await, Verdict::Accepted { event: 2, hold: None });
    let runs = again.claim(1, 1).await;
    assert_eq!(runs[0].claimed.lost, 1, "its process did not outlive the lease");
    let routing = again.consumers(vec![consumer("app", Order::Arrival)]).await;
    assert_eq!(routing.config, 1, "the same definitions change nothing");
}

#[tokio::test]
async fn thirty_two_at_once_share_commits_and_keep_their_own_answers() {
    let bed = Bed::new();
    let all = (0..640).map(|n| sent(&format!("k{}", n / 2), "same")).collect();
    let answers = bed.admit_all(all).await;
    let accepted = answers.iter().filter(|a| matches!(a.verdicts[0], Verdict::Accepted { .. })).count();
    assert_eq!(accepted, 320);
    bed.store.close().await.unwrap();
}
