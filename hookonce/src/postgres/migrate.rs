//! Schema versions: one file a version, applied in order, each in a transaction with its number. Nodes that start at the
//! same moment wait for each other at the first statement that two cannot both do.

use tokio_postgres::Client;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

use super::error::OpenError;
use super::value::said;
use crate::sql::schema::Schema;

pub const VERSIONS: &[&str] = &[
    include_str!("../../migrations/postgres/0001_store.sql"),
    include_str!("../../migrations/postgres/0002_functions.sql"),
    include_str!("../../migrations/postgres/0003_retention.sql"),
];

/// The version that the database has; 0: it is new.
pub async fn version(db: &Client) -> Result<usize, OpenError> {
    let there = db.query_typed_one("select to_regclass('hookonce.setting') is not null", &[]).await?;
    if !there.try_get::<_, bool>(0)? {
        return Ok(0);
    }
    let found = db.query_typed_opt("select value from hookonce.setting where name = 'schema'", &[]).await?;
    let text: Vec<u8> = found.map(|row| row.try_get(0)).transpose()?.unwrap_or_default();
    Ok(String::from_utf8_lossy(&text).parse().unwrap_or(0))
}

/// What the database has, and what it lacks.
pub async fn look(db: &Client) -> Result<Schema, OpenError> {
    Ok(Schema::new("database", version(db).await?, VERSIONS))
}

/// Brings the database to our version. One of a later version is not ours to write.
pub async fn up(db: &Client) -> Result<(), OpenError> {
    loop {
        let found = version(db).await?;
        if found > VERSIONS.len() {
            return Err(OpenError::Newer { found, ours: VERSIONS.len() });
        }
        let Some(text) = VERSIONS.get(found) else { return Ok(()) };
        match step(db, text, found + 1).await {
            Err(OpenError::Postgres(error)) if is_race(&error) => {
                db.batch_execute("rollback").await?;
                // Whoever was faster has left its number. Else what is in the way was never ours.
                if version(db).await? == found {
                    return Err(OpenError::Foreign(said(&error)));
                }
            }
            done => done?,
        }
    }
}

/// Another node made it while this one waited.
fn is_race(error: &tokio_postgres::Error) -> bool {
    let raced = [SqlState::UNIQUE_VIOLATION, SqlState::DUPLICATE_SCHEMA, SqlState::DUPLICATE_TABLE];
    error.code().is_some_and(|code| raced.contains(code))
}

/// Whoever comes second finds the row changed or, for the first version, the schema made.
async fn step(db: &Client, text: &str, number: usize) -> Result<(), OpenError> {
    db.batch_execute("begin").await?;
    if number > 1 {
        let taken = "update hookonce.setting set value = $2 where name = 'schema' and value = $1";
        let (from, to) = ((number - 1).to_string().into_bytes(), number.to_string().into_bytes());
        if db.execute_typed(taken, &[(&from, Type::BYTEA), (&to, Type::BYTEA)]).await? == 0 {
            return Ok(db.batch_execute("rollback").await?);
        }
    }
    db.batch_execute(text).await?;
    if number == 1 {
        let first = "insert into hookonce.setting (name, value) values ('schema', $1)";
        db.execute_typed(first, &[(&number.to_string().into_bytes(), Type::BYTEA)]).await?;
    }
    Ok(db.batch_execute("commit").await?)
}
