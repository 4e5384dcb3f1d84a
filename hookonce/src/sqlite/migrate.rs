//! Schema versions: one file a version and a store file, applied in order, each in a transaction with its number.

use rusqlite::fallible_iterator::FallibleIterator as _;
use rusqlite::{Batch, Connection, OptionalExtension as _};

use super::open::OpenError;
use crate::sql::schema;

pub struct Schema {
    /// For messages.
    pub file: &'static str,
    versions: &'static [&'static str],
}

pub const INBOX: Schema = Schema {
    file: "inbox",
    versions: &[
        include_str!("../../migrations/sqlite/0001_inbox.sql"),
        include_str!("../../migrations/sqlite/0002_inbox.sql"),
    ],
};
pub const WORK: Schema = Schema {
    file: "work",
    versions: &[
        include_str!("../../migrations/sqlite/0001_work.sql"),
        include_str!("../../migrations/sqlite/0002_work.sql"),
    ],
};

/// The version that the file has; 0: it is new.
pub fn version(db: &Connection) -> Result<usize, OpenError> {
    let there: bool =
        db.query_row("select exists (select 1 from sqlite_schema where name = 'hookonce_setting')", [], |row| {
            row.get(0)
        })?;
    if !there {
        return Ok(0);
    }
    let text =
        db.query_row("select value from hookonce_setting where name = 'schema'", [], |row| row.get::<_, Vec<u8>>(0));
    let text = text.optional()?.unwrap_or_default();
    Ok(String::from_utf8_lossy(&text).parse().unwrap_or(0))
}

/// What the file of that store has, and what it lacks.
pub fn look(db: &Connection, schema: &Schema) -> Result<schema::Schema, OpenError> {
    Ok(schema::Schema::new(schema.file, version(db)?, schema.versions))
}

/// Brings the file to our version. A file of a later version is not ours to write.
pub fn up(db: &mut Connection, schema: &Schema) -> Result<(), OpenError> {
    let found = version(db)?;
    let ours = schema.versions.len();
    if found > ours {
        return Err(OpenError::Newer { file: schema.file, found, ours });
    }
    for (at, text) in schema.versions.iter().enumerate().skip(found) {
        step(db, text, at + 1)?;
    }
    Ok(())
}

fn step(db: &mut Connection, text: &str, number: usize) -> Result<(), OpenError> {
    let tx = db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let mut batch = Batch::new(&tx, text);
    while let Some(mut statement) = batch.next()? {
        statement.execute([])?;
    }
    tx.execute(
        "insert into hookonce_setting (name, value) values ('schema', ?1)
         on conflict (name) do update set value = excluded.value",
        [number.to_string().into_bytes()],
    )?;
    tx.commit()?;
    Ok(())
}
