//! Commits that nobody answers for (X9, X12, X13): never a 2xx on hope, never a second event, nothing lost that was
//! answered.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use futures_util::future::join_all;
use hookonce::postgres::Options;
use hookonce::postgres::bed::Database;
use hookonce::sql::call::Tap;
use hookonce::store::{Store as _, StoreError};
use hookonce_core::admit::{Admission, Verdict};
use hookonce_core::event::Mapped;

use crate::bed::{Bed, WAITING};
use crate::proxy::{AtCommit, Cut};
use crate::sent::{item, of_items, sent};

fn cut(how: Cut, options: Options) -> (Bed, Result<Vec<Verdict>, StoreError>) {
    let (database, tap) = (Database::default(), Arc::new(AtCommit::default()));
    let url = tap.link.open(&database.runtime, &database.url());
    let bed = Bed::at(database, &url, Options { tap: Some(tap.clone()), writers: 1, ..options });
    bed.admit(sent("before", "x")).unwrap();
    tap.set(how);
    let answer = bed.admit(sent("k", "x"));
    assert_eq!(tap.link.cuts.load(SeqCst), 1, "the link was not cut: this proves nothing");
    (bed, answer)
}

fn one_event(bed: &Bed) {
    let rows = bed.rows();
    assert_eq!(rows.event.values().map(|event| event.key_text.as_str()).collect::<Vec<_>>(), ["before", "k"]);
    assert_eq!(rows.ledger.values().map(|row| row.seen).collect::<Vec<_>>(), [1, 1]);
}

#[test]
fn cut_before_the_commit_it_is_run_again() {
    let (bed, answer) = cut(Cut::Before, Options::default());
    assert!(matches!(answer.as_deref(), Ok([Verdict::Accepted { .. }])), "{answer:?}");
    one_event(&bed);
}

#[test]
fn cut_behind_the_commit_it_is_found() {
    let (bed, answer) = cut(Cut::Behind, Options::default());
    assert_eq!(answer, Ok(vec![Verdict::Accepted { event: 2, hold: None }]));
    one_event(&bed);
}

#[test]
fn in_a_black_hole_the_wait_has_an_end() {
    let options = Options { answer_limit: Duration::from_secs(1), ..Options::default() };
    let (bed, answer) = cut(Cut::Hole, options);
    // The server still holds what was not committed: then it is a 503, and the next try finds it.
    match answer.as_deref() {
        Ok([Verdict::Accepted { .. }]) => one_event(&bed),
        Err(StoreError::Busy(_)) => assert_eq!(bed.rows().event.len(), 1),
        other => panic!("{other:?}"),
    }
}

/// How often a statement was run.
#[derive(Debug)]
struct Count(&'static str, AtomicUsize);

impl Count {
    fn of(statement: &'static str) -> Arc<Count> {
        Arc::new(Count(statement, AtomicUsize::new(0)))
    }

    fn is(&self) -> usize {
        self.1.load(SeqCst)
    }
}

impl Tap for Count {
    fn before(&self, statement: &'static str) -> Result<(), StoreError> {
        self.1.fetch_add(usize::from(statement == self.0), SeqCst);
        Ok(())
    }
}

/// Rounds within which sessions must have been killed where it is not known what became of them.
const ROUNDS: usize = 2_000;

/// X9, X12: sessions are killed wherever they stand, also in their commits.
#[test]
fn killed_sessions_lose_nothing_that_was_answered() {
    let asked = Count::of("tally_ask");
    let bed = Bed::new(Options { writers: 3, tap: Some(asked.clone()), ..Options::default() });
    let (stranger, over) = (bed.stranger(), AtomicBool::new(false));
    let answers = std::thread::scope(|scope| {
        let killer = || {
            while !over.load(SeqCst) {
                stranger.number(
                    "select count(pg_terminate_backend(pid)) from pg_stat_activity
                     where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'",
                );
            }
        };
        let killer = scope.spawn(killer);
        let mut answers = Vec::new();
        for round in 0..ROUNDS {
            let all = (0..20).map(|n| bed.store.admit(sent(&format!("k{round}-{n}"), "x")));
            answers.extend(bed.wait(join_all(all)));
            if asked.is() >= 10 {
                break;
            }
        }
        over.store(true, SeqCst);
        killer.join().unwrap();
        answers
    });
    assert!(asked.is() > 0, "no commit was in doubt: this proves nothing");
    nothing_is_lost(&bed, answers);
    bed.admit(sent("after", "x")).expect("nothing is in the way any more");
}

fn nothing_is_lost(bed: &Bed, answers: Vec<Result<Admission, StoreError>>) {
    let rows = bed.rows();
    let keys: BTreeSet<&str> = rows.event.values().map(|event| event.key_text.as_str()).collect();
    assert_eq!(keys.len(), rows.event.len(), "one event a key");
    for answer in answers {
        match answer.as_ref().map(|admission| &admission.verdicts[..]) {
            Ok([Verdict::Accepted { event, .. } | Verdict::Duplicate { of: event }]) => {
                assert!(rows.event.contains_key(event), "{event} was answered and is lost");
            }
            Err(StoreError::Busy(_)) => {}
            other => panic!("{other:?}"),
        }
    }
}

/// Keys of one batch: taking them takes long enough for another to begin.
const KEYS: usize = 400;

/// X13: batches whose keys come in every order never wait for each other in a circle.
#[test]
fn batches_in_opposite_orders_never_wait_in_a_circle() {
    let patience = Duration::from_secs(600);
    let options = Options { writers: 3, lock_wait: patience, statement_limit: patience, ..Options::default() };
    let bed = Bed::new(options);
    let batch = |n: usize| {
        let keys = (0..KEYS).map(|at| if n.is_multiple_of(2) { at } else { KEYS - 1 - at });
        let part = |(at, key): (usize, usize)| {
            let mut part = item(&format!("k{key}"), b"x");
            part.item = at as u32;
            Mapped::Item(Box::new(part))
        };
        of_items(b"x", keys.enumerate().map(part).collect())
    };
    for answer in bed.wait(join_all((0..24).map(|n| bed.store.admit(batch(n))))) {
        assert_eq!(answer.unwrap().verdicts.len(), KEYS);
    }
    let rows = bed.rows();
    assert_eq!(rows.event.len(), KEYS);
    assert!(rows.ledger.values().all(|row| row.seen == 24));
    let deadlocks = "select deadlocks from pg_stat_database where datname = current_database()";
    assert_eq!(bed.stranger().number(deadlocks), 0);
}

/// X13: a circle that a stranger closes ends with one of the two, and the admission is run again inside the verb.
#[test]
fn a_deadlock_is_the_verbs_own_business() {
    let patience = Duration::from_secs(600);
    let tried = Count::of("admit_keys");
    let tap = Some(tried.clone() as Arc<dyn Tap>);
    let bed = Bed::new(Options { lock_wait: patience, statement_limit: patience, tap, ..Options::default() });
    bed.admit(of_items(b"x", vec![Mapped::Item(Box::new(item("a", b"x"))), Mapped::Item(Box::new(item("b", b"x")))]))
        .unwrap();
    let digests: Vec<[u8; 16]> = bed.rows().ledger.keys().copied().collect();
    let row = |at: usize| {
        let hex: String = digests[at].iter().map(|byte| format!("{byte:02x}")).collect();
        format!("select from hookonce.ledger where digest = '\\x{hex}' for update")
    };
    let stranger = bed.stranger();
    // The victim is whoever has waited for long enough first: that is to be the admission.
    stranger.run("set deadlock_timeout = '1h'");
    stranger.run(&format!("begin; {}", row(1)));
    let copies = vec![Mapped::Item(Box::new(item("a", b"x"))), Mapped::Item(Box::new(item("b", b"x")))];
    let answer = bed.store.admit(of_items(b"x", copies));
    let other = bed.stranger();
    other.until(WAITING, 1);
    stranger.run(&row(0));
    stranger.run("commit");
    let verdicts = bed.wait(answer).unwrap().verdicts;
    assert!(matches!(verdicts[..], [Verdict::Duplicate { .. }, Verdict::Duplicate { .. }]), "{verdicts:?}");
    assert!(tried.is() >= 3, "the admission was to be the victim");
    assert_eq!(bed.rows().ledger.values().map(|row| row.seen).collect::<Vec<_>>(), [2, 2], "counted once");
}
