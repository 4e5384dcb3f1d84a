//! The chaos run of the lane rule: lanes that are near empty, so that appends, settles and claims meet; routers whose
//! passes are rolled back; workers that dawdle behind their settle, roll it back, look with an old snapshot, claim inside
//! their own transaction, or come back after their lease.
//!
//! What happens is the machine's luck; what must hold does not depend on it. Each control lacks one part of the rule, and
//! goes on until that is found.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use hookonce::postgres::bed::{Database, client};
use hookonce::postgres::lent::Lent;
use hookonce::postgres::{Options, PostgresStore};
use hookonce::sql::call::{Stmt, Tap};
use hookonce::sql::postgres as sql;
use hookonce::store::{Store, StoreError};
use hookonce::testkit::explore::setup::consumer;
use hookonce::testkit::script::random::Dice;
use hookonce::testkit::script::{item, words};
use hookonce_core::claim::Ask;
use hookonce_core::consumer::OnDead;
use hookonce_core::delivery::Outcome;
use hookonce_core::route::Routing;
use hookonce_core::settle::{Settled, plan};
use hookonce_core::time::{Micros, SECOND};

const LANES: usize = 16;
const WORKERS: usize = 6;
/// Events that are not ended yet, beyond which no more are sent: most lanes are empty most of the time.
const AHEAD: usize = 20;
const EVENTS: usize = 500;
/// A control that is not found among so many events is not found.
const EVENTS_OF_A_CONTROL: usize = 4_000;
/// Passes that fail one after the other and would go on to.
const FAILED: usize = 50;
/// Nothing of a run takes as long.
const LIMIT: Duration = Duration::from_secs(40);
const LEASE: Micros = SECOND / 4;

/// One run.
struct Chaos {
    events: usize,
    routing: Routing,
    found: Found,
}

/// What is seen of a run.
#[derive(Default)]
struct Found {
    sent: AtomicUsize,
    /// Broken promises, in words.
    wrong: Mutex<Vec<String>>,
    over: AtomicBool,
    conflicts: AtomicUsize,
    fenced: AtomicUsize,
    rolled_back: AtomicUsize,
    passes: AtomicUsize,
    failed_passes: AtomicUsize,
    longest_pass: Mutex<Duration>,
}

impl Found {
    fn wrong(&self, what: String) {
        self.wrong.lock().unwrap_or_else(PoisonError::into_inner).push(what);
        self.over.store(true, SeqCst);
    }

    fn passed_in(&self, took: Duration) {
        let mut longest = self.longest_pass.lock().unwrap_or_else(PoisonError::into_inner);
        *longest = took.max(*longest);
    }

    fn is_over(&self) -> bool {
        self.over.load(SeqCst)
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |n: &AtomicUsize| n.load(SeqCst);
        write!(
            f,
            "{} events, {} passes ({} failed, longest {:?}), {} conflicts, {} fenced, {} rolled back, wrong: {:?}",
            of(&self.sent),
            of(&self.passes),
            of(&self.failed_passes),
            self.longest_pass.lock().unwrap_or_else(PoisonError::into_inner),
            of(&self.conflicts),
            of(&self.fenced),
            of(&self.rolled_back),
            self.wrong.lock().unwrap_or_else(PoisonError::into_inner),
        )
    }
}

/// Fails one pass in twenty behind everything but its last row.
#[derive(Debug)]
struct Unlucky(Mutex<Dice>);

impl Tap for Unlucky {
    fn before(&self, statement: &'static str) -> Result<(), StoreError> {
        let mut dice = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match statement == "route_write_pass" && dice.one_in(20) {
            true => Err(StoreError::Busy("rolled back".into())),
            false => Ok(()),
        }
    }
}

fn open(database: &Database, lacks: &'static [Stmt]) -> Arc<PostgresStore> {
    let tap = Arc::new(Unlucky(Mutex::new(Dice::new(7))));
    let options = Options { tap: Some(tap), instead: lacks, work: 3, writers: 1, readers: 1, ..Options::default() };
    let opened = database.runtime.block_on(PostgresStore::open(&database.url(), options));
    Arc::new(opened.expect("the store opens"))
}

const EFFECTS: &str =
    "create table effect (n bigint generated always as identity primary key, lane bigint, seq bigint)";

/// Runs to its end, or to the first broken promise.
fn run(events: usize, routers: usize, lacks: &'static [Stmt]) -> Found {
    let database = Database::default();
    let stores: Vec<Arc<PostgresStore>> = (0..routers).map(|_| open(&database, lacks)).collect();
    let chaos = database.runtime.block_on(async {
        let app = consumer("app", "*/*", OnDead::Hold);
        let routing = stores[0].configure(vec![app]).await.expect("nothing is in the way");
        client(database.name()).await.batch_execute(EFFECTS).await.expect("a user's own table can be made");
        Arc::new(Chaos { events, routing, found: Found::default() })
    });
    let began = Instant::now();
    database.runtime.block_on(async {
        let mut tasks = Vec::new();
        let mut spawn = |task: futures_util::future::BoxFuture<'static, ()>| tasks.push(tokio::spawn(task));
        for store in &stores {
            spawn(Box::pin(router(chaos.clone(), store.clone())));
        }
        for n in 0..WORKERS {
            let lent = stores[0].lent().await.expect("a connection can be had");
            spawn(Box::pin(worker(chaos.clone(), lent, stores[0].identity().instance, n as u64)));
        }
        spawn(Box::pin(sender(chaos.clone(), stores[0].clone(), database.name().to_owned())));
        let watch = watch(chaos.clone(), database.name().to_owned(), began);
        let (ended, ()) = futures_util::future::join(join_all(tasks), watch).await;
        ended.into_iter().for_each(|task| task.expect("no task panics"));
        in_order(&chaos.found, &database).await;
    });
    drop(stores);
    Arc::into_inner(chaos).expect("all tasks have ended").found
}

/// Keeps the lanes near empty.
async fn sender(chaos: Arc<Chaos>, store: Arc<PostgresStore>, database: String) {
    let (db, mut dice) = (client(&database).await, Dice::new(1));
    while !chaos.found.is_over() && chaos.found.sent.load(SeqCst) < chaos.events {
        let owed =
            "select (select count(*) from hookonce.delivery where open) + (select count(*) from hookonce.arrival)";
        let owed: i64 = db.query_one(owed, &[]).await.expect("the tables can be read").get(0);
        for _ in usize::try_from(owed).unwrap_or(0)..AHEAD {
            let key = chaos.found.sent.fetch_add(1, SeqCst);
            let line = words::line(1, &format!("admit gh/{key} agg=lane-{}", dice.below(LANES)));
            let submission = item::submission(&line, store.now()).expect("the line is written by hand");
            store.admit(submission).await.expect("nothing is in the way");
        }
        tokio::task::yield_now().await;
    }
}

async fn router(chaos: Arc<Chaos>, store: Arc<PostgresStore>) {
    let mut failed = 0;
    while !chaos.found.is_over() {
        let began = Instant::now();
        let passed = store.route(&chaos.routing).await;
        chaos.found.passed_in(began.elapsed());
        match passed {
            Ok(passed) if passed.events > 0 => drop(chaos.found.passes.fetch_add(1, SeqCst)),
            Ok(_) => tokio::task::yield_now().await,
            Err(StoreError::Busy(why)) if why == "rolled back" => {}
            Err(error) => {
                chaos.found.failed_passes.fetch_add(1, SeqCst);
                failed += 1;
                if failed > FAILED {
                    chaos.found.wrong(format!("passes fail one after the other: {error}"));
                }
                continue;
            }
        }
        failed = 0;
    }
}

async fn worker(chaos: Arc<Chaos>, lent: Lent, owner: i64, seed: u64) {
    let mut dice = Dice::new(seed);
    let mut draws = seed << 32;
    while !chaos.found.is_over() {
        let taken = turn(&chaos, &lent, owner, &mut dice, &mut draws).await;
        match taken {
            Ok(true) => {}
            Ok(false) => tokio::task::yield_now().await,
            Err(_) => {
                chaos.found.conflicts.fetch_add(1, SeqCst);
                lent.sql("rollback").await.expect("a transaction can be ended");
            }
        }
    }
}

/// One delivery, or none: false.
async fn turn(chaos: &Chaos, lent: &Lent, owner: i64, dice: &mut Dice, draws: &mut u64) -> Result<bool, StoreError> {
    *draws += 1;
    let mut token = [0; 16];
    token[..8].copy_from_slice(&draws.to_be_bytes());
    let lease = if dice.one_in(5) { SECOND * 3 / 1_000 } else { LEASE };
    let ask = Ask { consumer: chaos.routing.consumers[0].id, tokens: vec![token], lease, owner, quiet: dice.one_in(4) };
    let isolation = if dice.one_in(3) { "repeatable read" } else { "read committed" };
    let begin = format!("begin isolation level {isolation}");
    let inside = dice.one_in(3);
    if inside {
        lent.sql(&begin).await?;
    }
    let Some(run) = lent.claim(&ask).await?.pop() else {
        if inside {
            lent.sql("rollback").await?;
        }
        return Ok(false);
    };
    if !inside {
        lent.sql(&begin).await?;
    }
    dawdle(lent, dice, 8).await?;
    let effect = format!("insert into effect (lane, seq) values ({}, {})", run.lane, run.lease.seq);
    lent.sql(&effect).await?;
    let ending = plan(&run, &Outcome::Done, &chaos.routing.consumers[0], 0, 0);
    let fenced = lent.settle(&[ending]).await? == [Settled::Fenced];
    dawdle(lent, dice, 30).await?;
    let ends = match (fenced, dice.one_in(10)) {
        (true, _) => {
            chaos.found.fenced.fetch_add(1, SeqCst);
            "rollback"
        }
        (false, true) => {
            chaos.found.rolled_back.fetch_add(1, SeqCst);
            "rollback"
        }
        (false, false) => "commit",
    };
    lent.sql(ends).await?;
    Ok(true)
}

/// A user's own statement, which takes its time or does not. The transaction stays open meanwhile.
async fn dawdle(lent: &Lent, dice: &mut Dice, most: usize) -> Result<(), StoreError> {
    let long = if dice.one_in(2) { dice.below(most) } else { 0 };
    lent.sql(&format!("select pg_sleep(0.001 * {long})")).await
}

/// Invariant 5 over what is committed, at any moment: the first open delivery of a lane has exactly one work row, or
/// somebody is to look at the lane.
const HEADLESS: &str = "select d.lane from (
    select distinct on (lane) lane, seq, id from hookonce.delivery where open order by lane, seq) d
  where not exists (select 1 from hookonce.work w where w.seq = d.seq)
    and not exists (select 1 from hookonce.halted h where h.id = d.id)
    and not exists (select 1 from hookonce.lane_check c where c.lane = d.lane)
  limit 1";
const TWO_HEADS: &str = "select lane from hookonce.work where lane < 0 group by lane having count(*) > 1 limit 1";
const OWED: &str =
    "select exists (select 1 from hookonce.delivery where open) or exists (select 1 from hookonce.arrival)";

async fn watch(chaos: Arc<Chaos>, database: String, began: Instant) {
    let db = client(&database).await;
    while !chaos.found.is_over() {
        for (name, question) in [("nobody is the head", HEADLESS), ("there are two heads", TWO_HEADS)] {
            if let Some(row) = db.query_opt(question, &[]).await.expect("the tables can be read") {
                chaos.found.wrong(format!("{name} of lane {}", row.get::<_, i64>(0)));
            }
        }
        let owed: bool = db.query_one(OWED, &[]).await.expect("the tables can be read").get(0);
        if !owed && chaos.found.sent.load(SeqCst) >= chaos.events {
            chaos.found.over.store(true, SeqCst);
        }
        if began.elapsed() > LIMIT {
            chaos.found.wrong("it does not come to an end".into());
        }
        tokio::task::yield_now().await;
    }
}

const TWICE: &str = "select seq from effect group by seq having count(*) > 1 limit 1";
const NEVER: &str = "select seq from hookonce.delivery d where not open
    and not exists (select 1 from effect e where e.seq = d.seq) limit 1";
const BEFORE: &str =
    "select seq from (select seq, lag(seq) over (partition by lane order by n) as before from effect) e
    where before > seq limit 1";

/// One effect for each delivery, in the order of its lane.
async fn in_order(found: &Found, database: &Database) {
    let db = client(database.name()).await;
    for (name, question) in [("has two effects", TWICE), ("has no effect", NEVER), ("came too late", BEFORE)] {
        if let Some(row) = db.query_opt(question, &[]).await.expect("the tables can be read") {
            found.wrong(format!("delivery {} {name}", row.get::<_, i64>(0)));
        }
    }
}

fn sound(found: &Found) {
    println!("{found}");
    assert!(found.wrong.lock().expect("all tasks have ended").is_empty(), "{found}");
    assert!(found.sent.load(SeqCst) >= EVENTS, "{found}");
}

#[test]
fn one_router_among_workers_that_dawdle() {
    sound(&run(EVENTS, 1, &[]));
}

#[test]
fn three_routers_at_once() {
    sound(&run(EVENTS, 3, &[]));
}

/// A statement without one of its parts.
fn lacks(stmt: &'static Stmt, part: &str, instead: &str) -> &'static [Stmt] {
    assert!(stmt.text.contains(part), "{} does not say `{part}`", stmt.name);
    Box::leak(Box::new([Stmt { name: stmt.name, text: stmt.text.replacen(part, instead, 1).leak() }]))
}

fn is_found(lacks: &'static [Stmt]) {
    let found = run(EVENTS_OF_A_CONTROL, 1, lacks);
    println!("{found}");
    assert!(!found.wrong.lock().expect("all tasks have ended").is_empty(), "not found: {found}");
}

#[test]
fn a_router_that_does_not_lock_tails_is_found() {
    is_found(lacks(sql::ROUTE_TAIL_LOCKS, "for no key update of d skip locked", ""));
}

/// The update of the delivery is then its lock, and who is next is read with the snapshot from before it was had.
#[test]
fn a_settle_that_locks_and_looks_in_one_statement_is_found() {
    is_found(lacks(sql::SETTLE_LANE, "for no key update of d", ""));
}

#[test]
fn a_settle_with_an_old_snapshot_that_asks_for_no_check_is_found() {
    is_found(lacks(sql::SETTLE_END, "current_setting('transaction_isolation') <> 'read committed'", "false"));
}

#[test]
fn a_router_that_takes_what_it_cannot_lock_for_gone_is_found() {
    is_found(lacks(sql::ROUTE_CHECK_THERE, "d.seq = c.behind", "d.seq = c.behind where false"));
}

/// As of before the lock, which takes a moment here.
#[test]
fn a_router_that_believes_what_it_saw_before_its_lock_is_found() {
    let believed = "select d.lane, d.seq,
        (select o.open from hookonce.delivery o where o.lane = d.lane and o.seq = d.seq)
        from (select pg_sleep(0.003)) as slow cross join unnest";
    is_found(lacks(sql::ROUTE_TAIL_LOCKS, "select d.lane, d.seq, d.open\nfrom unnest", believed));
}

/// Two checks that find the same delivery: a pass that fails on it fails for ever.
#[test]
fn a_pass_that_fails_on_two_checks_of_one_lane_is_found() {
    is_found(lacks(sql::ROUTE_CHECK_NEXT, "select distinct", "select"));
}
