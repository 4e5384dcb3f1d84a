//! The database that a store moves into: nobody works on it until the move is finished.

use std::time::Duration;

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use tokio::runtime::Runtime;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error};

use super::backup::quoted;
use super::error::OpenError;
use super::restore::sequences;
use super::{Options, migrate, open, value};
use crate::backup::BackupError;
use crate::sql::call::{Arg, Row, Value};
use crate::sql::postgres as sql;

/// The setting that says whose move is not finished.
pub const MOVING: &str = "moving";

/// Where the rows of a table go.
#[derive(Clone, Debug)]
pub struct Columns {
    pub names: Vec<String>,
    types: Vec<Type>,
}

/// What the database begins with that is no row of a table.
#[derive(Clone, Debug)]
pub struct Beginning {
    /// Name and value.
    pub settings: Vec<(&'static str, String)>,
    /// Numbers go on behind this one.
    pub numbers: i64,
}

#[derive(Debug)]
pub struct Target {
    runtime: Runtime,
    db: Client,
}

impl Target {
    /// A database without a store, or the one that the same move has begun.
    pub fn open(runtime: Runtime, url: &str, store: &str) -> Result<Target, BackupError> {
        let db = runtime.block_on(begun(url, store))?;
        Ok(Target { runtime, db })
    }

    fn run(&self, sql: &str) -> Result<(), BackupError> {
        Ok(self.runtime.block_on(self.db.batch_execute(sql)).map_err(OpenError::from)?)
    }

    /// Lets so much time go by.
    pub fn pause(&self, time: Duration) {
        self.runtime.block_on(tokio::time::sleep(time));
    }

    /// Those that both have, of a table that is there.
    pub fn columns(&self, table: &str, theirs: &[String]) -> Result<Columns, BackupError> {
        let asked = format!("select * from hookonce.\"{table}\"");
        let statement = self.runtime.block_on(self.db.prepare(&asked)).map_err(OpenError::from)?;
        let both = statement.columns().iter().filter(|column| theirs.iter().any(|name| name == column.name()));
        let (names, types) = both.map(|column| (column.name().to_owned(), column.type_().clone())).unzip();
        Ok(Columns { names, types })
    }

    /// The last number of a table that only grows.
    pub fn last(&self, table: &str) -> Result<i64, BackupError> {
        let asked = format!("select coalesce(max(id), 0) from hookonce.\"{table}\"");
        let row = self.runtime.block_on(self.db.query_one(&asked, &[])).map_err(OpenError::from)?;
        Ok(row.try_get(0).map_err(OpenError::from)?)
    }

    /// Begins to write the table anew.
    pub fn replace(&self, table: &str) -> Result<(), BackupError> {
        self.run(&format!("begin; delete from hookonce.\"{table}\""))
    }

    pub fn begin(&self) -> Result<(), BackupError> {
        self.run("begin")
    }

    pub fn commit(&self) -> Result<(), BackupError> {
        self.run("commit")
    }

    pub fn put(&self, table: &str, columns: &Columns, rows: &[Row]) -> Result<(), BackupError> {
        Ok(self.runtime.block_on(put(&self.db, table, columns, rows)).map_err(OpenError::from)?)
    }

    pub fn each(&self, table: &str, columns: &Columns, take: &mut dyn FnMut(&Row)) -> Result<(), BackupError> {
        let asked = format!("select {} from hookonce.\"{table}\"", quoted(&columns.names));
        let read = async {
            let rows = self.db.query_raw(&asked, Vec::<i64>::new()).await?;
            let mut rows = std::pin::pin!(rows);
            while let Some(row) = rows.try_next().await? {
                take(&value::row(&row)?);
            }
            Ok::<_, OpenError>(())
        };
        Ok(self.runtime.block_on(read)?)
    }

    /// In one commit: places in the log for what was routed, arrivals for what was not, and the store is one.
    pub fn finish(&self, beginning: &Beginning) -> Result<(), BackupError> {
        Ok(self.runtime.block_on(finish(&self.db, beginning))?)
    }
}

async fn begun(url: &str, store: &str) -> Result<Client, BackupError> {
    let options = Options::default();
    let db = open::primary(&open::link(url, &options)?).await?;
    open::sound(&db, &options).await?;
    migrate::up(&db).await?;
    let asked = "select name, convert_from(value, 'UTF8') from hookonce.setting where name in ('store_id', 'moving')";
    for row in db.query(asked, &[]).await.map_err(OpenError::from)? {
        let (name, value): (String, String) = (get(&row, 0)?, get(&row, 1)?);
        match name.as_str() {
            MOVING if value == store => {}
            _ => return Err(BackupError::InUse(value)),
        }
    }
    db.execute(sql::SETTING_PUT.text, &[&MOVING, &store.as_bytes()]).await.map_err(OpenError::from)?;
    Ok(db)
}

fn get(row: &tokio_postgres::Row, at: usize) -> Result<String, OpenError> {
    Ok(row.try_get(at)?)
}

async fn put(db: &Client, table: &str, columns: &Columns, rows: &[Row]) -> Result<(), Error> {
    let asked = format!("copy hookonce.\"{table}\" ({}) from stdin (format binary)", quoted(&columns.names));
    let sink = db.copy_in::<_, Bytes>(&asked).await?;
    let mut writer = std::pin::pin!(BinaryCopyInWriter::new(sink, &columns.types));
    for row in rows {
        let args: Vec<Arg<'_>> = row.0.iter().map(arg).collect();
        let args: Vec<&(dyn ToSql + Sync)> = args.iter().map(|arg| arg as _).collect();
        writer.as_mut().write(&args).await?;
    }
    writer.finish().await.map(drop)
}

fn arg(value: &Value) -> Arg<'_> {
    match value {
        Value::Null => Arg::Null,
        Value::Int(n) => Arg::Int(*n),
        Value::Text(text) => Arg::Text(text),
        Value::Blob(bytes) => Arg::Blob(bytes),
    }
}

/// An event's number is its place: the files had no other.
const PLACES: &str = "begin;
    delete from hookonce.log; delete from hookonce.arrival;
    insert into hookonce.log (pos, event) select id, id from hookonce.event
      where id <= (select coalesce(max(pos), 0) from hookonce.pass where own is null);
    insert into hookonce.arrival (event) select id from hookonce.event
      where id > (select coalesce(max(pos), 0) from hookonce.pass where own is null)";

async fn finish(db: &Client, beginning: &Beginning) -> Result<(), OpenError> {
    db.batch_execute(PLACES).await?;
    sequences(db).await?;
    db.execute("select setval('hookonce.number', $1)", &[&beginning.numbers]).await?;
    let now: i64 = db.query_one("select hookonce.now_us()", &[]).await?.try_get(0)?;
    db.execute(sql::RESTORE_LEASES.text, &[&now]).await?;
    for (name, value) in &beginning.settings {
        db.execute(sql::SETTING_PUT.text, &[name, &value.as_bytes()]).await?;
    }
    db.execute("delete from hookonce.setting where name = $1", &[&MOVING]).await?;
    Ok(db.batch_execute("commit").await?)
}
