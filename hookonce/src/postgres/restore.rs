//! A backup brought back into a database that nobody works on: one transaction, so that it is there or not.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use bytes::Bytes;
use futures_util::SinkExt as _;
use hookonce_core::kill_point;
use hookonce_core::time::{Micros, SECOND};
use tokio_postgres::Client;

use super::backup::{ENDING, KIND, quoted};
use super::error::OpenError;
use super::{Options, migrate, open};
use crate::backup::{AGAIN, Again, BackupError, Manifest, Order, Part, Restored, at};
use crate::sql::postgres as sql;

/// A node that was heard of so lately may live.
const SILENCE: Micros = 30 * SECOND;
/// Bytes sent at once.
const CHUNK: usize = 1 << 18;

pub async fn restore(url: &str, order: &Order<'_>) -> Result<Restored, BackupError> {
    let options = Options::default();
    let manifest = Manifest::read(order.from)?.of_kind(KIND, order.from)?;
    if manifest.schema > migrate::VERSIONS.len() {
        let (found, ours) = (manifest.schema, migrate::VERSIONS.len());
        return Err(OpenError::Newer { found, ours }.into());
    }
    let db = open::primary(&open::link(url, &options)?).await?;
    open::sound(&db, &options).await?;
    let there = migrate::version(&db).await? > 0;
    if there && !order.replace {
        return Err(BackupError::Occupied("that database".to_owned()));
    }
    run(&db, "begin").await?;
    let beside = if there { Some(deserted(&db).await?) } else { None };
    let row = db.query_one("select (extract(epoch from clock_timestamp()) * 1000000)::bigint", &[]).await;
    let again = Again::after(&manifest, beside, row.and_then(|row| row.try_get(0)).map_err(OpenError::from)?);
    let replaced = there.then(|| format!("hookonce_replaced_{}", again.to));
    if let Some(name) = &replaced {
        run(&db, &format!("alter schema hookonce rename to {name}")).await?;
    }
    fill(&db, &manifest, order.from).await?;
    begin_again(&db, order, &again).await?;
    kill_point!("restore_built");
    run(&db, "commit").await?;
    kill_point!("restore_renamed");
    migrate::up(&db).await?;
    let replaced = replaced.map(|name| format!("the schema `{name}`"));
    Ok(Restored { manifest, again, replaced })
}

async fn run(db: &Client, sql: &str) -> Result<(), OpenError> {
    Ok(db.batch_execute(sql).await?)
}

/// The generation of a store that nobody works on.
async fn deserted(db: &Client) -> Result<i64, BackupError> {
    let alive = db.query(sql::NODE_ALIVE.text, &[&SILENCE]).await.map_err(OpenError::from)?;
    if !alive.is_empty() {
        let text = format!(
            "{} nodes run on that database\nhint: stop them, wait {} s, try again",
            alive.len(),
            SILENCE / SECOND
        );
        return Err(BackupError::NotNow(text));
    }
    let asked = "select convert_from(value, 'UTF8')::bigint from hookonce.setting where name = 'generation'";
    let row = db.query_opt(asked, &[]).await.map_err(OpenError::from)?;
    Ok(row.map(|row| row.try_get(0)).transpose().map_err(OpenError::from)?.unwrap_or(0))
}

/// The schema of the backup's day, and its rows.
async fn fill(db: &Client, manifest: &Manifest, from: &Path) -> Result<(), BackupError> {
    for text in &migrate::VERSIONS[..manifest.schema] {
        run(db, text).await?;
    }
    for part in &manifest.files {
        rows(db, part, from).await?;
    }
    Ok(sequences(db).await?)
}

async fn rows(db: &Client, part: &Part, from: &Path) -> Result<(), BackupError> {
    let path = from.join(&part.name);
    let table = part.name.trim_end_matches(ENDING);
    run(db, &format!("delete from hookonce.\"{table}\"")).await?;
    let asked = format!("copy hookonce.\"{table}\" ({}) from stdin (format binary)", quoted(&part.columns));
    let sink = db.copy_in::<_, Bytes>(&asked).await.map_err(OpenError::from)?;
    let mut sink = std::pin::pin!(sink);
    let mut file = File::open(&path).map_err(at(&path))?;
    loop {
        let mut chunk = vec![0; CHUNK];
        match file.read(&mut chunk).map_err(at(&path))? {
            0 => break,
            n => chunk.truncate(n),
        }
        sink.send(chunk.into()).await.map_err(OpenError::from)?;
    }
    sink.as_mut().finish().await.map(drop).map_err(OpenError::from).map_err(Into::into)
}

/// What numbers its rows by itself goes on behind the last one.
pub async fn sequences(db: &Client) -> Result<(), OpenError> {
    let asked = "select c.relname::text, a.attname::text from pg_class c join pg_attribute a on a.attrelid = c.oid
        where c.relnamespace = 'hookonce'::regnamespace and c.relkind in ('r', 'p') and a.attidentity <> ''";
    for row in db.query(asked, &[]).await? {
        let (table, column): (String, String) = (row.try_get(0)?, row.try_get(1)?);
        let behind = format!(
            "select setval(pg_get_serial_sequence('hookonce.{table}', '{column}'), max({column})) from hookonce.{table}
             having max({column}) is not null"
        );
        run(db, &behind).await?;
    }
    Ok(())
}

/// Numbers, leases and the floor.
async fn begin_again(db: &Client, order: &Order<'_>, again: &Again) -> Result<(), OpenError> {
    db.execute("select setval('hookonce.number', $1)", &[&again.numbers()]).await?;
    db.execute(sql::RESTORE_FLOORS.text, &[&again.to, &order.namespaces]).await?;
    db.execute(sql::RESTORE_LEASES.text, &[&again.to]).await?;
    for (name, value) in [("generation", again.generation.to_string()), (AGAIN, again.text())] {
        db.execute(sql::SETTING_PUT.text, &[&name, &value.into_bytes()]).await?;
    }
    // Which history of which database this is, is looked at when it is opened.
    run(db, "delete from hookonce.setting where name in ('timeline', 'acks')").await?;
    // Whoever worked on it when it was copied has gone.
    run(db, "update hookonce.node set ended = seen where ended is null").await
}
