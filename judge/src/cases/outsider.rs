//! Another program at the store's files: it reads for long, or holds the write lock. Not the server's process, so it
//! takes real locks; what it does is in no evidence, only what the server makes of it.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use rusqlite::Connection;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

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

/// Holds the write lock for `long`; waits its turn up to `long` before that.
pub async fn lock(file: PathBuf, long: Duration) -> Result<()> {
    let db = tokio::task::spawn_blocking(move || -> Result<_> {
        let db = Connection::open(&file)?;
        db.busy_timeout(long)?;
        db.execute("begin immediate", [])?;
        Ok(db)
    })
    .await??;
    let until = Instant::now() + long;
    tokio::time::sleep_until(until).await;
    db.execute("rollback", [])?;
    Ok(())
}
