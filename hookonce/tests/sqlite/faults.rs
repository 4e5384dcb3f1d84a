//! A fault at every statement of every verb: committed whole or not at all, and never a false `Ok`.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use hookonce::sqlite::bed::Sheets;
use hookonce::sqlite::{Options, SqliteStore};
use hookonce::store::{Store as _, StoreError};
use hookonce::testkit::{dump, model::Rows};
use hookonce_core::admit::Verdict;
use hookonce_core::command::{Command, Who};
use hookonce_core::consumer::Order;
use hookonce_core::delivery::Outcome;
use hookonce_core::settle::plan;

use crate::bed::{Bed, consumer, sent};
use crate::tap::Fault;

/// More statements than any verb has.
const MANY: usize = 200;

struct Faulty {
    bed: Bed,
    fault: Arc<Fault>,
}

impl Faulty {
    fn new() -> Faulty {
        let fault = Arc::new(Fault::default());
        let tap = fault.clone();
        // Without patience, so that a lock that is not had is an answer and not a second try.
        let now = Duration::ZERO;
        let bed = Bed::with(|options| Options { tap: Some(tap), lock_wait: now, ack_patience: now, ..options });
        Faulty { bed, fault }
    }

    fn rows(&self) -> Rows {
        Sheets::of_store(&self.bed.work_file()).rows()
    }

    /// Runs the verb with a fault at its first, second, … statement, until it comes through without one. Each time it
    /// failed the tables are as before; when the answer was lost behind the commit, they are as after.
    async fn everywhere<T: std::fmt::Debug>(
        &self,
        name: &str,
        verb: impl AsyncFn() -> Result<T, StoreError>,
    ) -> Vec<&'static str> {
        let mut struck = Vec::new();
        for nth in 1..MANY {
            let before = dump::dump(&self.rows());
            self.fault.set(nth, StoreError::Busy("a fault".into()), false);
            let answer = verb().await;
            let Some(at) = self.fault.struck() else {
                answer.unwrap_or_else(|error| panic!("{name} fails without a fault: {error}"));
                return struck;
            };
            struck.push(at);
            assert!(matches!(answer, Err(StoreError::Busy(_))), "{name} at {at}: {answer:?}");
            let differences = dump::differences(&dump::dump(&self.rows()), &before);
            assert!(differences.is_empty(), "{name} failed at {at} and left {differences:#?}");
        }
        panic!("{name} has no end");
    }
}

#[tokio::test]
async fn every_verb_is_whole_or_nothing() {
    let faulty = Faulty::new();
    let store = &faulty.bed.store;
    let admitted = faulty.everywhere("admit", async || store.admit(sent("a-1", "x")).await).await;
    assert!(admitted.contains(&"admit_payload") && admitted.contains(&"commit"), "{admitted:?}");
    faulty.everywhere("duplicate", async || store.admit(sent("a-1", "x")).await).await;
    faulty.everywhere("conflict", async || store.admit(sent("a-1", "y")).await).await;
    store.admit(sent("a-2", "x")).await.unwrap();
    faulty.everywhere("configure", async || store.configure(vec![consumer("app", Order::Arrival)]).await).await;
    let routing = faulty.bed.consumers(vec![consumer("app", Order::Arrival)]).await;
    let routed = faulty.everywhere("route", async || store.route(&routing).await).await;
    assert!(routed.contains(&"route_write_pass"), "{routed:?}");
    let ask = faulty.bed.ask(1, 2);
    for at in ["claim_paused", "claim_due", "claim_take", "commit"] {
        let before = dump::dump(&faulty.rows());
        faulty.fault.at(at, StoreError::Busy("a fault".into()), false);
        assert!(store.claim(ask.clone()).await.is_err(), "{at}");
        assert_eq!(dump::differences(&dump::dump(&faulty.rows()), &before), [""; 0], "{at}");
    }
    // Read outside the writer, after the commit: the lease is given back, and nothing counts as lost.
    faulty.fault.at("claim_body", StoreError::Busy("a fault".into()), false);
    assert!(store.claim(ask.clone()).await.is_err());
    assert_eq!(store.claim(ask).await.unwrap()[0].claimed.lost, 0);
}

#[tokio::test]
async fn settles_and_commands_are_whole_or_nothing() {
    let faulty = Faulty::new();
    let store = &faulty.bed.store;
    faulty.bed.admit("a-1", "x").await;
    faulty.bed.admit("a-2", "x").await;
    let routing = faulty.bed.consumers(vec![consumer("app", Order::Arrival)]).await;
    faulty.bed.route(&routing).await;
    let app = &routing.consumers[0];
    for (name, outcome) in [("dead", Outcome::Dead("no".into())), ("done", Outcome::Done)] {
        let runs = faulty.bed.claim(1, 1).await;
        let ending = plan(&runs[0].claimed, &outcome, app, 10, 0);
        let settled = faulty.everywhere(name, async || store.settle(vec![ending.clone()], None).await).await;
        assert!(settled.contains(&"settle_tried"), "{settled:?}");
        if name == "dead" {
            let who = Who { actor: "ann".into(), reason: "again".into() };
            let retry = Command::DeadRetry { delivery: runs[0].claimed.id };
            let said = faulty.everywhere("retry", async || store.command(retry.clone(), who.clone()).await).await;
            assert!(said.contains(&"audit_put"), "{said:?}");
        }
    }
}

#[tokio::test]
async fn f12_an_id_is_not_used_up_by_a_commit_that_failed() {
    let faulty = Faulty::new();
    faulty.fault.at("commit", StoreError::Busy("no space left".into()), false);
    assert!(faulty.bed.store.admit(sent("d-b2", "x")).await.is_err());
    assert_eq!(faulty.bed.admit("d-b2", "x").await, Verdict::Accepted { event: 1, hold: None });
}

#[tokio::test]
async fn a_lost_answer_is_no_lost_event() {
    let faulty = Faulty::new();
    faulty.fault.at("commit", StoreError::Busy("the answer is lost".into()), true);
    assert!(faulty.bed.store.admit(sent("k", "x")).await.is_err());
    assert_eq!(faulty.bed.admit("k", "x").await, Verdict::Duplicate { of: 1 });
    assert_eq!(
        faulty.bed.admit("l", "x").await,
        Verdict::Accepted { event: 2, hold: None },
        "no number is given twice"
    );
}

/// Trap T4: after a failed flush the page cache lies, so nothing of this process is believed any more.
#[tokio::test]
async fn after_a_failed_write_nothing_is_answered_ok() {
    let faulty = Faulty::new();
    faulty.bed.admit("before", "x").await;
    faulty.fault.at("commit", StoreError::Failed("disk I/O error".into()), false);
    let all = join_all((0..50).map(|n| faulty.bed.store.admit(sent(&format!("k{n}"), "x")))).await;
    let of_the_group = all.iter().filter(|answer| matches!(answer, Err(StoreError::Failed(_)))).count();
    assert_eq!(of_the_group, 50, "{all:?}");
    assert!(matches!(faulty.bed.store.ready().await, Err(StoreError::Failed(_))));
    assert!(matches!(faulty.bed.store.next_due(1).await, Err(StoreError::Failed(_))));
    let (path, folder) = (faulty.bed.work_file(), faulty.bed.folder);
    drop(faulty.bed.store);
    let again = SqliteStore::open(&path, Options::default()).unwrap();
    assert!(matches!(again.admit(sent("before", "x")).await.unwrap().verdicts[0], Verdict::Duplicate { .. }));
    drop(folder);
}
