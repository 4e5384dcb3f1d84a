//! The published functions beside what the suite shows of them: transactions of users, older snapshots, rights, runs.

use std::sync::Arc;

use hookonce::clock::Clock as _;
use hookonce::postgres::bed::{PostgresBed, client};
use hookonce::postgres::functions::LOST;
use hookonce::sql::postgres as sql;
use hookonce::testkit::explore::setup::consumer;
use hookonce::testkit::script::bed::{Bed as _, wait};
use hookonce_core::consumer::{Consumer, OnDead, Policy};
use hookonce_core::retry;
use hookonce_core::route::Routing;
use hookonce_core::time::{DAY, HOUR, Micros, SECOND};
use tokio::runtime::Runtime;
use tokio_postgres::{Client, SimpleQueryMessage};

use crate::beside::{admit, route};

/// A program in another language, on a connection of its own.
struct Program {
    db: Client,
    runtime: Arc<Runtime>,
}

impl Program {
    fn new(bed: &PostgresBed) -> Program {
        let runtime = bed.database.runtime.clone();
        let program = Program { db: runtime.block_on(client(bed.database.name())), runtime };
        program.at(bed.clock().now());
        program
    }

    /// Its functions read the bed's clock.
    fn at(&self, now: Micros) {
        self.say(&format!("set hookonce.now_us = '{now}'")).unwrap();
    }

    /// The first column, or the SQLSTATE.
    fn say(&self, text: &str) -> Result<Vec<String>, String> {
        let said = self.runtime.block_on(self.db.simple_query(text));
        let first = |message: &SimpleQueryMessage| match message {
            SimpleQueryMessage::Row(row) => Some(row.get(0).unwrap_or_default().to_owned()),
            _ => None,
        };
        said.map(|said| said.iter().filter_map(first).collect())
            .map_err(|error| error.code().map_or_else(|| error.to_string(), |code| code.code().to_owned()))
    }

    fn claim(&self) -> Vec<String> {
        self.say("select lease from hookonce.claim('app', 10, '60 s')").unwrap()
    }

    fn done(&self, lease: &str) -> Result<Vec<String>, String> {
        self.say(&format!("select hookonce.done('{lease}')"))
    }
}

/// A consumer for them, with these events in one lane.
fn world(events: &[&str]) -> (PostgresBed, Routing, Program) {
    let bed = PostgresBed::default();
    let app = Consumer { pulled: true, ..consumer("app", "*/*", OnDead::Hold) };
    let routing = wait(bed.store().configure(vec![app])).unwrap();
    events.iter().for_each(|key| admit(&bed, &format!("gh/{key} agg=a")));
    route(&bed, &routing);
    let program = Program::new(&bed);
    program.say("create table effect (n bigint)").unwrap();
    (bed, routing, program)
}

fn states(bed: &PostgresBed) -> Vec<Option<String>> {
    bed.rows().delivery.values().map(|d| d.state.clone()).collect()
}

fn outcomes(bed: &PostgresBed) -> Vec<String> {
    bed.rows().attempt.values().map(|a| a.outcome.clone()).collect()
}

const SUCCEEDED: &str = "succeeded";

/// Whoever settles through a function does what the engine does.
#[test]
fn functions_hold_the_statements_to_the_letter() {
    let text = include_str!("../../migrations/postgres/0002_functions.sql");
    let mut held = 0;
    for stmt in sql::ALL {
        let Some((_, rest)) = text.split_once(&format!("create function hookonce.run_{}(", stmt.name)) else {
            continue;
        };
        let body = rest.split_once("begin return query\n").and_then(|(_, rest)| rest.split_once("\n; end $run$;"));
        assert_eq!(body.map(|(body, _)| body), Some(stmt.text.trim_end()), "{}", stmt.name);
        held += 1;
    }
    assert_eq!(held, text.matches("$run$;").count(), "each `run_` is a statement");
    assert_eq!(held, 8);
}

/// Whoever calls them: their plans, their names and their rights are ours, and nobody else's functions have our rights.
#[test]
fn published_functions_pin_their_plans_and_their_search_path() {
    let (_bed, _, program) = world(&[]);
    let pinned = "select proname from pg_proc where pronamespace = 'hookonce'::regnamespace and prosecdef
        and proconfig @> array['search_path=pg_catalog, pg_temp', 'plan_cache_mode=force_generic_plan', 'enable_seqscan=off',
            'enable_hashjoin=off', 'enable_mergejoin=off', 'enable_bitmapscan=off', 'jit=off'] order by 1";
    let secure = "select proname from pg_proc where pronamespace = 'hookonce'::regnamespace and prosecdef order by 1";
    let published = ["cancel", "claim", "claim_lane", "done", "fail", "park", "snooze"];
    assert_eq!(program.say(pinned).unwrap(), published);
    assert_eq!(program.say(secure).unwrap(), published);
    program.claim();
    assert_eq!(program.say("select current_setting('enable_seqscan')").unwrap(), ["on"], "it does not leak");
}

#[test]
fn effect_and_done_commit_together() {
    for (ends, effects, state) in [("commit", 1, Some(SUCCEEDED)), ("rollback", 0, None)] {
        let (bed, _, program) = world(&["1"]);
        let lease = program.claim().remove(0);
        program.say(&format!("begin; insert into effect values (1); select hookonce.done('{lease}'); {ends}")).unwrap();
        assert_eq!(bed.numbers("select n from effect").len(), effects);
        assert_eq!(states(&bed)[0].as_deref(), state);
        let again = program.done(&lease);
        assert_eq!(again.is_ok(), ends == "rollback", "{again:?}");
    }
}

#[test]
fn a_lost_lease_raises_its_own_state_and_takes_the_effect_with_it() {
    let (bed, _, late) = world(&["1"]);
    let lease = late.claim().remove(0);
    let other = Program::new(&bed);
    other.at(bed.clock().now() + 60 * SECOND);
    let taken = other.claim().remove(0);
    let text = format!("begin; insert into effect values (1); select hookonce.done('{lease}')");
    assert_eq!(late.say(&text), Err(LOST.to_owned()));
    late.say("rollback").unwrap();
    for verb in ["fail('L', 'why')", "snooze('L', '1 s')", "park('L', 'why')", "cancel('L', 'why')"] {
        let said = late.say(&format!("select hookonce.{}", verb.replace('L', &lease)));
        assert_eq!(said, Err(LOST.to_owned()), "{verb}");
    }
    assert!(bed.numbers("select n from effect").is_empty());
    other.done(&taken).unwrap();
    assert_eq!(other.done(&taken), Err(LOST.to_owned()));
    assert_eq!(
        (states(&bed)[0].as_deref(), outcomes(&bed)),
        (Some(SUCCEEDED), vec!["lost".to_owned(), "done".to_owned()])
    );
}

/// Two forms with the same promise. A crash is counted in the first, and leaves no trace in the second.
#[test]
fn a_crash_is_counted_where_the_claim_had_committed() {
    for (begins, losses) in [("", vec!["lost".to_owned()]), ("begin", vec![])] {
        let (bed, _, crashed) = world(&["1"]);
        crashed.say(begins).unwrap();
        let lease = crashed.claim().remove(0);
        crashed.say("begin; insert into effect values (1)").unwrap();
        crashed.done(&lease).unwrap();
        crashed.say("rollback").unwrap();
        let next = Program::new(&bed);
        next.at(bed.clock().now() + 60 * SECOND);
        next.say("begin").unwrap();
        let lease = next.claim().remove(0);
        assert_eq!((outcomes(&bed), bed.numbers("select n from effect").len()), (vec![], 0), "{begins}");
        next.say("insert into effect values (1)").unwrap();
        next.done(&lease).unwrap();
        next.say("commit").unwrap();
        assert_eq!(outcomes(&bed), [losses, vec!["done".to_owned()]].concat(), "{begins}");
        assert_eq!(bed.numbers("select n from effect").len(), 1);
    }
}

/// The successor comes while `done` has not committed: wherever the settle looked, the lane goes on.
#[test]
fn a_lane_goes_on_when_the_router_appends_meanwhile() {
    for level in ["read committed", "repeatable read", "serializable"] {
        for router_first in [false, true] {
            let (bed, routing, program) = world(&["1"]);
            let lease = program.claim().remove(0);
            program.say(&format!("begin isolation level {level}; select count(*) from effect")).unwrap();
            let append = || {
                admit(&bed, "gh/2 agg=a");
                route(&bed, &routing);
            };
            if router_first {
                append();
            }
            program.done(&lease).unwrap();
            if !router_first {
                append();
            }
            program.say("commit").unwrap();
            route(&bed, &routing);
            assert_eq!(program.claim().len(), 1, "{level}, router first: {router_first}");
            assert!(bed.numbers("select behind from hookonce.lane_check").is_empty());
        }
    }
}

/// From a snapshot that is older than the claim nobody holds a lease.
#[test]
fn a_claim_behind_the_snapshot_is_not_seen() {
    let (bed, _, program) = world(&["1"]);
    program.say("begin isolation level repeatable read; select count(*) from effect").unwrap();
    let lease = Program::new(&bed).claim().remove(0);
    // PostgreSQL may say as well that the row has changed since.
    let said = program.done(&lease);
    assert!(said == Err(LOST.to_owned()) || said == Err("40001".to_owned()), "{said:?}");
    program.say("rollback").unwrap();
    program.done(&lease).unwrap();
}

#[test]
fn a_claim_ends_what_is_not_to_be_run() {
    let (bed, routing, program) = world(&["1", "2"]);
    bed.edit(&|rows| rows.delivery.values_mut().filter(|d| d.seq == 1).for_each(|d| d.cancel = true));
    assert_eq!(program.claim().len(), 1, "the next one of the lane");
    assert_eq!(states(&bed)[0].as_deref(), Some("cancelled"));
    // Lost three times and more it runs by itself, the eighth time not at all.
    bed.edit(&|rows| rows.work.values_mut().for_each(|w| (w.lost, w.due, w.token) = (6, 0, Some([1; 16]))));
    admit(&bed, "gh/3 agg=b");
    route(&bed, &routing);
    let keys = || program.say("select key from hookonce.claim('app', 10, '60 s')").unwrap();
    assert_eq!((keys(), keys(), keys()), (vec!["3".to_owned()], vec!["2".to_owned()], vec![]));
    bed.edit(&|rows| rows.work.values_mut().filter(|w| w.lost > 0).for_each(|w| w.due = 0));
    assert_eq!(keys(), [""; 0]);
    assert_eq!(bed.rows().halted.values().map(|h| h.reason.as_str()).collect::<Vec<_>>(), ["worker lost"]);
}

/// A run: the lease goes from one to the next, and ends with the first that is not done.
#[test]
fn a_run_of_a_lane_hands_its_lease_on() {
    let (bed, _, program) = world(&["1", "2", "3", "4"]);
    let run = program.say("select lease from hookonce.claim_lane('app', 3, '60 s')").unwrap();
    assert_eq!(run.len(), 3);
    assert_eq!(program.done(&run[1]), Err(LOST.to_owned()), "not before its predecessor");
    program.say("begin").unwrap();
    program.done(&run[0]).unwrap();
    program.done(&run[1]).unwrap();
    program.say("commit").unwrap();
    assert!(program.claim().is_empty(), "the third is in a worker's hands");
    program.say(&format!("select hookonce.fail('{}', 'why')", run[2])).unwrap();
    let rows = bed.rows();
    assert_eq!(rows.work.values().map(|w| (w.seq, w.attempts, w.epoch)).collect::<Vec<_>>(), [(3, 1, 1)]);
    assert_eq!(states(&bed)[..2], [Some(SUCCEEDED.to_owned()), Some(SUCCEEDED.to_owned())]);
    // What failed ends a run: whoever stands behind it has no lease.
    program.at(bed.clock().now() + HOUR);
    let run = program.say("select lease from hookonce.claim_lane('app', 3, '60 s')").unwrap();
    program.say(&format!("select hookonce.fail('{}', 'why')", run[0])).unwrap();
    assert_eq!((run.len(), program.done(&run[1])), (2, Err(LOST.to_owned())));
}

#[test]
fn m7_the_delay_is_that_of_core() {
    let (_bed, _, program) = world(&[]);
    for (first, max) in [(1, 1), (3, 7), (5 * SECOND, HOUR), (SECOND, i64::MAX)] {
        let policy = Policy { first, max, ..Policy::default() };
        for n in [0, 1, 2, 3, 11, 64, 10_000] {
            for after in [None, Some(-5), Some(9 * SECOND), Some(2 * DAY)] {
                for (dice, core) in [("0", 0), ("0.25", 1)] {
                    let rung = retry::ladder(&policy, n);
                    let faces = (rung - rung / 2).max(1) as u64 + 1;
                    let asked = after.map_or("null".to_owned(), |after| after.to_string());
                    let text = format!(
                        "set hookonce.dice = '{dice}'; select hookonce.delay('[{first}, {max}, 0, 0]', {n}, {asked})"
                    );
                    let said: i64 = program.say(&text).unwrap().last().unwrap().parse().unwrap();
                    let want = retry::delay(&policy, n, after, faces / 4 * core);
                    assert!((said - want).abs() <= 1 + faces as i64 / 1_000_000_000, "{text}: {said}, in core {want}");
                }
            }
        }
    }
}

#[test]
fn arguments_that_cannot_be_are_named() {
    let (_bed, _, program) = world(&["1"]);
    for (call, state) in [
        ("claim('nobody')", "KO002"),
        ("claim(null)", "KO002"),
        ("claim('app', 0)", "22023"),
        ("claim('app', 501)", "22023"),
        ("claim('app', 1, '2 days')", "22023"),
        ("claim_lane('app', 1, '0 s')", "22023"),
        ("done('nonsense')", "22023"),
        ("done(null)", "22023"),
    ] {
        assert_eq!(program.say(&format!("select hookonce.{call}")), Err(state.to_owned()), "{call}");
    }
}

/// A worker has what it was granted, and reaches no table.
#[test]
fn a_role_may_do_what_it_was_granted_and_nothing_else() {
    let (bed, _, owner) = world(&["1"]);
    let role = bed.database.name();
    owner.say(&format!("create role {role}; grant usage on schema hookonce to {role}")).unwrap();
    let (denied, read_only) = (Err("42501".to_owned()), Err("0A000".to_owned()));
    owner.say(&format!("set role {role}")).unwrap();
    assert_eq!(owner.say("select lease from hookonce.claim('app')"), denied);
    owner.say(&format!("reset role; grant execute on function hookonce.claim, hookonce.done to {role}")).unwrap();
    owner.say(&format!("grant select on hookonce.v_deliveries to {role}; set role {role}")).unwrap();
    let lease = owner.say("select lease from hookonce.claim('app')").unwrap().remove(0);
    owner.done(&lease).unwrap();
    assert_eq!(owner.say("select state from hookonce.v_deliveries").unwrap(), [SUCCEEDED]);
    for text in [
        "select 1 from hookonce.work",
        "select hookonce.fail('x', 'y')",
        "select hookonce.take(1, 1, 1)",
        "update hookonce.v_deliveries set state = 'ready'",
    ] {
        let said = owner.say(text);
        assert!(said == denied || said == read_only, "{text}: {said:?}");
    }
    owner.say(&format!("reset role; drop owned by {role}; drop role {role}")).unwrap();
}
