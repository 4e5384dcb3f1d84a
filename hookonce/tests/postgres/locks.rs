//! Somebody else's transaction holds a key: it delays what comes for that key, and nothing else.

use std::time::Duration;

use futures_util::future::join_all;
use hookonce::postgres::Options;
use hookonce::store::{Store as _, StoreError};
use hookonce_core::admit::Verdict;

use crate::bed::{Bed, WAITING};
use crate::sent::sent;

const LOCKED: &str = "begin; select from hookonce.ledger where event = 1 for update";

#[test]
fn a_held_key_delays_nobody_else() {
    let patience = Duration::from_secs(600);
    let options = Options {
        lock_wait: Duration::from_millis(100),
        statement_limit: patience,
        ack_patience: patience,
        answer_limit: patience,
        writers: 1,
        ..Options::default()
    };
    let bed = Bed::new(options);
    bed.admit(sent("held", "x")).unwrap();
    let stranger = bed.stranger();
    stranger.run(LOCKED);
    let copies: Vec<_> = (0..2).map(|_| bed.store.admit(sent("held", "x"))).collect();
    let others: Vec<_> = (0..100).map(|n| bed.store.admit(sent(&format!("k{n}"), "x"))).collect();
    for answer in bed.wait(join_all(others)) {
        assert!(matches!(answer.unwrap().verdicts[..], [Verdict::Accepted { .. }]));
    }
    // Now it is known that somebody holds the key: what comes for it does not enter a group any more.
    let late = bed.store.admit(sent("held", "y"));
    bed.admit(sent("free", "x")).unwrap();
    bed.stranger().until(WAITING, 3);
    stranger.run("commit");
    for answer in bed.wait(join_all(copies)) {
        assert_eq!(answer.unwrap().verdicts, [Verdict::Duplicate { of: 1 }]);
    }
    assert!(matches!(bed.wait(late).unwrap().verdicts[..], [Verdict::Conflict { with: 1, .. }]));
    assert_eq!(bed.rows().ledger.values().map(|row| row.seen).max(), Some(3));
}

#[test]
fn whoever_is_out_of_patience_is_told() {
    let short = Duration::from_millis(50);
    let bed = Bed::new(Options { lock_wait: short, ack_patience: 4 * short, ..Options::default() });
    bed.admit(sent("held", "x")).unwrap();
    let stranger = bed.stranger();
    stranger.run(LOCKED);
    let answer = bed.admit(sent("held", "x"));
    assert!(matches!(answer, Err(StoreError::Busy(_))), "{answer:?}");
    stranger.run("rollback");
    assert_eq!(bed.admit(sent("held", "x")), Ok(vec![Verdict::Duplicate { of: 1 }]));
    assert_eq!(bed.rows().ledger.values().map(|row| row.seen).collect::<Vec<_>>(), [2], "one was told no");
}
