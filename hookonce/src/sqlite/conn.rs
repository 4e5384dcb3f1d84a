//! A connection of the engine's own, and the remedy for each of the driver's errors. The one place that runs SQL.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode};

use crate::sql::call::{Arg, Call, Row, Stmt, Tap, Value};
use crate::sql::sqlite::{BEGIN, BEGIN_READ, COMMIT, ROLLBACK};
use crate::store::StoreError;

/// Prepared statements kept by a connection: more than there are statement files.
const PREPARED: usize = 160;

pub struct Conn {
    db: Connection,
    tap: Option<Arc<dyn Tap>>,
}

impl fmt::Debug for Conn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conn").finish_non_exhaustive()
    }
}

impl Conn {
    pub fn new(db: Connection, tap: Option<Arc<dyn Tap>>) -> Conn {
        db.set_prepared_statement_cache_capacity(PREPARED);
        Conn { db, tap }
    }

    /// Runs the calls in order and gives each one's rows. None may need another's answer.
    pub fn run(&self, calls: &[Call<'_>]) -> Result<Vec<Vec<Row>>, StoreError> {
        calls.iter().map(|call| self.rows(call.stmt, call.args)).collect()
    }

    /// One call with an answer.
    pub fn rows(&self, stmt: &'static Stmt, args: &[Arg<'_>]) -> Result<Vec<Row>, StoreError> {
        self.watched(stmt, || {
            let mut statement = self.db.prepare_cached(stmt.text)?;
            bind(&mut statement, args)?;
            let width = statement.column_count();
            let mut found = statement.raw_query();
            let mut rows = Vec::new();
            while let Some(row) = found.next()? {
                rows.push(Row((0..width).map(|at| row.get_ref(at).map(owned)).collect::<Result<_, _>>()?));
            }
            Ok(rows)
        })
    }

    /// The first row of an answer.
    pub fn row(&self, stmt: &'static Stmt, args: &[Arg<'_>]) -> Result<Option<Row>, StoreError> {
        Ok(self.rows(stmt, args)?.into_iter().next())
    }

    /// One call without an answer: how many rows it changed.
    pub fn exec(&self, stmt: &'static Stmt, args: &[Arg<'_>]) -> Result<usize, StoreError> {
        self.watched(stmt, || {
            let mut statement = self.db.prepare_cached(stmt.text)?;
            bind(&mut statement, args)?;
            statement.raw_execute()
        })
    }

    /// The same call for every row, prepared once.
    pub fn each<'a, const N: usize>(
        &self,
        stmt: &'static Stmt,
        rows: impl IntoIterator<Item = [Arg<'a>; N]>,
    ) -> Result<(), StoreError> {
        let mut statement = self.db.prepare_cached(stmt.text).map_err(remedy)?;
        rows.into_iter().try_for_each(|args| {
            let run = || {
                statement.clear_bindings();
                bind(&mut statement, &args)?;
                statement.raw_execute()
            };
            self.watched(stmt, run).map(drop)
        })
    }

    fn watched<T>(&self, stmt: &'static Stmt, run: impl FnOnce() -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let Some(tap) = &self.tap else { return run().map_err(remedy) };
        tap.before(stmt.name)?;
        let answer = run().map_err(remedy)?;
        tap.after(stmt.name)?;
        Ok(answer)
    }

    /// Waits for the write lock as long as this.
    pub fn begin(&self, wait: Duration) -> Result<(), StoreError> {
        self.db.busy_timeout(wait).map_err(remedy)?;
        // One whose answer was lost may have begun all the same: the next try would find itself inside it.
        self.exec(BEGIN, &[]).map(drop).inspect_err(|_| self.rollback())
    }

    pub fn commit(&self) -> Result<(), StoreError> {
        self.exec(COMMIT, &[]).map(drop)
    }

    /// Many reads of one state of the file: each by itself would lock it and look for the end of its log.
    pub fn reading<T>(&self, read: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
        let read = self.exec(BEGIN_READ, &[]).and_then(|_| read());
        self.rollback();
        read
    }

    /// Ends what is still open. Its own failure changes nothing: whatever was written is gone with the connection.
    pub fn rollback(&self) {
        if !self.db.is_autocommit() && self.exec(ROLLBACK, &[]).is_err() {
            tracing::error!("a rollback failed; the next begin will say why");
        }
    }

    /// For settings, checkpoints and hooks, which are no statements of a verb.
    pub fn driver(&self) -> &Connection {
        &self.db
    }
}

/// What is not bound is null, and a statement comes from the cache with nothing bound.
fn bind(statement: &mut rusqlite::Statement<'_>, args: &[Arg<'_>]) -> rusqlite::Result<()> {
    let said = args.iter().enumerate().filter(|(_, arg)| **arg != Arg::Null);
    said.into_iter().try_for_each(|(at, arg)| statement.raw_bind_parameter(at + 1, arg))
}

impl ToSql for Arg<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Arg::Null => ValueRef::Null,
            Arg::Int(n) => ValueRef::Integer(*n),
            Arg::Text(text) => ValueRef::Text(text.as_bytes()),
            Arg::Blob(bytes) => ValueRef::Blob(bytes),
            _ => return Err(rusqlite::Error::ToSqlConversionFailure("a column is no value of SQLite".into())),
        }))
    }
}

fn owned(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null | ValueRef::Real(_) => Value::Null,
        ValueRef::Integer(n) => Value::Int(n),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
    }
}

/// What a driver's error asks for. A full disk is ours to wait out; what a value brings about is that value's; all that
/// is left says that the file or our SQL is not what it should be, and then no 2xx may leave any more (trap T4).
pub fn remedy(error: rusqlite::Error) -> StoreError {
    let text = error.to_string();
    match error.sqlite_error_code() {
        Some(
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::DiskFull
            | ErrorCode::OutOfMemory
            | ErrorCode::OperationInterrupted,
        ) => StoreError::Busy(text),
        Some(
            ErrorCode::TooBig
            | ErrorCode::ConstraintViolation
            | ErrorCode::TypeMismatch
            | ErrorCode::ParameterOutOfRange,
        ) => StoreError::Refused(text),
        _ => StoreError::Failed(text),
    }
}
