//! A key goes while a copy of it comes: the copy waits for the key, finds it gone, and meets the floor.

use std::sync::Arc;

use hookonce::clock::Clock as _;
use hookonce::postgres::bed::PostgresBed;
use hookonce::sql::call::Stmt;
use hookonce::testkit::script::bed::Bed as _;
use hookonce::testkit::script::verbs::Runner;
use hookonce::testkit::script::{item, words};
use hookonce_core::admit::Verdict;
use hookonce_core::event::HoldReason;
use hookonce_core::retain::{Keep, Retention};
use hookonce_core::time::SECOND;

use crate::bed::WAITING;

/// One event whose work is done and whose bytes are gone.
const BEFORE: [&str; 8] = [
    "consumer app on=gh/*",
    "configure",
    "admit gh/1 body=A time=0s",
    "route",
    "claim alice 30s",
    "settle alice succeeded",
    "tick 1m",
    "purge gh=1s/1d",
];
const HELD: &str = "begin; select from hookonce.event for update";
/// Deletes keys and leaves no floor.
const WITHOUT: &[Stmt] = &[Stmt { name: "purge_floors", text: "select $1::text[], $2::bigint[] where false" }];

/// What becomes of the copy.
fn copy_beside_purge(bed: &PostgresBed) -> Option<HoldReason> {
    let mut runner = Runner::new(bed);
    for line in BEFORE {
        runner.line(&words::line(0, line)).unwrap_or_else(|why| panic!("{line}: {why}"));
    }
    let stranger = bed.lent();
    bed.wait(stranger.sql(HELD));
    let keep = Keep { payload: SECOND, ledger: SECOND };
    let retention = Retention { sources: [("gh".to_owned(), keep)].into() };
    let store = bed.store();
    let purge = store.purge(Arc::new(retention));
    until(bed, 1);
    let line = words::line(0, "admit gh/1 body=A time=-1m");
    let copy = store.admit(item::submission(&line, bed.clock().now()).expect("it is written by hand"));
    until(bed, 2);
    bed.wait(stranger.sql("commit"));
    assert_eq!(bed.wait(purge).events, 1);
    match bed.wait(copy).verdicts[..] {
        [Verdict::Accepted { hold, .. }] => hold,
        ref other => panic!("{other:?}"),
    }
}

fn until(bed: &PostgresBed, sessions: i64) {
    while bed.numbers(WAITING) != [sessions] {
        std::thread::yield_now();
    }
}

#[test]
fn a_copy_that_comes_while_its_key_goes_is_held() {
    assert_eq!(copy_beside_purge(&PostgresBed::default()), Some(HoldReason::BeyondRetention));
}

#[test]
fn without_the_floor_it_would_be_new() {
    assert_eq!(copy_beside_purge(&PostgresBed::instead(WITHOUT)), None);
}
