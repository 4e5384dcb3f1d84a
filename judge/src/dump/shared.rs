//! Copies of a database that several nodes share, made when all of them are dead: the rows of each table as they are, in
//! files as the embedded store has them. One reader and one checker serve both, and the scene is kept.

use std::path::Path;

use anyhow::{Context, Result, bail};
use rusqlite::Connection;
use rusqlite::types::Value;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use super::Copied;
use crate::rig::database::client;

const INBOX: [&str; 7] = ["event", "ledger", "conflict", "payload", "unmapped", "log", "setting"];
const WORK: [&str; 9] = ["pass", "consumer", "delivery", "work", "halted", "hold", "requeue", "attempt", "lane_check"];
const SETTING: &str = "setting";

/// What is written last: the number that was given out last, as the embedded store keeps it.
const COUNTER: &str = "select last_value from hookonce.number";

/// Copies the tables of the database at `url` into files in `into`, which is emptied first.
pub fn take(url: &str, into: &Path) -> Result<Copied> {
    if into.exists() {
        std::fs::remove_dir_all(into)?;
    }
    std::fs::create_dir_all(into)?;
    let copied = Copied { inbox: into.join("hookonce.inbox.db"), work: into.join("hookonce.db") };
    tokio::runtime::Handle::current().block_on(tables(url, &copied))?;
    Ok(copied)
}

async fn tables(url: &str, into: &Copied) -> Result<()> {
    let db = client(url).await?;
    // All tables as they were at one moment.
    db.batch_execute("begin isolation level repeatable read read only").await?;
    let (inbox, work) = (Connection::open(&into.inbox)?, Connection::open(&into.work)?);
    for (file, names) in [(&inbox, &INBOX[..]), (&work, &WORK[..]), (&work, &[SETTING][..])] {
        for name in names {
            table(&db, file, name).await.with_context(|| format!("cannot copy `{name}`"))?;
        }
    }
    let counter: i64 = db.query_one(COUNTER, &[]).await?.get(0);
    inbox.execute("insert into hookonce_setting values ('event_counter', ?1)", [counter])?;
    Ok(())
}

async fn table(db: &Client, file: &Connection, name: &str) -> Result<()> {
    let asked = db.prepare(&format!("select * from hookonce.{name}")).await?;
    let columns: Vec<&str> = asked.columns().iter().map(|c| c.name()).collect();
    let quoted = columns.iter().map(|c| format!("\"{c}\"")).collect::<Vec<_>>().join(", ");
    file.execute(&format!("create table hookonce_{name} ({quoted})"), [])?;
    let marks = vec!["?"; columns.len()].join(", ");
    file.execute("begin", [])?;
    let mut insert = file.prepare(&format!("insert into hookonce_{name} values ({marks})"))?;
    for row in db.query(&asked, &[]).await? {
        let values = (0..columns.len()).map(|at| value(&row, at)).collect::<Result<Vec<_>>>()?;
        insert.execute(rusqlite::params_from_iter(values))?;
    }
    file.execute("commit", [])?;
    Ok(())
}

fn value(row: &Row, at: usize) -> Result<Value> {
    let value = match *row.columns()[at].type_() {
        Type::INT8 => row.try_get::<_, Option<i64>>(at)?.map(Value::Integer),
        Type::BOOL => row.try_get::<_, Option<bool>>(at)?.map(|b| Value::Integer(b.into())),
        Type::TEXT => row.try_get::<_, Option<String>>(at)?.map(Value::Text),
        Type::BYTEA => row.try_get::<_, Option<Vec<u8>>>(at)?.map(Value::Blob),
        ref other => bail!("a column of the type `{other}`, which no table of ours has"),
    };
    Ok(value.unwrap_or(Value::Null))
}
