//! A copy of a database's store: every table of our schema, by `COPY` in its binary form, in one snapshot.
//!
//! Not `pg_dump`: it must be of the server's version and on this machine, and what it writes could not be tested, nor
//! begun again as a new generation in one transaction.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use futures_util::TryStreamExt as _;
use hookonce_core::kill_point;
use tokio_postgres::Client;

use super::error::OpenError;
use super::{Options, migrate, open};
use crate::backup::{BackupError, Folder, Manifest, Part, Progress, at};

pub const KIND: &str = "postgres";
/// What a file of a table ends with.
pub const ENDING: &str = ".copy";

/// A table, and what stands in it.
#[derive(Clone, Debug)]
struct Table {
    name: String,
    columns: Vec<String>,
    /// About so many bytes.
    size: i64,
}

/// Takes a backup of the store in that database into the folder `to`, which must not be there.
pub async fn backup(url: &str, to: &Path, progress: Progress<'_>) -> Result<Manifest, BackupError> {
    let options = Options::default();
    let db = open::primary(&open::link(url, &options)?).await?;
    let schema = migrate::version(&db).await?;
    if schema == 0 {
        return Err(BackupError::NoStore("that database".to_owned()));
    }
    db.batch_execute("begin isolation level repeatable read, read only").await.map_err(OpenError::from)?;
    let mut manifest = Manifest { schema, ..head(&db).await? };
    let folder = Folder::begin(to)?;
    let tables = tables(&db).await?;
    let (mut done, all) = (0, tables.iter().map(|table| table.size).sum());
    for table in tables {
        manifest.files.push(copy(&db, &table, &folder.path).await?);
        kill_point!("backup_step");
        done += table.size;
        progress(positive(done), positive(all));
    }
    manifest.write(&folder.path)?;
    folder.end()?;
    Ok(manifest)
}

fn positive(n: i64) -> u64 {
    u64::try_from(n).unwrap_or(0)
}

async fn head(db: &Client) -> Result<Manifest, OpenError> {
    let asked = "select hookonce.now_us(), (select count(*) from hookonce.event),
        (select convert_from(value, 'UTF8') from hookonce.setting where name = 'store_id'),
        coalesce((select convert_from(value, 'UTF8')::bigint from hookonce.setting where name = 'generation'), 0)";
    let row = db.query_one(asked, &[]).await?;
    let store: Option<String> = row.try_get(2)?;
    let manifest = Manifest::new(KIND, store.unwrap_or_default(), row.try_get(3)?, row.try_get(0)?);
    Ok(Manifest { events: row.try_get(1)?, ..manifest })
}

/// Partitions are read through the table that they are of.
async fn tables(db: &Client) -> Result<Vec<Table>, OpenError> {
    let asked = "select c.relname::text, array_agg(a.attname::text order by a.attnum), pg_total_relation_size(c.oid)
        from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        where c.relnamespace = 'hookonce'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        group by c.oid, c.relname order by c.relname";
    let rows = db.query(asked, &[]).await?;
    let table = |row: tokio_postgres::Row| -> Result<Table, OpenError> {
        Ok(Table { name: row.try_get(0)?, columns: row.try_get(1)?, size: row.try_get(2)? })
    };
    rows.into_iter().map(table).collect()
}

async fn copy(db: &Client, table: &Table, folder: &Path) -> Result<Part, BackupError> {
    let name = format!("{}{ENDING}", table.name);
    let path = folder.join(&name);
    let mut file = File::create(&path).map_err(at(&path))?;
    let columns = quoted(&table.columns);
    let asked = format!("copy (select {columns} from hookonce.\"{}\") to stdout (format binary)", table.name);
    let out = db.copy_out(&asked).await.map_err(OpenError::from)?;
    let mut out = std::pin::pin!(out);
    while let Some(bytes) = out.try_next().await.map_err(OpenError::from)? {
        file.write_all(&bytes).map_err(at(&path))?;
    }
    file.sync_all().map_err(at(&path))?;
    Ok(Part { columns: table.columns.clone(), ..Part::of(folder, &name)? })
}

/// Names of the catalogue, as SQL reads them.
pub fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}
