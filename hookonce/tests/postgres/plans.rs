//! Plan shapes are part of the schema: what the engine's sessions make of the statements that queues live by, over tables
//! as a planner likes them least.

use hookonce::postgres::bed::PostgresBed;
use hookonce::sql::call::Stmt;
use hookonce::sql::postgres as sql;

/// One hot lane of which the statistics know, hardly any work, and everything just vacuumed.
const WORLD: &str = "
    insert into hookonce.delivery (seq, lane, id, consumer, event, generation, open)
      select n, case when n % 10 = 0 then -2 - n else -1 end, n, 1, n, 0, n > 19900 from generate_series(1, 20000) n;
    insert into hookonce.work (seq, id, lane, event, consumer, generation, due) values (19901, 19901, -1, 19901, 1, 0, 5);
    insert into hookonce.event select n, 'gh', 'header', '', '', 0, 1, 'gh', 'push', null, null, null, null, 0, n, null,
      null, 0, '', '', '', null, null, null, 'received', null, null, null from generate_series(1, 20000) n;
    insert into hookonce.arrival values (20000);
    insert into hookonce.log select n, n from generate_series(1, 19999) n";
const ANALYZED: &str = "vacuum analyze";

fn world() -> PostgresBed {
    let bed = PostgresBed::default();
    let db = bed.lent();
    bed.wait(db.sql(WORLD));
    bed.wait(db.sql(ANALYZED));
    bed
}

/// The statement, what its plan must say, and what it must not.
const PINS: &[(&Stmt, &[&str], &[&str])] = &[
    (
        sql::CLAIM,
        &[
            "Index Scan using work_due on work w_1",
            "Index Cond: ((consumer = $1) AND (due <= $",
            "Index Scan using work_pkey on work w",
        ],
        &["Sort Key: w_1"],
    ),
    (sql::CLAIM_QUIET, &["Index Scan using work_lost on work w_1"], &["Sort Key: w_1"]),
    (sql::SETTLE_LOCK, &["Index Scan using work_pkey on work w"], &[]),
    (sql::SETTLE_LANE, &["Index Scan using delivery_pkey on delivery d"], &[]),
    (
        sql::SETTLE_END,
        &[
            "Index Scan using work_pkey on work w",
            "Index Scan using delivery_pkey on delivery n",
            "Index Cond: ((lane = g_3.lane) AND (seq > g_3.seq))",
        ],
        &["Sort"],
    ),
    (sql::SETTLE_LATER, &["Index Scan using work_pkey on work w"], &[]),
    (sql::RENEW, &["Index Scan using work_pkey on work w_1"], &[]),
    (sql::NEXT_DUE, &["Index Only Scan using work_due on work"], &[]),
    (
        sql::ROUTE_TAILS,
        &["Index Only Scan Backward using delivery_pkey on delivery d", "Index Cond: (lane = l.lane)"],
        &["Sort"],
    ),
    (sql::ROUTE_TAIL_LOCKS, &["Index Scan using delivery_pkey on delivery d"], &[]),
    (
        sql::ROUTE_CHECK_NEXT,
        &["Index Scan using delivery_pkey on delivery n", "Index Cond: ((lane = c.lane) AND (seq > c.behind))"],
        &[],
    ),
    (
        sql::ROUTE_ARRIVALS,
        &["Index Only Scan using arrival_pkey on arrival", "Index Scan using event_pkey on event e"],
        &[],
    ),
    (sql::ROUTE_LOG, &["Index Scan using log_pkey on log l"], &[]),
    (sql::ROUTE_RELEASED, &["Index Scan using log_event on log l"], &[]),
    (sql::PURGE_IDS, &["Index Scan using event_pkey on event"], &["Sort"]),
    (sql::PURGE_AGAIN, &["using keep_due on keep"], &[]),
    (sql::PURGE_LOOK, &["Index Scan using event_pkey on event e", "Index Scan using ledger_pkey on ledger l"], &[]),
    (sql::PURGE_FACTS, &["Index Scan using delivery_event on delivery d"], &[]),
    (sql::PURGE_PARTS, &["Index Scan using event_part on event e"], &[]),
    (sql::PURGE_DELIVERIES, &["Index Scan using delivery_event on delivery"], &[]),
    (sql::PURGE_REQUESTS, &["Index Scan using request_pkey on request q"], &["Sort"]),
];

#[test]
fn queues_are_walked_by_their_indexes() {
    let bed = world();
    let db = bed.lent();
    for (stmt, must, must_not) in PINS {
        let plan = bed.wait(db.plan(stmt));
        for part in *must {
            assert!(plan.contains(part), "{} does not say `{part}`:\n{plan}", stmt.name);
        }
        for part in must_not.iter().chain(&["Seq Scan", "Hash Join", "Merge Join", "Bitmap"]) {
            assert!(!plan.contains(part), "{} says `{part}`:\n{plan}", stmt.name);
        }
    }
}

/// The pins are what brings it about: a session as it comes has other plans.
#[test]
fn a_session_without_pins_walks_the_table() {
    let bed = world();
    let db = bed.lent();
    bed.wait(db.sql("reset all; set plan_cache_mode = force_generic_plan; set enable_seqscan = on"));
    let plan = bed.wait(db.plan(sql::CLAIM));
    assert!(plan.contains("Seq Scan on work"), "{plan}");
}
