//! SQLite's settings: made and read back on every connection that writes. One that does not hold is no store.

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use hookonce_core::planted;

use super::open::OpenError;

/// The first version without the WAL-reset bug.
pub const SQLITE_LEAST: i32 = 3_051_003;
/// Bytes of a page. Each ack writes one of the ledger's, somewhere, so larger ones are more bytes to log and to flush.
pub const PAGE: i64 = 4_096;
/// Page cache in KiB: a large one makes each commit slower, because all of it is walked.
const CACHE_KIB: i64 = 8_192;
/// `FULL`: the WAL is flushed before a commit returns.
const SYNC_FULL: i64 = 2;

/// A setting as the connection itself says it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effective {
    /// `inbox` or `work`.
    pub file: &'static str,
    pub name: &'static str,
    pub value: String,
}

/// Every commit is durable, nothing in the file is trusted to run, checkpoints belong to their own thread. Answers what
/// was read back.
pub fn writer(db: &Connection, file: &'static str) -> Result<Vec<Effective>, OpenError> {
    set(db, "page_size", PAGE)?;
    let mode: String = db.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
    let sync = if planted!("synchronous-normal") { 1 } else { SYNC_FULL };
    set(db, "synchronous", sync)?;
    set(db, "wal_autocheckpoint", 0)?;
    // Nor by the last connection that closes: it would not ask whether a flush has failed (trap T4).
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    expect("no_ckpt_on_close", &db.db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE)?.to_string(), "true")?;
    hardened(db)?;
    expect("journal_mode", &mode, "wal")?;
    let mut effective = vec![Effective { file, name: "journal_mode", value: mode }];
    for (name, want) in [("page_size", PAGE), ("synchronous", sync), ("wal_autocheckpoint", 0)] {
        let value = read(db, name)?.to_string();
        expect(name, &value, &want.to_string())?;
        effective.push(Effective { file, name, value });
    }
    Ok(effective)
}

/// What a reader shares with a writer.
pub fn hardened(db: &Connection) -> Result<(), OpenError> {
    set(db, "cache_size", -CACHE_KIB)?;
    set(db, "trusted_schema", 0)?;
    set(db, "cell_size_check", 1)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    let defensive = db.db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE)?;
    expect("defensive", &defensive.to_string(), "true")?;
    expect("trusted_schema", &read(db, "trusted_schema")?.to_string(), "0")?;
    expect("cache_size", &read(db, "cache_size")?.to_string(), &(-CACHE_KIB).to_string())
}

/// The bundled library; another one may have been linked.
pub fn library() -> Result<(), OpenError> {
    match rusqlite::version_number() {
        found if found < SQLITE_LEAST => Err(OpenError::Setting {
            name: "sqlite_version",
            found: rusqlite::version().to_owned(),
            want: "3.51.3 or later".to_owned(),
        }),
        _ => Ok(()),
    }
}

/// Each connection is used by one thread at a time, so SQLite's own lock around it is not needed.
pub fn flags(write: bool) -> OpenFlags {
    let access = if write { OpenFlags::SQLITE_OPEN_READ_WRITE } else { OpenFlags::SQLITE_OPEN_READ_ONLY };
    access | OpenFlags::SQLITE_OPEN_NO_MUTEX
}

fn set(db: &Connection, name: &'static str, value: i64) -> Result<(), OpenError> {
    Ok(db.pragma_update(None, name, value)?)
}

pub fn read(db: &Connection, name: &'static str) -> Result<i64, OpenError> {
    Ok(db.pragma_query_value(None, name, |row| row.get(0))?)
}

fn expect(name: &'static str, found: &str, want: &str) -> Result<(), OpenError> {
    if found.eq_ignore_ascii_case(want) {
        return Ok(());
    }
    Err(OpenError::Setting { name, found: found.to_owned(), want: want.to_owned() })
}
