//! Connections of the engine's own: the one place that runs SQL. A flight is sent as a whole and answered as a whole.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use deadpool::managed::{self, Metrics, RecycleError, RecycleResult};
use futures_util::future::join_all;
#[cfg(feature = "testkit")]
use tokio_postgres::SimpleQueryMessage;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{AsyncMessage, Client, Notification};

use super::link::Link;
use super::listen::Ear;
use super::ready::{Lending, Ready};
use super::timeline::Timeline;
use super::value;
use crate::clock::Clock;
use crate::sql::call::{Arg, Call, Row, Stmt, Tap};
use crate::sql::postgres::{BEGIN, COMMIT, LENT_LIMITS, ROLLBACK};
use crate::store::StoreError;

/// Serialization failures and deadlocks are the verb's own business that often.
const TRIES: usize = 8;

/// A connection. Clones are the same one.
#[derive(Clone)]
pub struct Conn(Arc<Inner>);

struct Inner {
    client: Client,
    /// By their texts: a name may stand for another text in a test.
    prepared: Mutex<HashMap<&'static str, Ready>>,
    lending: Option<Arc<Lending>>,
    state: Arc<State>,
    tap: Option<Arc<dyn Tap>>,
    clock: Option<Arc<dyn Clock>>,
    limit: Duration,
    instead: &'static [Stmt],
}

/// What is known of a connection beside its answers.
#[derive(Debug, Default)]
struct State {
    /// The server warned of something: behind a commit, that it may not be where it should be.
    warned: AtomicBool,
    /// What the transaction failed by, where the database said it.
    failed: Mutex<Option<SqlState>>,
    /// A transaction begins with the next flight.
    begins: AtomicBool,
    /// A transaction is open, as far as we know.
    open: AtomicBool,
    /// What it wrote is not to stay, although it failed in nothing.
    nothing: AtomicBool,
    /// Not to be used again.
    spoilt: AtomicBool,
}

impl fmt::Debug for Conn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conn").field("state", &self.0.state).finish_non_exhaustive()
    }
}

/// What one call came to.
type Answer = Result<Vec<Row>, StoreError>;

/// What a transaction came to.
#[derive(Debug)]
pub enum Ended<T> {
    Committed(T),
    /// Nothing of it is there.
    RolledBack(StoreError),
    /// The commit was asked for and its answer is no clear one: it may be there, and it may still come.
    Unknown(T, StoreError),
}

impl Conn {
    /// Runs the calls in order in one flight and gives each one's rows. None may need another's answer. Behind the first
    /// that fails the others fail too, if a transaction is open.
    pub async fn run(&self, calls: &[Call<'_>]) -> Result<Vec<Vec<Row>>, StoreError> {
        let (ready, stopped) = self.tapped(calls);
        let mut begun = Vec::with_capacity(ready.len() + 1);
        let begins = self.0.state.begins.swap(false, Relaxed);
        let limits = self.limits();
        if begins {
            self.before(BEGIN)?;
            begun.push(Call::new(BEGIN, &[]));
            begun.extend(limits.as_ref().map(|limits| Call::new(LENT_LIMITS, limits)));
            self.0.state.open.store(true, Relaxed);
        }
        begun.extend_from_slice(ready);
        let answers = self.flight(&begun).await?;
        let mut answers = answers.into_iter().collect::<Result<Vec<_>, _>>()?;
        if begins {
            answers.drain(..answers.len() - ready.len());
            self.after(BEGIN)?;
        }
        ready.iter().try_for_each(|call| self.after(call.stmt))?;
        stopped.map_or(Ok(answers), Err)
    }

    /// One call with an answer.
    pub async fn rows(&self, stmt: &'static Stmt, args: &[Arg<'_>]) -> Result<Vec<Row>, StoreError> {
        Ok(self.run(&[Call::new(stmt, args)]).await?.pop().unwrap_or_default())
    }

    /// The first row of an answer.
    pub async fn row(&self, stmt: &'static Stmt, args: &[Arg<'_>]) -> Result<Option<Row>, StoreError> {
        Ok(self.rows(stmt, args).await?.into_iter().next())
    }

    /// One call without an answer: how many rows it changed.
    pub async fn exec(&self, stmt: &'static Stmt, args: &[Arg<'_>]) -> Result<u64, StoreError> {
        if self.0.state.begins.load(Relaxed) {
            self.run(&[]).await?;
        }
        self.before(stmt)?;
        self.clock(&[Call::new(stmt, args)]).await?;
        let statement = self.prepared(stmt).await?;
        value::fit(args, statement.params())?;
        let changed = self.in_time(self.executed(&statement, args)).await?;
        let changed = changed.map_err(|error| self.judge(&error))?;
        self.after(stmt)?;
        Ok(changed)
    }

    async fn executed(&self, ready: &Ready, args: &[Arg<'_>]) -> Result<u64, tokio_postgres::Error> {
        match ready {
            Ready::Prepared(statement) => self.0.client.execute_raw(statement, args).await,
            Ready::Sent(text, types) => self.0.client.execute_typed(text, &typed(args, types)).await,
        }
    }

    /// What a lent session is told with each transaction.
    fn limits(&self) -> Option<[Arg<'_>; 3]> {
        self.0.lending.as_ref().map(|lending| lending.limits.each_ref().map(|limit| Arg::Text(limit)))
    }

    /// What this transaction has written so far must not stay, and what it answers is the answer all the same.
    pub fn leave_nothing(&self) {
        self.0.state.nothing.store(true, Relaxed);
    }

    /// Runs a transaction to its end.
    pub async fn transaction<T, Fut>(&self, run: impl FnOnce(Conn) -> Fut) -> Ended<T>
    where
        Fut: Future<Output = Result<T, StoreError>>,
    {
        self.begin();
        match run(self.clone()).await {
            Ok(value) if self.0.state.nothing.swap(false, Relaxed) => {
                self.rollback().await;
                Ended::Committed(value)
            }
            Ok(value) if self.0.state.begins.swap(false, Relaxed) => Ended::Committed(value),
            Ok(value) => self.finish(&[], value).await,
            Err(error) => self.abandon(error).await,
        }
    }

    /// A transaction begins with the next flight.
    pub fn begin(&self) {
        *self.failed() = None;
        self.0.state.nothing.store(false, Relaxed);
        self.0.state.begins.store(true, Relaxed);
    }

    pub async fn abandon<T>(&self, error: StoreError) -> Ended<T> {
        self.rollback().await;
        Ended::RolledBack(error)
    }

    /// Runs the last calls and commits, in one flight. Behind a call that the database refused the commit is a rollback;
    /// behind an answer that never came, and behind whatever the commit itself says, everything is possible.
    pub async fn finish<T>(&self, calls: &[Call<'_>], value: T) -> Ended<T> {
        let calls = [calls, &[Call::new(COMMIT, &[])]].concat();
        let (ready, stopped) = self.tapped(&calls);
        self.0.state.warned.store(false, Relaxed);
        let answers = match self.flight(ready).await {
            Ok(answers) => answers,
            Err(error) => return self.abandon(error).await,
        };
        let refused = answers[..answers.len().min(calls.len() - 1)].iter().any(Result::is_err);
        let answered = answers.into_iter().try_for_each(|answer| answer.map(drop));
        let told = answered.and_then(|()| ready.iter().try_for_each(|call| self.after(call.stmt)));
        match (told, stopped) {
            (Err(error), _) if refused && self.failed().is_some() => self.abandon(error).await,
            (Err(error), None) => self.doubt(value, error).await,
            (Err(error), Some(_)) | (Ok(()), Some(error)) => self.abandon(error).await,
            (Ok(()), None) if self.0.state.warned.load(Relaxed) => {
                let why = "the server does not say that a standby has the commit";
                self.doubt(value, StoreError::Busy(why.into())).await
            }
            (Ok(()), None) => {
                self.0.state.open.store(false, Relaxed);
                Ended::Committed(value)
            }
        }
    }

    async fn doubt<T>(&self, value: T, error: StoreError) -> Ended<T> {
        self.rollback().await;
        Ended::Unknown(value, error)
    }

    /// Ends what is still open; a connection on which that fails is closed, and the server ends it.
    async fn rollback(&self) {
        let unbegun = self.0.state.begins.swap(false, Relaxed);
        if unbegun || !self.0.state.open.load(Relaxed) || self.0.state.spoilt.load(Relaxed) {
            return;
        }
        match self.rows(ROLLBACK, &[]).await {
            Ok(_) => self.0.state.open.store(false, Relaxed),
            Err(_) => self.0.state.spoilt.store(true, Relaxed),
        }
    }

    /// The first look at what history this is.
    pub async fn look(&self, timeline: &Timeline) -> Result<(), StoreError> {
        timeline.open(&self.0.client).await.map_err(|error| value::remedy(&error))
    }

    /// What is no statement of ours: a test's user, who ends his transactions himself.
    #[cfg(feature = "testkit")]
    pub async fn batch(&self, sql: &str) -> Result<(), StoreError> {
        self.0.client.batch_execute(sql).await.map_err(|error| self.judge(&error))
    }

    /// The plan that this session has for a statement, whatever its arguments.
    #[cfg(feature = "testkit")]
    pub async fn plan(&self, stmt: &'static Stmt) -> Result<String, StoreError> {
        let statement = self.prepared(stmt).await?;
        let nothing: Vec<String> = statement.params().iter().map(|ty| format!("null::{ty}")).collect();
        let args = if nothing.is_empty() { String::new() } else { format!("({})", nothing.join(", ")) };
        let asked =
            format!("prepare planned as {}; explain (costs off) execute planned{args}; deallocate planned", stmt.text);
        let found = self.0.client.simple_query(&asked).await.map_err(|error| self.judge(&error))?;
        let line = |message: &SimpleQueryMessage| match message {
            SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        };
        Ok(found.iter().filter_map(line).collect::<Vec<_>>().join("\n"))
    }

    /// Whether it failed by a conflict of transactions: nobody's fault, and the same again may pass.
    pub fn conflicted(&self) -> bool {
        let conflicts = [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED];
        self.failed().as_ref().is_some_and(|state| conflicts.contains(state))
    }

    /// Whether it failed by something that it waited for.
    pub fn blocked(&self) -> bool {
        let waits = [SqlState::LOCK_NOT_AVAILABLE, SqlState::QUERY_CANCELED];
        self.failed().as_ref().is_some_and(|state| waits.contains(state))
    }

    /// A conflict that was met without an error of the database.
    pub fn conflict(&self, why: &str) -> StoreError {
        *self.failed() = Some(SqlState::T_R_SERIALIZATION_FAILURE);
        StoreError::Busy(why.to_owned())
    }

    fn failed(&self) -> MutexGuard<'_, Option<SqlState>> {
        self.0.state.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Never used again: nothing is known of what stands on it.
    pub fn spoil(&self) {
        self.0.state.spoilt.store(true, Relaxed);
    }

    fn usable(&self) -> bool {
        let state = &self.0.state;
        !self.0.client.is_closed() && !state.spoilt.load(Relaxed) && !state.open.load(Relaxed)
    }

    /// As many of the calls as the tap lets pass, and what it says of the next one.
    fn tapped<'c, 'a>(&self, calls: &'c [Call<'a>]) -> (&'c [Call<'a>], Option<StoreError>) {
        for (at, call) in calls.iter().enumerate() {
            if let Err(error) = self.before(call.stmt) {
                return (&calls[..at], Some(error));
            }
        }
        (calls, None)
    }

    fn before(&self, stmt: &Stmt) -> Result<(), StoreError> {
        self.0.tap.as_ref().map_or(Ok(()), |tap| tap.before(stmt.name))
    }

    fn after(&self, stmt: &Stmt) -> Result<(), StoreError> {
        self.0.tap.as_ref().map_or(Ok(()), |tap| tap.after(stmt.name))
    }

    /// Sends all, then waits for each answer: behind a call that failed a commit succeeds, and is a rollback. An error of
    /// the whole says that nothing was sent.
    async fn flight(&self, calls: &[Call<'_>]) -> Result<Vec<Answer>, StoreError> {
        let mut statements = Vec::with_capacity(calls.len());
        for call in calls {
            let statement = self.prepared(call.stmt).await?;
            value::fit(call.args, statement.params())?;
            statements.push(statement);
        }
        self.clock(calls).await?;
        let asked = calls.iter().zip(&statements).map(|(call, statement)| self.query(statement, call.args));
        Ok(self.in_time(join_all(asked)).await.unwrap_or_else(|error| vec![Err(error)]))
    }

    /// Somebody between us and the server may swallow an answer for ever. The connection is given up with it.
    async fn in_time<T>(&self, answer: impl Future<Output = T>) -> Result<T, StoreError> {
        tokio::time::timeout(self.0.limit, answer).await.map_err(|_| {
            self.spoil();
            StoreError::Busy("the database does not answer".into())
        })
    }

    async fn query(&self, ready: &Ready, args: &[Arg<'_>]) -> Answer {
        let rows = match ready {
            Ready::Prepared(statement) => {
                let args: Vec<&(dyn ToSql + Sync)> = args.iter().map(|arg| arg as _).collect();
                self.0.client.query(statement, &args).await
            }
            Ready::Sent(text, types) => self.0.client.query_typed(text, &typed(args, types)).await,
        };
        let rows = rows.map_err(|error| self.judge(&error))?;
        rows.iter().map(value::row).collect()
    }

    async fn prepared(&self, stmt: &'static Stmt) -> Result<Ready, StoreError> {
        let stmt = self.0.instead.iter().find(|other| other.name == stmt.name).unwrap_or(stmt);
        let known = self.known().get(stmt.text).cloned();
        if let Some(statement) = known {
            return Ok(statement);
        }
        let made = async {
            match &self.0.lending {
                Some(lending) => lending.ready(&self.0.client, stmt.text).await,
                None => self.0.client.prepare(stmt.text).await.map(Ready::Prepared),
            }
        };
        let statement = self.in_time(made).await?.map_err(|error| self.judge(&error))?;
        self.known().insert(stmt.text, statement.clone());
        Ok(statement)
    }

    fn known(&self) -> MutexGuard<'_, HashMap<&'static str, Ready>> {
        self.0.prepared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A test's clock goes along with each flight that could ask for it.
    async fn clock(&self, calls: &[Call<'_>]) -> Result<(), StoreError> {
        let asks = calls.iter().any(|call| ![BEGIN, COMMIT, ROLLBACK].contains(&call.stmt));
        let Some(clock) = self.0.clock.as_ref().filter(|_| asks) else { return Ok(()) };
        let set = format!("set hookonce.now_us = '{}'", clock.now());
        self.0.client.batch_execute(&set).await.map_err(|error| self.judge(&error))
    }

    /// The first error of a transaction is what it failed by; those behind it only say that it has.
    fn judge(&self, error: &tokio_postgres::Error) -> StoreError {
        let mut failed = self.failed();
        if failed.is_none() {
            *failed = error.code().cloned();
        }
        value::remedy(error)
    }
}

fn typed<'a>(args: &'a [Arg<'a>], types: &[Type]) -> Vec<(&'a (dyn ToSql + Sync), Type)> {
    args.iter().zip(types).map(|(arg, ty)| (arg as _, ty.clone())).collect()
}

/// How connections of one kind are made.
pub struct Maker {
    pub link: Link,
    /// Sessions are lent by the transaction.
    pub lending: Option<Arc<Lending>>,
    pub tap: Option<Arc<dyn Tap>>,
    pub clock: Option<Arc<dyn Clock>>,
    /// How long an answer may take to come.
    pub limit: Duration,
    pub timeline: Arc<Timeline>,
    pub instead: &'static [Stmt],
}

impl fmt::Debug for Maker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Maker")
    }
}

impl Maker {
    pub async fn connect(&self) -> Result<Conn, tokio_postgres::Error> {
        let conn = self.with(None).await?;
        self.timeline.check(&conn.0.client).await?;
        Ok(conn)
    }

    /// One that hears what others tell.
    pub async fn hearing(&self, ear: Ear) -> Result<Conn, StoreError> {
        let made = tokio::time::timeout(self.limit, self.with(Some(ear))).await;
        let made = made.map_err(|_| StoreError::Busy("the database does not answer".into()))?;
        made.map_err(|error| unreachable_now(value::remedy(&error)))
    }

    async fn with(&self, ear: Option<Ear>) -> Result<Conn, tokio_postgres::Error> {
        let (client, mut connection) = self.link.connect().await?;
        let state = Arc::new(State::default());
        let seen = state.clone();
        tokio::spawn(async move {
            while let Some(message) = std::future::poll_fn(|cx| connection.poll_message(cx)).await {
                match message {
                    Ok(AsyncMessage::Notice(notice)) if is_warning(&notice) => seen.warned.store(true, Relaxed),
                    Ok(AsyncMessage::Notification(said)) => tell(ear.as_ref(), &said),
                    Ok(_) => {}
                    // Whoever waits for an answer is told.
                    Err(_) => break,
                }
            }
        });
        let (tap, clock, limit, instead) = (self.tap.clone(), self.clock.clone(), self.limit, self.instead);
        let (prepared, lending) = (Mutex::default(), self.lending.clone());
        Ok(Conn(Arc::new(Inner { client, prepared, lending, state, tap, clock, limit, instead })))
    }
}

/// A hint may be lost.
fn tell(ear: Option<&Ear>, said: &Notification) {
    if let Some(ear) = ear {
        let _ = ear.try_send((said.process_id().into(), said.payload().to_owned()));
    }
}

fn is_warning(notice: &tokio_postgres::error::DbError) -> bool {
    notice.parsed_severity() == Some(tokio_postgres::error::Severity::Warning)
}

impl managed::Manager for Maker {
    type Type = Conn;
    type Error = tokio_postgres::Error;

    async fn create(&self) -> Result<Conn, tokio_postgres::Error> {
        self.connect().await
    }

    async fn recycle(&self, conn: &mut Conn, _: &Metrics) -> RecycleResult<tokio_postgres::Error> {
        if conn.usable() { Ok(()) } else { Err(RecycleError::message("it is not what it was")) }
    }
}

/// Connections of one kind, at most so many.
#[derive(Clone, Debug)]
pub struct Pool(managed::Pool<Maker>);

/// A connection that goes back when it is dropped, if it can be used again: one that cannot is closed at once, so that the
/// server ends what stands on it.
#[derive(Debug)]
pub struct Held(Option<managed::Object<Maker>>);

impl Deref for Held {
    type Target = Conn;
    fn deref(&self) -> &Conn {
        self.0.as_ref().expect("it is given back only when it is dropped")
    }
}

impl Held {
    /// For somebody who ends it himself.
    #[cfg(feature = "testkit")]
    pub fn keep(mut self) -> Conn {
        managed::Object::take(self.0.take().expect("it is given back only when it is dropped"))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(conn) = self.0.take_if(|conn| !conn.usable()) {
            drop(managed::Object::take(conn));
        }
    }
}

impl Pool {
    /// `wait`: how long a connection may take to be had.
    pub fn new(maker: Maker, size: usize, wait: Duration) -> Result<Pool, StoreError> {
        let pool = managed::Pool::builder(maker)
            .max_size(size.max(1))
            .wait_timeout(Some(wait))
            .create_timeout(Some(wait))
            .runtime(deadpool::Runtime::Tokio1)
            .build();
        pool.map(Pool).map_err(|error| StoreError::Failed(error.to_string()))
    }

    pub async fn get(&self) -> Result<Held, StoreError> {
        self.0.get().await.map(|conn| Held(Some(conn))).map_err(|error| match error {
            managed::PoolError::Backend(error) => unreachable_now(value::remedy(&error)),
            managed::PoolError::Closed => StoreError::Closed,
            other => StoreError::Busy(format!("no connection to the database: {other}")),
        })
    }

    /// Begins, runs, commits. Conflicts of transactions are run again. An error of the commit itself leaves open whether
    /// it is there: the verb is safe to repeat.
    pub async fn tx<T, F, Fut>(&self, run: F) -> Result<T, StoreError>
    where
        F: Fn(Conn) -> Fut,
        Fut: Future<Output = Result<T, StoreError>>,
    {
        let mut tries = 0;
        loop {
            let held = self.get().await?;
            let conn: Conn = (*held).clone();
            tries += 1;
            match conn.transaction(&run).await {
                Ended::Committed(value) => return Ok(value),
                Ended::RolledBack(_) if conn.conflicted() && tries < TRIES => {}
                Ended::RolledBack(error) | Ended::Unknown(_, error) => return Err(error),
            }
        }
    }

    /// No more connections are given out.
    pub fn close(&self) {
        self.0.close();
    }
}

/// A database that is not there yet, or not any more, is waited for; only one that is there and wrong has failed.
fn unreachable_now(error: StoreError) -> StoreError {
    match error {
        StoreError::Failed(why) | StoreError::Refused(why) => StoreError::Busy(why),
        other => other,
    }
}
