//! A copy of a store that may be served meanwhile, by any process.
//!
//! Both snapshots are taken first, the work file's before the inbox file's, so that the copy of the work file lags and
//! never leads; then they are copied. A served store's logs grow for as long as that takes, and nothing else waits.

use std::ffi::c_int;
use std::path::Path;

use hookonce_core::kill_point;
use hookonce_core::time::Micros;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OptionalExtension as _};

use super::files::{Files, created};
use super::open::{OPEN_WAIT, OpenError};
use super::{migrate, settings};
use crate::backup::{BackupError, Folder, Manifest, Part, Progress};
use crate::sql::sqlite as sql;

pub const KIND: &str = "sqlite";
/// Names in the folder of a backup.
pub const WORK: &str = "hookonce.db";
pub const INBOX: &str = "hookonce.inbox.db";
/// Pages copied between two looks at the progress: 8 MiB.
const STEP: c_int = 1_024;
/// How often snapshots are taken anew because something was cleaned away between them.
const TRIES: usize = 10;

/// Takes a backup of the store at `path` into the folder `to`, which must not be there.
pub fn backup(path: &Path, to: &Path, now: Micros, progress: Progress<'_>) -> Result<Manifest, BackupError> {
    settings::library()?;
    let files = Files::at(path);
    there(&files)?;
    let folder = Folder::begin(to)?;
    let (work, inbox) = snapshots(&files)?;
    let all = pages(&work)? + pages(&inbox)?;
    let mut done = 0;
    for (db, name) in [(&work, WORK), (&inbox, INBOX)] {
        copy(db, &folder.path.join(name), &mut |at| progress(done + at, all))?;
        done += pages(db)?;
    }
    let number = |name| said(&work, name).map(|text| text.and_then(|text| text.parse().ok()).unwrap_or(0));
    let events =
        inbox.query_row("select count(*) from hookonce_event", [], |row| row.get(0)).map_err(OpenError::from)?;
    let store = said(&work, "store_id")?.unwrap_or_default();
    let mut manifest = Manifest { events, ..Manifest::new(KIND, store, number("generation")?, now) };
    manifest.schema = migrate::version(&inbox)?;
    manifest.files = [WORK, INBOX].iter().map(|name| Part::of(&folder.path, name)).collect::<Result<_, _>>()?;
    manifest.write(&folder.path)?;
    folder.end()?;
    Ok(manifest)
}

fn there(files: &Files) -> Result<(), BackupError> {
    if files.marker.exists() {
        let text = "a restore of this store is not finished\nhint: start the server once, it finishes it";
        return Err(BackupError::NotNow(text.to_owned()));
    }
    match files.work.exists() && files.inbox.exists() {
        true => Ok(()),
        false => Err(BackupError::NoStore(format!("`{}`", files.work.display()))),
    }
}

/// Both files as they stand now, until the connections are closed. What cleaning removes from the inbox file is said in
/// the work file before: if nothing was said since the first snapshot, nothing is missing in the second.
fn snapshots(files: &Files) -> Result<(Connection, Connection), BackupError> {
    for _ in 0..TRIES {
        let (work, inbox) = (pinned(&files.work)?, pinned(&files.inbox)?);
        if said(&work, "purging")? == said(&pinned(&files.work)?, "purging")? {
            return Ok((work, inbox));
        }
    }
    let text = "the store is being cleaned too fast for two snapshots of one state\nhint: try again";
    Err(BackupError::NotNow(text.to_owned()))
}

/// A read transaction that has begun.
fn pinned(path: &Path) -> Result<Connection, OpenError> {
    let db = Connection::open_with_flags(path, settings::flags(false))?;
    db.busy_timeout(OPEN_WAIT)?;
    db.execute(sql::BEGIN_READ.text, [])?;
    if migrate::version(&db)? == 0 {
        return Err(OpenError::Mismatch(format!("`{}` is no file of a store", path.display())));
    }
    Ok(db)
}

pub fn said(db: &Connection, name: &str) -> Result<Option<String>, OpenError> {
    let value =
        db.query_row("select value from hookonce_setting where name = ?1", [name], |row| row.get::<_, Vec<u8>>(0));
    Ok(value.optional()?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

fn pages(db: &Connection) -> Result<u64, OpenError> {
    Ok(u64::try_from(settings::read(db, "page_count")?).unwrap_or(0))
}

/// Page by page, into one file that is whole by itself: no log beside it.
fn copy(from: &Connection, to: &Path, progress: &mut dyn FnMut(u64)) -> Result<(), OpenError> {
    drop(created(to)?);
    let mut db = Connection::open_with_flags(to, settings::flags(true))?;
    let backup = Backup::new(from, &mut db)?;
    loop {
        let step = backup.step(STEP)?;
        kill_point!("backup_step");
        let at = backup.progress();
        progress(u64::try_from(at.pagecount - at.remaining).unwrap_or(0));
        if step == StepResult::Done {
            break;
        }
    }
    drop(backup);
    alone(&db)?;
    sound(&db, to)
}

/// No log beside it: the file is all there is.
pub fn alone(db: &Connection) -> Result<(), OpenError> {
    let mode: String = db.pragma_update_and_check(None, "journal_mode", "delete", |row| row.get(0))?;
    match mode.as_str() {
        "delete" => Ok(()),
        _ => Err(OpenError::Setting { name: "journal_mode", found: mode, want: "delete".to_owned() }),
    }
}

/// A backup that nobody has read is none.
fn sound(db: &Connection, path: &Path) -> Result<(), OpenError> {
    let found: String = db.pragma_query_value(None, "quick_check", |row| row.get(0))?;
    if found == "ok" {
        return Ok(());
    }
    Err(OpenError::Mismatch(format!("the copy `{}` is damaged, as the store must be: {found}", path.display())))
}
