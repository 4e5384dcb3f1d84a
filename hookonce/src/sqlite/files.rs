//! The two files of a store, the lock beside them, and what is done to them before SQLite opens them.
//!
//! Afterwards nobody in this process opens them by another handle: closing it would drop SQLite's locks (trap T5). The
//! handles made here are kept until SQLite has closed its own.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Advice, fadvise};

use super::open::OpenError;

/// Payloads of other people stand in them.
const MODE: u32 = 0o600;

#[derive(Clone, Debug)]
pub struct Files {
    pub inbox: PathBuf,
    pub work: PathBuf,
    lock: PathBuf,
    /// There as long as a restore has not put both files in their places.
    pub marker: PathBuf,
}

/// The two files, open beside SQLite.
#[derive(Clone, Debug)]
pub struct Handles {
    pub inbox: Arc<File>,
    pub work: Arc<File>,
}

impl Files {
    /// `hookonce.db` has `hookonce.inbox.db` and `hookonce.lock` beside it.
    pub fn at(work: &Path) -> Files {
        Files {
            inbox: beside(work, "inbox", true),
            work: work.to_owned(),
            lock: beside(work, "lock", false),
            marker: beside(work, "restore", false),
        }
    }

    /// Held as long as the store is open; the kernel drops it with the process.
    pub fn lock(&self) -> Result<File, OpenError> {
        let file = created(&self.lock)?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => Err(OpenError::Locked(self.work.clone())),
            Err(TryLockError::Error(error)) => Err(OpenError::File(self.lock.clone(), error)),
        }
    }

    /// Makes what is not there, readable for us alone; SQLite gives its WAL the same mode. After a stop that was not
    /// clean the kernel's pages are dropped first: after a failed flush they may say what the disk does not (trap T4).
    pub fn prepare(&self) -> Result<Handles, OpenError> {
        Ok(Handles { inbox: Arc::new(prepared(&self.inbox)?), work: Arc::new(prepared(&self.work)?) })
    }
}

fn prepared(path: &Path) -> Result<File, OpenError> {
    let file = created(path)?;
    let wal = wal_of(path);
    if std::fs::metadata(&wal).is_ok_and(|found| found.len() > 0) {
        forget(&file, path)?;
        forget(&created(&wal)?, &wal)?;
    }
    Ok(file)
}

/// The file, made if it is not there, readable for us alone.
pub fn created(path: &Path) -> Result<File, OpenError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(MODE);
    options.open(path).map_err(|error| OpenError::File(path.to_owned(), error))
}

fn forget(file: &File, path: &Path) -> Result<(), OpenError> {
    fadvise(file, 0, None, Advice::DontNeed).map_err(|error| OpenError::File(path.to_owned(), error.into()))
}

fn beside(work: &Path, word: &str, keep_ending: bool) -> PathBuf {
    let mut name = work.file_stem().map(OsString::from).unwrap_or_default();
    name.push(".");
    name.push(word);
    if let (true, Some(ending)) = (keep_ending, work.extension()) {
        name.push(".");
        name.push(ending);
    }
    work.with_file_name(name)
}

/// SQLite's log beside a file.
pub fn wal_of(path: &Path) -> PathBuf {
    with(path, "-wal")
}

/// The same path with more behind it.
pub fn with(path: &Path, more: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(more);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_beside_the_work_file() {
        let files = Files::at(Path::new("/srv/hookonce.db"));
        assert_eq!(files.inbox, Path::new("/srv/hookonce.inbox.db"));
        assert_eq!(files.lock, Path::new("/srv/hookonce.lock"));
        assert_eq!(Files::at(Path::new("store")).inbox, Path::new("store.inbox"));
    }
}
