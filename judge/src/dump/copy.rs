//! Copies of both files with their write-ahead logs, taken after the process is dead.
//!
//! The originals are never opened: closing the last connection would remove the log, and with it the scene.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// A pair of copies.
#[derive(Debug, Clone)]
pub struct Copied {
    pub inbox: PathBuf,
    pub work: PathBuf,
}

/// Copies `store` (the work file's path, as in the configuration) into `into`, which is emptied first.
pub fn take(store: &Path, into: &Path) -> Result<Copied> {
    if into.exists() {
        std::fs::remove_dir_all(into)?;
    }
    std::fs::create_dir_all(into)?;
    let work = one(store, into)?;
    let inbox = one(&inbox_of(store), into)?;
    Ok(Copied { inbox, work })
}

/// `hookonce.db` has `hookonce.inbox.db` beside it.
pub fn inbox_of(store: &Path) -> PathBuf {
    store.with_extension("inbox.db")
}

/// The log first would be wrong on a living store; on a dead one the order does not matter.
fn one(file: &Path, into: &Path) -> Result<PathBuf> {
    let name = file.file_name().context("the store's path has no file name")?;
    let to = into.join(name);
    // A file that the fault took away altogether is read as an empty one.
    if file.exists() {
        std::fs::copy(file, &to).with_context(|| format!("cannot copy `{}`", file.display()))?;
    }
    let log = |p: &Path| {
        let mut name = p.as_os_str().to_owned();
        name.push("-wal");
        PathBuf::from(name)
    };
    if log(file).exists() {
        std::fs::copy(log(file), log(&to))?;
    }
    Ok(to)
}
