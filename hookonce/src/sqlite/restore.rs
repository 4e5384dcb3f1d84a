//! A backup brought back: both files are built aside, then a marker is written, then they take their places, the inbox
//! file first. Whoever finds the marker goes on from there, so that no start sees half of it.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use hookonce_core::kill_point;
use hookonce_core::time::Micros;
use rusqlite::Connection;

use super::backup::{INBOX, KIND, WORK, alone, said};
use super::conn::Conn;
use super::files::{Files, created, wal_of, with};
use super::open::{self, OPEN_WAIT, OpenError};
use super::settings;
use crate::backup::{AGAIN, Again, BackupError, Manifest, Order, Restored, at, parent, sync};
use crate::sql::call::Arg;
use crate::sql::sqlite as sql;
use crate::store::StoreError;

/// What a file is called until it takes its place.
const ASIDE: &str = ".restoring";

pub fn restore(path: &Path, order: &Order<'_>, now: Micros) -> Result<Restored, BackupError> {
    settings::library()?;
    let files = Files::at(path);
    let _lock = files.lock()?;
    finish(&files)?;
    let manifest = Manifest::read(order.from)?.of_kind(KIND, order.from)?;
    let there = files.inbox.exists() || files.work.exists();
    if there && !order.replace {
        return Err(BackupError::Occupied(format!("`{}`", path.display())));
    }
    let again = Again::after(&manifest, generation(&files.inbox), now);
    build(&files, order, &manifest, &again)?;
    kill_point!("restore_built");
    let suffix = format!(".replaced-{}", now);
    mark(&files.marker, &suffix)?;
    kill_point!("restore_marked");
    finish(&files)?;
    let replaced = there.then(|| with(&files.work, &suffix).display().to_string());
    Ok(Restored { manifest, again, replaced })
}

/// Of the store that is there, if it still says so.
fn generation(inbox: &Path) -> Option<i64> {
    let db = Connection::open_with_flags(inbox, settings::flags(false)).ok()?;
    said(&db, "generation").ok()??.parse().ok()
}

fn build(files: &Files, order: &Order<'_>, manifest: &Manifest, again: &Again) -> Result<(), BackupError> {
    let aside =
        [(INBOX, &files.inbox), (WORK, &files.work)].map(|(name, path)| (order.from.join(name), with(path, ASIDE)));
    for (from, to) in &aside {
        drop(created(to)?);
        fs::copy(from, to).map_err(at(to))?;
        fs::set_permissions(to, private()).map_err(at(to))?;
    }
    let (inbox, work) = (opened(&aside[0].1)?, opened(&aside[1].1)?);
    one_store(&inbox, &work, manifest)?;
    begin_again(&inbox, &work, order, again).map_err(OpenError::from)?;
    for (conn, path) in [(&inbox, &aside[0].1), (&work, &aside[1].1)] {
        alone(conn.driver())?;
        // Through SQLite it is durable already, but for what `copy` wrote and nobody touched since.
        File::open(path).and_then(|file| file.sync_all()).map_err(at(path))?;
    }
    Ok(())
}

fn private() -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt as _;
    fs::Permissions::from_mode(0o600)
}

fn opened(path: &Path) -> Result<Conn, OpenError> {
    let db = Connection::open_with_flags(path, settings::flags(true))?;
    db.busy_timeout(OPEN_WAIT)?;
    Ok(Conn::new(db, None))
}

/// The pair is that of the backup, and of one moment.
fn one_store(inbox: &Conn, work: &Conn, manifest: &Manifest) -> Result<(), OpenError> {
    for conn in [inbox, work] {
        let found = (said(conn.driver(), "store_id")?, said(conn.driver(), "generation")?);
        if found != (Some(manifest.store.clone()), Some(manifest.generation.to_string())) {
            return Err(OpenError::Mismatch(format!("the backup is of `{}`, its files say {found:?}", manifest.store)));
        }
    }
    open::ahead(inbox, work)
}

/// Numbers, leases and the floor, in a commit of each file.
fn begin_again(inbox: &Conn, work: &Conn, order: &Order<'_>, again: &Again) -> Result<(), StoreError> {
    let generation = again.generation.to_string();
    inbox.begin(OPEN_WAIT)?;
    for counter in ["event_counter", "payload_counter", "request_counter"] {
        open::put(inbox, counter, &again.numbers().to_string())?;
    }
    let namespaces = serde_json::json!(order.namespaces).to_string();
    inbox.exec(sql::RESTORE_FLOORS, &[Arg::Int(again.to), Arg::Text(&namespaces)])?;
    open::put(inbox, AGAIN, &again.text())?;
    open::put(inbox, "generation", &generation)?;
    inbox.commit()?;
    work.begin(OPEN_WAIT)?;
    work.exec(sql::RESTORE_LEASES, &[Arg::Int(again.to)])?;
    open::put(work, "generation", &generation)?;
    work.commit()
}

/// From now on the files that stand aside are the store.
fn mark(marker: &Path, suffix: &str) -> Result<(), BackupError> {
    let written = with(marker, ASIDE);
    let mut file = created(&written)?;
    file.set_len(0)
        .and_then(|()| file.write_all(suffix.as_bytes()))
        .and_then(|()| file.sync_all())
        .map_err(at(&written))?;
    fs::rename(&written, marker).map_err(at(marker))?;
    sync(parent(marker))
}

/// Puts what stands aside in its place, if a marker says so. Nobody may have the store open.
pub fn finish(files: &Files) -> Result<(), OpenError> {
    let suffix = match fs::read_to_string(&files.marker) {
        Ok(suffix) => suffix,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(OpenError::File(files.marker.clone(), error)),
    };
    for path in [&files.inbox, &files.work] {
        place(path, &suffix).map_err(|error| OpenError::File(path.clone(), error))?;
        kill_point!("restore_renamed");
    }
    let gone = fs::remove_file(&files.marker).and_then(|()| folder(&files.marker)?.sync_all());
    gone.map_err(|error| OpenError::File(files.marker.clone(), error))
}

/// What is there is kept under another name, its log first: a log must never lie beside a file that it is not of.
fn place(path: &Path, suffix: &str) -> std::io::Result<()> {
    let aside = with(path, ASIDE);
    if !aside.exists() {
        return Ok(());
    }
    for (old, kept) in [(wal_of(path), "-wal"), (with(path, "-shm"), "-shm"), (path.to_owned(), "")] {
        if old.exists() {
            fs::rename(&old, with(path, &format!("{suffix}{kept}")))?;
        }
    }
    folder(path)?.sync_all()?;
    fs::rename(&aside, path)?;
    folder(path)?.sync_all()
}

fn folder(path: &Path) -> std::io::Result<File> {
    File::open(parent(path))
}
