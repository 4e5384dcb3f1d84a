//! Another program at the store's files: it reads for long, or holds the write lock. Not the server's process, so it
//! takes real locks; what it does is in no evidence, only what the server makes of it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use rusqlite::{Connection, OpenFlags};
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// For as long as one read transaction is open, and the pause after it.
const READ: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_secs(2);

/// Opens a read transaction for 3 s every 5 s, until aborted.
pub fn reader(file: PathBuf) -> JoinHandle<Result<()>> {
    tokio::spawn(async move {
        loop {
            let db = Connection::open(&file)?;
            db.execute("begin", [])?;
            db.query_row("select count(*) from sqlite_schema", [], |_| Ok(()))?;
            sleep(READ).await;
            db.execute("rollback", [])?;
            sleep(PAUSE).await;
        }
    })
}

/// Longest wait for the lock: the server's own writer lets go between two groups.
const TURN: Duration = Duration::from_secs(20);

/// The write lock of a file, until it is let go.
#[derive(Debug)]
pub struct Lock(Connection);

/// Takes the write lock.
pub async fn lock(file: PathBuf) -> Result<Lock> {
    let taken = tokio::task::spawn_blocking(move || -> Result<_> {
        let db = Connection::open(&file)?;
        db.busy_timeout(TURN)?;
        db.execute("begin immediate", [])?;
        Ok(Lock(db))
    });
    taken.await?
}

impl Lock {
    pub fn let_go(self) -> Result<()> {
        self.0.execute("rollback", [])?;
        Ok(())
    }
}

/// A number that a store in use says of itself.
pub fn number(file: &Path, sql: &str) -> Result<i64> {
    let db = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    db.busy_timeout(TURN)?;
    Ok(db.query_row(sql, [], |row| row.get(0))?)
}
