//! For tests: the store as a bed of the suite whose work is claimed and settled through the published functions, as a
//! worker in another language does. What they do not offer goes to the engine, so each script mixes both.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::{BoxFuture, FutureExt as _};
use hookonce_core::admit::{Admission, Submission};
use hookonce_core::claim::{Ask, Claimed, LOST_QUIET};
use hookonce_core::command::{Command, Refused, Who};
use hookonce_core::consumer::Consumer;
use hookonce_core::lease::Lease;
use hookonce_core::retain::Retention;
use hookonce_core::retry;
use hookonce_core::route::Routing;
use hookonce_core::settle::{Ending, How, Settled};
use hookonce_core::time::Micros;
use tokio_postgres::{Client, Row};

use super::PostgresStore;
use super::bed::{PostgresBed, client};
use crate::clock::ManualClock;
use crate::store::{EventView, Identity, Passed, Purged, Refusals, Run, Store, StoreError, Swept, Verb};
use crate::testkit::model::{Rows, state};
use crate::testkit::script::bed::Bed;
use crate::view::{Page, Query};

/// What `done` and its kin say of a lease that is not held any more.
pub const LOST: &str = "KO001";

#[derive(Debug)]
pub struct FunctionsBed {
    bed: PostgresBed,
    worker: Arc<Worker>,
}

/// A program in another language.
struct Worker {
    db: Client,
    /// As they were configured last, with their ids.
    consumers: Mutex<Vec<Consumer>>,
    /// Calls of published functions.
    calls: Arc<AtomicUsize>,
}

impl std::fmt::Debug for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Worker").field("calls", &self.calls).finish_non_exhaustive()
    }
}

impl Default for FunctionsBed {
    fn default() -> FunctionsBed {
        FunctionsBed::counting(Arc::default())
    }
}

impl FunctionsBed {
    /// Counts the calls of published functions: a test of them that calls none proves nothing.
    pub fn counting(calls: Arc<AtomicUsize>) -> FunctionsBed {
        let bed = PostgresBed::default();
        let db = bed.database.runtime.block_on(client(bed.database.name()));
        FunctionsBed { bed, worker: Arc::new(Worker { db, consumers: Mutex::default(), calls }) }
    }
}

impl Bed for FunctionsBed {
    fn name(&self) -> &'static str {
        "functions"
    }

    fn store(&self) -> Arc<dyn Store> {
        Arc::new(Functions { engine: self.bed.engine(), worker: self.worker.clone() })
    }

    fn clock(&self) -> &ManualClock {
        self.bed.clock()
    }

    /// The view for people shows every delivery as core does.
    fn rows(&self) -> Rows {
        let (rows, now) = (self.bed.rows(), self.bed.store().now());
        let seen = self.bed.database.runtime.block_on(self.worker.states(now)).expect("the view can be read");
        let shown = rows.delivery.values().map(|d| (d.event, d.generation, state::of_delivery(&rows, d, now).name()));
        let mut shown: Vec<_> = shown.map(|(event, generation, state)| (event, generation, state.to_owned())).collect();
        shown.sort_unstable();
        assert_eq!(seen, shown);
        rows
    }

    fn edit(&self, change: &dyn Fn(&mut Rows)) {
        self.bed.edit(change);
    }

    /// Leases of the outside belong to no process of ours: they outlive a restart, those of the model do not.
    fn restart(&self) {
        self.bed.restart();
        let now = self.bed.store().now();
        let ended = "update hookonce.work set due = least(due, $1) where owner is null and token is not null";
        let db = &self.worker.db;
        self.bed.database.runtime.block_on(db.execute(ended, &[&now])).expect("nothing is in the way");
    }
}

struct Functions {
    engine: Arc<PostgresStore>,
    worker: Arc<Worker>,
}

impl Worker {
    async fn call(&self, now: Micros, text: &str, args: &[&(dyn tokio_postgres::types::ToSql + Sync)]) -> Answer {
        self.db.batch_execute(&format!("set hookonce.now_us = '{now}'")).await?;
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.db.query(text, args).await
    }

    /// Event, generation and state of each delivery, as the view has them.
    async fn states(&self, now: Micros) -> Result<Vec<(i64, i64, String)>, tokio_postgres::Error> {
        self.db.batch_execute(&format!("set hookonce.now_us = '{now}'")).await?;
        let rows = self.db.query("select number, generation, state from hookonce.v_deliveries", &[]).await?;
        let mut states: Vec<_> = rows.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect();
        states.sort_unstable();
        Ok(states)
    }

    /// Rows that the functions deal with by themselves, while a script says so line by line: cancelled, lost too often.
    async fn special(&self, consumer: i64) -> Result<bool, StoreError> {
        let text = "select exists (select 1 from hookonce.work w join hookonce.delivery d using (lane, seq)
            where w.consumer = $1 and (d.cancel or w.lost >= $2))";
        let row = self.db.query_one(text, &[&consumer, &LOST_QUIET]).await.map_err(failed)?;
        Ok(row.get(0))
    }

    async fn claim(&self, engine: &PostgresStore, ask: &Ask) -> Result<Vec<Run>, StoreError> {
        let known = self.consumers().into_iter().find(|consumer| consumer.id == ask.consumer);
        let Some(consumer) = known else { return engine.claim(ask.clone()).await };
        let text = "select * from hookonce.claim($1, $2, $3::text::interval)";
        let (n, lease) = (ask.tokens.len() as i32, format!("{} microseconds", ask.lease));
        let rows = self.call(engine.now(), text, &[&&*consumer.name, &n, &lease]).await.map_err(failed)?;
        let mut claimed = Vec::with_capacity(rows.len());
        for row in &rows {
            claimed.push(self.claimed(row).await?);
        }
        let runs = engine.runs(claimed).await?;
        rows.iter().zip(&runs).for_each(|(row, run)| same(row, &run.event, &run.claimed));
        Ok(runs)
    }

    /// What the engine knows of a row that was claimed here.
    async fn claimed(&self, row: &Row) -> Result<Claimed, StoreError> {
        let (lease, started) = taken_apart(row.get(0));
        let text = "select id, lane, event, consumer, generation, attempts, lost, since, decided
            from hookonce.work where seq = $1";
        let row = self.db.query_one(text, &[&lease.seq]).await.map_err(failed)?;
        Ok(Claimed {
            lease,
            id: row.get(0),
            lane: row.get(1),
            event: row.get(2),
            consumer: row.get(3),
            generation: row.get(4),
            attempts: row.get(5),
            lost: row.get(6),
            since: row.get(7),
            decided: row.get(8),
            cancel: false,
            now: started,
        })
    }

    /// `None`: the functions do not offer that.
    async fn settle(&self, now: Micros, ending: &Ending) -> Result<Option<Settled>, StoreError> {
        let (lease, detail) = (put_together(ending), ending.attempt.detail.as_str());
        let wait = self.wait(ending).map(|delay| format!("{delay} microseconds"));
        let answer = match ending.attempt.outcome {
            "done" => self.call(now, "select hookonce.done($1)", &[&lease]).await,
            "discarded" => self.call(now, "select hookonce.cancel($1, $2)", &[&lease, &detail]).await,
            "parked" => self.call(now, "select hookonce.park($1, $2)", &[&lease, &detail]).await,
            "snoozed" => self.call(now, "select hookonce.snooze($1, $2::text::interval)", &[&lease, &wait]).await,
            "failed" => {
                let text = "select hookonce.fail($1, $2, $3::text::interval)";
                self.call(now, text, &[&lease, &detail, &wait]).await
            }
            _ => return Ok(None),
        };
        match answer {
            Ok(_) => Ok(Some(Settled::Kept)),
            Err(error) if error.code().is_some_and(|code| code.code() == LOST) => Ok(Some(Settled::Fenced)),
            Err(error) => Err(failed(error)),
        }
    }

    /// The delay that must be asked for. A rung of the ladder is found by the function itself.
    fn wait(&self, ending: &Ending) -> Option<Micros> {
        let How::Later { delay, counted } = ending.how else { return None };
        let consumers = self.consumers();
        let policy = consumers.iter().find(|consumer| consumer.id == ending.consumer).map(|c| &c.retry);
        let rung = policy.map(|policy| retry::delay(policy, ending.attempts, None, 0));
        (!counted || rung != Some(delay)).then_some(delay)
    }

    fn consumers(&self) -> Vec<Consumer> {
        self.consumers.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

type Answer = Result<Vec<Row>, tokio_postgres::Error>;

fn failed(error: tokio_postgres::Error) -> StoreError {
    StoreError::Failed(super::value::said(&error))
}

/// A lease is a text that nobody but the functions has to read; a test does.
fn taken_apart(text: &str) -> (Lease, Micros) {
    let parts: Vec<&str> = text.split('.').collect();
    let number = |at: usize| parts[at].parse().expect("a number of a lease");
    let hex = |at: usize| u8::from_str_radix(&parts[5][2 * at..2 * at + 2], 16).expect("a token in hex");
    let lease = Lease { seq: number(0), epoch: number(1), store: number(2), token: std::array::from_fn(hex) };
    (lease, number(3))
}

fn put_together(ending: &Ending) -> String {
    let Lease { seq, epoch, store, token } = ending.lease;
    let token: String = token.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{seq}.{epoch}.{store}.{}.0.{token}", ending.attempt.started)
}

/// What a worker sees is what a run of the engine sees.
fn same(row: &Row, event: &EventView, claimed: &Claimed) {
    let text = |at: usize| row.get::<_, Option<String>>(at);
    let seen = (text(1), text(2), text(3), text(4), text(5), text(6));
    let event_id = hookonce_core::id::event(event.id);
    let (source, key, kind) = (event.source.clone(), event.key_text.clone(), event.kind.clone());
    let known = (Some(event_id), Some(source), Some(key), Some(kind), event.aggregate.clone(), event.version.clone());
    assert_eq!(seen, known);
    assert_eq!((row.get::<_, i64>(7), row.get::<_, i64>(8)), (claimed.generation, claimed.attempts));
    assert_eq!(row.get::<_, Vec<u8>>(10), event.body);
}

impl Store for Functions {
    fn claim(&self, ask: Ask) -> Verb<'_, Vec<Run>> {
        async move {
            if ask.quiet || ask.tokens.is_empty() || self.worker.special(ask.consumer).await? {
                return self.engine.claim(ask).await;
            }
            self.worker.claim(&self.engine, &ask).await
        }
        .boxed()
    }

    fn settle(&self, endings: Vec<Ending>, next: Option<Ask>) -> Verb<'_, (Vec<Settled>, Vec<Run>)> {
        async move {
            let mut settled = Vec::with_capacity(endings.len());
            for ending in endings {
                match self.worker.settle(self.engine.now(), &ending).await? {
                    Some(one) => settled.push(one),
                    None => settled.extend(self.engine.settle(vec![ending], None).await?.0),
                }
            }
            let runs = match next {
                Some(ask) => self.claim(ask).await?,
                None => Vec::new(),
            };
            Ok((settled, runs))
        }
        .boxed()
    }

    fn configure(&self, consumers: Vec<Consumer>) -> Verb<'_, Routing> {
        async move {
            let routing = self.engine.configure(consumers).await?;
            let known = &mut *self.worker.consumers.lock().unwrap_or_else(PoisonError::into_inner);
            known.retain(|old| routing.consumers.iter().all(|new| new.id != old.id));
            known.extend(routing.consumers.iter().cloned());
            Ok(routing)
        }
        .boxed()
    }

    fn identity(&self) -> Identity {
        self.engine.identity()
    }

    fn now(&self) -> Micros {
        self.engine.now()
    }

    fn admit(&self, submission: Submission) -> Verb<'_, Admission> {
        self.engine.admit(submission)
    }

    fn refused(&self, refusals: Refusals) -> Verb<'_, ()> {
        self.engine.refused(refusals)
    }

    fn rule(&self, source: &str, definition: &str) -> Verb<'_, i64> {
        self.engine.rule(source, definition)
    }

    fn route<'a>(&'a self, routing: &'a Routing) -> Verb<'a, Passed> {
        self.engine.route(routing)
    }

    fn renew(&self, leases: Vec<Lease>, by: Micros) -> Verb<'_, Vec<Lease>> {
        self.engine.renew(leases, by)
    }

    fn release(&self, leases: Vec<Lease>) -> Verb<'_, ()> {
        self.engine.release(leases)
    }

    fn command(&self, what: Command, who: Who) -> Verb<'_, Result<i64, Refused>> {
        self.engine.command(what, who)
    }

    fn sweep(&self) -> Verb<'_, Swept> {
        self.engine.sweep()
    }

    fn purge(&self, retention: Arc<Retention>) -> Verb<'_, Purged> {
        self.engine.purge(retention)
    }

    fn read(&self, query: Query) -> Verb<'_, Page> {
        self.engine.read(query)
    }

    fn ready(&self) -> Verb<'_, ()> {
        self.engine.ready()
    }

    fn next_due(&self, consumer: i64) -> Verb<'_, (Option<Micros>, Micros)> {
        self.engine.next_due(consumer)
    }

    fn close(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        self.engine.close()
    }
}
