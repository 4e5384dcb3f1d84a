//! A fault at every statement of the verbs of ingest: whole or not at all, and never a false `Ok`.

use std::sync::Arc;

use futures_util::future::join_all;
use hookonce::postgres::Options;
use hookonce::store::{Refusals, Sample, Store as _, StoreError};
use hookonce::testkit::dump;
use hookonce_core::admit::{Origin, Submission, Verdict};
use hookonce_core::consumer::Order;
use hookonce_core::event::Mapped;

use crate::bed::Bed;
use crate::sent::{consumer, of_items, sent};
use crate::tap::Fault;

/// More statements than any verb has.
const MANY: usize = 50;

struct Faulty {
    bed: Bed,
    fault: Arc<Fault>,
}

impl Faulty {
    fn new() -> Faulty {
        let fault = Arc::new(Fault::default());
        let bed = Bed::new(Options { tap: Some(fault.clone()), ..Options::default() });
        Faulty { bed, fault }
    }

    fn dump(&self) -> Vec<String> {
        dump::dump(&self.bed.rows())
    }

    /// Runs the verb with a fault at its first, second, … statement, until it comes through without one. Each time it
    /// failed the tables are as before.
    fn everywhere<T: std::fmt::Debug>(
        &self,
        name: &str,
        verb: impl Fn() -> Result<T, StoreError>,
    ) -> Vec<&'static str> {
        let mut struck = Vec::new();
        for nth in 1..MANY {
            let before = self.dump();
            self.fault.set(nth, StoreError::Busy("a fault".into()), false);
            let answer = verb();
            let Some(at) = self.fault.struck() else {
                answer.unwrap_or_else(|error| panic!("{name} fails without a fault: {error}"));
                return struck;
            };
            struck.push(at);
            assert!(matches!(answer, Err(StoreError::Busy(_))), "{name} at {at}: {answer:?}");
            let differences = dump::differences(&self.dump(), &before);
            assert!(differences.is_empty(), "{name} failed at {at} and left {differences:#?}");
        }
        panic!("{name} has no end");
    }

    fn admitted(&self, name: &str, submission: &Submission) -> Vec<&'static str> {
        self.everywhere(name, || self.bed.admit(submission.clone()))
    }
}

fn unmapped() -> Submission {
    of_items(b"?", vec![Mapped::Unmapped { item: 0, span: None, reason: "no id".into() }])
}

#[test]
fn every_verb_of_ingest_is_whole_or_nothing() {
    let faulty = Faulty::new();
    let struck = faulty.admitted("admit", &sent("a-1", "x"));
    assert!(
        ["begin", "admit_keys", "admit_event", "tally_put", "commit"].iter().all(|at| struck.contains(at)),
        "{struck:?}"
    );
    faulty.admitted("duplicate", &sent("a-1", "x"));
    assert!(faulty.admitted("conflict", &sent("a-1", "y")).contains(&"admit_conflict"));
    assert!(faulty.admitted("again", &sent("a-1", "y")).contains(&"admit_conflict_again"));
    assert!(faulty.admitted("unmapped", &unmapped()).contains(&"admit_unmapped"));
    let row = *faulty.bed.rows().unmapped.keys().next().unwrap();
    let origin = Origin::Admit { unmapped: row, actor: "ann".into(), reason: "mapped".into() };
    let struck = faulty.admitted("decided", &Submission { origin, ..sent("a-2", "x") });
    assert!(struck.contains(&"inbox_audit_put"), "{struck:?}");
    let consumers = || vec![consumer("app", Order::Arrival)];
    let store = &faulty.bed.store;
    let struck = faulty.everywhere("configure", || faulty.bed.wait(store.configure(consumers())));
    assert!(struck.contains(&"configure_pass"), "{struck:?}");
    faulty.everywhere("rule", || faulty.bed.wait(store.rule("crm", "v1")));
    let sample = Sample {
        source: "crm".into(),
        target: "POST /in/crm".into(),
        headers: hookonce_core::request::Headers::default(),
        body: b"x".to_vec(),
        reason: "stale".into(),
        received: 1,
    };
    let refusals = Refusals { samples: vec![sample], counts: vec![("crm".into(), "stale".into(), 3)] };
    faulty.everywhere("refused", || faulty.bed.wait(store.refused(refusals.clone())));
}

#[test]
fn an_answer_lost_behind_the_commit_is_found_again() {
    let faulty = Faulty::new();
    faulty.fault.at("commit", StoreError::Busy("the answer is lost".into()), true);
    assert_eq!(faulty.bed.admit(sent("k", "x")), Ok(vec![Verdict::Accepted { event: 1, hold: None }]));
    assert_eq!(faulty.fault.struck(), Some("commit"));
    let rows = faulty.bed.rows();
    assert_eq!(rows.ledger.values().map(|row| row.seen).collect::<Vec<_>>(), [1], "it was not sent twice");
}

#[test]
fn f12_a_key_is_not_used_up_by_a_commit_that_failed() {
    let faulty = Faulty::new();
    faulty.fault.at("commit", StoreError::Busy("no space left".into()), false);
    assert!(faulty.bed.admit(sent("d-b2", "x")).is_err());
    assert!(matches!(faulty.bed.admit(sent("d-b2", "x")).as_deref(), Ok([Verdict::Accepted { .. }])));
}

/// A schema that is not ours is no store: the process must end, and nothing is answered 2xx meanwhile.
#[test]
fn a_missing_table_is_a_failure_and_comes_back_with_the_table() {
    let bed = Bed::new(Options::default());
    bed.stranger().run("alter table hookonce.event rename to gone");
    let all = bed.wait(join_all((0..20).map(|n| bed.store.admit(sent(&format!("k{n}"), "x")))));
    assert!(all.iter().all(|answer| matches!(answer, Err(StoreError::Failed(_)))), "{all:?}");
    bed.stranger().run("alter table hookonce.gone rename to event");
    assert!(matches!(bed.admit(sent("k0", "x")).as_deref(), Ok([Verdict::Accepted { .. }])));
}
