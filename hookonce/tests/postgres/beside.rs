//! Transactions that stay open beside the engine: whom they delay, and what is found when they end.

use hookonce::clock::Clock as _;
use hookonce::postgres::bed::PostgresBed;
use hookonce::postgres::lent::Lent;
use hookonce::sql::call::Stmt;
use hookonce::sql::postgres as sql;
use hookonce::store::StoreError;
use hookonce::testkit::explore::setup::consumer;
use hookonce::testkit::model::Rows;
use hookonce::testkit::script::bed::{Bed as _, wait};
use hookonce::testkit::script::{item, words};
use hookonce_core::claim::{Ask, Claimed};
use hookonce_core::consumer::OnDead;
use hookonce_core::delivery::Outcome;
use hookonce_core::route::Routing;
use hookonce_core::settle::{Settled, plan};
use hookonce_core::time::SECOND;

fn configured(bed: &PostgresBed) -> Routing {
    wait(bed.store().configure(vec![consumer("app", "*/*", OnDead::Hold)])).expect("nothing is in the way")
}

pub fn admit(bed: &PostgresBed, line: &str) {
    let line = words::line(1, &format!("admit {line}"));
    let submission = item::submission(&line, bed.clock().now()).expect("the line is written by hand");
    wait(bed.store().admit(submission)).expect("nothing is in the way");
}

/// Routes until there is nothing to route.
pub fn route(bed: &PostgresBed, routing: &Routing) {
    while wait(bed.store().route(routing)).expect("nothing is in the way").more {}
}

fn ask(draw: u8) -> Ask {
    Ask { consumer: 1, tokens: vec![[draw; 16]], lease: 60 * SECOND, owner: 9, quiet: false }
}

/// The keys of the deliveries by their seq.
fn keys(rows: &Rows) -> Vec<&str> {
    rows.delivery.values().map(|d| rows.event[&d.event].key_text.as_str()).collect()
}

/// Writes an event like another one under a key of its own, as an admission does that takes its time.
const LATE: &str = "create temp table late as select * from hookonce.event where id = 1;
    update late set id = nextval('hookonce.number'), key_text = 'late', key = 'late', digest = decode(md5('late'), 'hex');
    insert into hookonce.event select * from late;
    insert into hookonce.arrival select id from late";

/// The net that reads everything once a second stays out of it: the clock stands still.
#[test]
fn an_event_that_commits_late_is_not_passed_over() {
    let bed = PostgresBed::default();
    let (routing, late) = (configured(&bed), bed.lent());
    admit(&bed, "gh/1 agg=a");
    route(&bed, &routing);
    bed.wait(late.sql("begin"));
    bed.wait(late.sql(LATE));
    for n in 2..60 {
        admit(&bed, &format!("gh/{n} agg=a"));
        route(&bed, &routing);
    }
    bed.wait(late.sql("commit"));
    // Sent behind its answer, so behind it in the lane, though all the others are before it.
    admit(&bed, "gh/60 agg=a");
    route(&bed, &routing);
    let rows = bed.rows();
    let keys = keys(&rows);
    assert_eq!((keys.len(), &keys[58..]), (61, &["59", "late", "60"][..]));
}

/// Its own database or ours, writing for as long as it likes.
#[test]
fn a_foreign_transaction_delays_nobody() {
    let bed = PostgresBed::default();
    let (routing, foreign) = (configured(&bed), bed.lent());
    bed.wait(foreign.sql("begin isolation level repeatable read"));
    bed.wait(
        foreign.sql("create table theirs (n int); insert into theirs values (1); select count(*) from hookonce.work"),
    );
    for n in 0..5 {
        admit(&bed, &format!("gh/{n} agg=a"));
        route(&bed, &routing);
        let run = wait(bed.store().claim(ask(n))).expect("nothing is in the way").remove(0);
        let ending = plan(&run.claimed, &Outcome::Done, &routing.consumers[0], 0, 0);
        let settled = wait(bed.store().settle(vec![ending], None)).expect("nothing is in the way").0;
        assert_eq!(settled, [Settled::Kept]);
    }
    bed.wait(foreign.sql("commit"));
    assert!(bed.rows().delivery.values().all(|d| !d.open));
}

/// Claims, and settles in a transaction that it does not end.
fn held(bed: &PostgresBed, routing: &Routing, handler: &Lent) -> Claimed {
    let run = wait(bed.store().claim(ask(1))).expect("nothing is in the way").remove(0).claimed;
    bed.wait(handler.sql("begin"));
    let ending = plan(&run, &Outcome::Done, &routing.consumers[0], 0, 0);
    assert_eq!(bed.wait(handler.settle(&[ending])), [Settled::Kept]);
    run
}

fn rows_of_check(bed: &PostgresBed) -> usize {
    bed.numbers("select behind from hookonce.lane_check").len()
}

/// However long it takes: only its own lane waits, and goes on when it ends.
#[test]
fn a_handler_that_holds_its_transaction_delays_no_other_lane() {
    for ends in ["commit", "rollback"] {
        let bed = PostgresBed::default();
        let (routing, handler) = (configured(&bed), bed.lent());
        admit(&bed, "gh/1 agg=a");
        route(&bed, &routing);
        let run = held(&bed, &routing, &handler);
        // Behind the one that is held, and in a lane of its own.
        admit(&bed, "gh/2 agg=a");
        admit(&bed, "gh/3 agg=b");
        admit(&bed, "gh/4 agg=a");
        route(&bed, &routing);
        assert_eq!(rows_of_check(&bed), 1);
        let other = wait(bed.store().claim(ask(2))).expect("nothing is in the way").remove(0);
        assert_eq!(other.event.key_text, "3");
        // The settle may still be at work: the check stays.
        route(&bed, &routing);
        assert_eq!(rows_of_check(&bed), 1);
        bed.wait(handler.sql(ends));
        route(&bed, &routing);
        assert_eq!(rows_of_check(&bed), 0);
        let next = wait(bed.store().claim(ask(3))).expect("nothing is in the way").pop();
        assert_eq!(next.map(|run| run.event.key_text.clone()).as_deref(), (ends == "commit").then_some("2"));
        let head = bed.rows().work.values().find(|w| w.lane == run.lane).map(|w| w.seq);
        assert_eq!(head == Some(run.lease.seq), ends == "rollback");
    }
}

/// The control of the one above: a router that waits for tails stands behind a user's transaction.
#[test]
fn a_router_that_waits_for_tails_is_found() {
    let text = sql::ROUTE_TAIL_LOCKS.text.replacen(" skip locked", "", 1).leak();
    let waits = Box::leak(Box::new([Stmt { name: sql::ROUTE_TAIL_LOCKS.name, text }]));
    let bed = PostgresBed::instead(waits);
    let (routing, handler) = (configured(&bed), bed.lent());
    admit(&bed, "gh/1 agg=a");
    route(&bed, &routing);
    held(&bed, &routing, &handler);
    admit(&bed, "gh/2 agg=a");
    let passed = wait(bed.store().route(&routing));
    assert!(matches!(passed, Err(StoreError::Busy(_))), "{passed:?}");
}

/// A worker's check finds a lane that was left without a head, wherever that came from, and the router gives it one.
#[test]
fn a_sweep_asks_for_the_head_of_a_lane_and_the_router_gives_it() {
    let bed = PostgresBed::default();
    let routing = configured(&bed);
    admit(&bed, "gh/1 agg=a");
    route(&bed, &routing);
    assert_eq!(wait(bed.store().sweep()).expect("nothing is in the way").headless, Vec::<i64>::new());
    bed.edit(&|rows| rows.work.retain(|_, _| false));
    let lanes: Vec<i64> = bed.rows().delivery.values().map(|d| d.lane).collect();
    assert_eq!(wait(bed.store().sweep()).expect("nothing is in the way").headless, lanes);
    assert_eq!(wait(bed.store().sweep()).expect("nothing is in the way").headless, Vec::<i64>::new());
    let passed = wait(bed.store().route(&routing)).expect("nothing is in the way");
    assert_eq!((passed.woken, bed.rows().work.len()), (vec![1], 1));
}
