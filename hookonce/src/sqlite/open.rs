//! Opening a store: two files that belong together, settings that hold, nobody else inside.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hookonce_core::time::Micros;
use rusqlite::Connection;

use super::conn::Conn;
use super::files::{Files, Handles};
use super::settings::Effective;
use super::{Options, backup, migrate, moving, restore, settings};
use crate::sql::call::Arg;
use crate::sql::schema::Schema;
use crate::sql::sqlite as sql;
use crate::store::{Identity, StoreError};

/// Why a store does not open.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(
        "the store `{0}` is already open\nhint: another server runs on it; commands reach a served store through its API"
    )]
    Locked(PathBuf),
    #[error("cannot use the file `{0}`: {1}\nhint: the folder must exist and belong to the user who runs hookonce")]
    File(PathBuf, #[source] std::io::Error),
    #[error(
        "SQLite's `{name}` is `{found}`, not `{want}`\nhint: without it an answered request could be lost, so hookonce does not start"
    )]
    Setting { name: &'static str, found: String, want: String },
    #[error("the {file} file has the schema {found}, this program knows {ours}\nhint: start the newer program")]
    Newer { file: &'static str, found: usize, ours: usize },
    #[error("the two files are not one store: {0}\nhint: put back the pair that was backed up together")]
    Mismatch(String),
    #[error("this store has moved to {0}\nhint: name that one in `[store] url`; these files are what was left behind")]
    Moved(String),
    #[error("cannot start a thread: {0}")]
    Thread(#[source] std::io::Error),
    #[error("SQLite says: {0}")]
    Sqlite(#[from] rusqlite::Error),
    #[error("the store does not answer: {0}")]
    Store(#[from] StoreError),
}

/// A store whose files are open and belong together.
#[derive(Debug)]
pub struct Opened {
    pub inbox: Conn,
    pub work: Conn,
    pub files: Files,
    pub handles: Handles,
    pub identity: Identity,
    pub settings: Vec<Effective>,
    /// Held to the end.
    pub lock: File,
}

/// How long the first transactions wait for somebody who reads or copies the files.
pub const OPEN_WAIT: Duration = Duration::from_secs(5);

pub fn open(path: &Path, options: &Options) -> Result<Opened, OpenError> {
    settings::library()?;
    let files = Files::at(path);
    let lock = files.lock()?;
    restore::finish(&files)?;
    let handles = files.prepare()?;
    let (mut inbox, mut settings) = writer(&files.inbox, "inbox")?;
    let (mut work, of_work) = writer(&files.work, "work")?;
    settings.extend(of_work);
    whole(&inbox, &work)?;
    stayed(&work)?;
    migrate::up(&mut inbox, &migrate::INBOX)?;
    migrate::up(&mut work, &migrate::WORK)?;
    let (inbox, work) = (Conn::new(inbox, options.tap.clone()), Conn::new(work, options.tap.clone()));
    let now = options.clock.now();
    pair(&inbox, &work, options)?;
    ahead(&inbox, &work)?;
    let identity = enter(&inbox, &work, now)?;
    Ok(Opened { inbox, work, files, handles, identity, settings, lock })
}

fn writer(path: &Path, file: &'static str) -> Result<(Connection, Vec<Effective>), OpenError> {
    let db = Connection::open_with_flags(path, settings::flags(true))?;
    db.busy_timeout(OPEN_WAIT)?;
    let effective = settings::writer(&db, file)?;
    Ok((db, effective))
}

/// The schemas of both files of a store that nobody serves; with `up` after they were brought to ours. A file that is not
/// there is a new one: only with `up` it is made.
pub fn schemas(path: &Path, up: bool) -> Result<Vec<Schema>, OpenError> {
    settings::library()?;
    let files = Files::at(path);
    let _lock = if up || files.inbox.exists() || files.work.exists() { Some(files.lock()?) } else { None };
    if up {
        restore::finish(&files)?;
        files.prepare()?;
    }
    let there = |path: &Path, file| match path.exists() {
        true => Ok(writer(path, file)?.0),
        false => Connection::open_in_memory().map_err(OpenError::from),
    };
    let (mut inbox, mut work) = (there(&files.inbox, "inbox")?, there(&files.work, "work")?);
    if up {
        whole(&inbox, &work)?;
        migrate::up(&mut inbox, &migrate::INBOX)?;
        migrate::up(&mut work, &migrate::WORK)?;
    }
    Ok(vec![migrate::look(&inbox, &migrate::INBOX)?, migrate::look(&work, &migrate::WORK)?])
}

/// A connection that only reads, for events, bodies and people.
pub fn reader(path: &Path, options: &Options) -> Result<Conn, OpenError> {
    let db = Connection::open_with_flags(path, settings::flags(false))?;
    db.busy_timeout(OPEN_WAIT)?;
    settings::hardened(&db)?;
    Ok(Conn::new(db, options.tap.clone()))
}

/// A connection of the checkpoints: it writes, so its settings are a writer's.
pub fn checkpointer(path: &Path, file: &'static str) -> Result<Conn, OpenError> {
    Ok(Conn::new(writer(path, file)?.0, None))
}

/// Gives a new store its name. The inbox file gets it first: a work file without one is only taken over while the inbox
/// is still empty.
fn pair(inbox: &Conn, work: &Conn, options: &Options) -> Result<(), OpenError> {
    for (conn, other) in [(inbox, work), (work, inbox)] {
        if setting(conn, "store_id")?.is_none() {
            let id = match setting(other, "store_id")? {
                Some(id) => id,
                None => fresh_id(options),
            };
            let generation = setting(other, "generation")?.unwrap_or_else(|| "1".to_owned());
            name(conn, &id, &generation)?;
        }
    }
    for what in ["store_id", "generation"] {
        let (a, b) = (setting(inbox, what)?.unwrap_or_default(), setting(work, what)?.unwrap_or_default());
        if a != b {
            return Err(OpenError::Mismatch(format!("`{what}` is `{a}` in the inbox file and `{b}` in the work file")));
        }
    }
    Ok(())
}

fn name(conn: &Conn, id: &str, generation: &str) -> Result<(), StoreError> {
    conn.begin(OPEN_WAIT)?;
    put(conn, "store_id", id)?;
    put(conn, "generation", generation)?;
    conn.commit()
}

/// The inbox alone, with events in it, is half a store: a new work file would do every effect once more. Asked before
/// the new file is given anything, so that a second start says the same.
fn whole(inbox: &Connection, work: &Connection) -> Result<(), OpenError> {
    if migrate::version(inbox)? == 0 || migrate::version(work)? > 0 {
        return Ok(());
    }
    match inbox.query_row("select count(*) from hookonce_event", [], |row| row.get::<_, i64>(0))? {
        0 => Ok(()),
        events => Err(OpenError::Mismatch(format!("the inbox holds {events} events and the work file is new"))),
    }
}

/// It is not the copy that a move has left behind. The work file is stamped first.
fn stayed(work: &Connection) -> Result<(), OpenError> {
    let new = migrate::version(work)? == 0;
    match if new { None } else { backup::said(work, moving::MOVED)? } {
        Some(to) => Err(OpenError::Moved(to)),
        None => Ok(()),
    }
}

/// The work file may lag behind the inbox file, never lead.
pub fn ahead(inbox: &Conn, work: &Conn) -> Result<(), OpenError> {
    let counter = number(inbox, "event_counter")?;
    let passed = work.row(sql::OPEN_PASSED, &[])?.unwrap_or_default().int(0)?;
    if passed <= counter {
        return Ok(());
    }
    let text = format!("the router stands at {passed} and the inbox has only given out {counter}");
    Err(OpenError::Mismatch(text))
}

/// Signs this process in. The commit on each file flushes its whole WAL, so that what recovery found there, flushed or
/// not, is durable before anything is built on it. What an earlier process held under a lease is due now.
fn enter(inbox: &Conn, work: &Conn, now: Micros) -> Result<Identity, StoreError> {
    inbox.begin(OPEN_WAIT)?;
    put(inbox, "opened", &now.to_string())?;
    inbox.commit()?;
    work.begin(OPEN_WAIT)?;
    let row = work.row(sql::OPEN_NODE, &[Arg::Int(now), Arg::Text(env!("CARGO_PKG_VERSION"))])?;
    let instance = row.unwrap_or_default().int(0)?;
    work.exec(sql::OPEN_DUE, &[Arg::Int(now), Arg::Int(instance)])?;
    work.commit()?;
    let store = setting(work, "store_id")?.unwrap_or_default();
    Ok(Identity { store, generation: number(work, "generation")?, instance })
}

fn fresh_id(options: &Options) -> String {
    let mut bytes = [0u8; 16];
    match options.seed {
        Some(seed) => bytes[..8].copy_from_slice(&seed.to_be_bytes()),
        None => getrandom::fill(&mut bytes).expect("the system has random numbers"),
    }
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

pub fn setting(conn: &Conn, name: &str) -> Result<Option<String>, StoreError> {
    match conn.row(sql::SETTING_GET, &[Arg::Text(name)])? {
        Some(mut row) => Ok(Some(String::from_utf8_lossy(&row.blob(0)?).into_owned())),
        None => Ok(None),
    }
}

/// 0 where it is not set.
pub fn number(conn: &Conn, name: &str) -> Result<i64, StoreError> {
    setting(conn, name)?.map_or(Ok(0), |text| parsed(name, text.as_bytes()))
}

pub fn parsed(name: &str, value: &[u8]) -> Result<i64, StoreError> {
    let number = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
    number.ok_or_else(|| StoreError::Failed(format!("the setting `{name}` is no number")))
}

pub fn put(conn: &Conn, name: &str, value: &str) -> Result<(), StoreError> {
    conn.exec(sql::SETTING_PUT, &[Arg::Text(name), Arg::Blob(value.as_bytes())]).map(drop)
}
