//! Checkpoints, on their own thread and connections. A passive one alone never lets the WAL begin anew under steady
//! load; so when little is left, the file's writer finishes it between two groups.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use hookonce_core::kill_point;

use super::conn::Conn;
use super::files::wal_of;
use super::settings::PAGE;
use super::writer::Failure;
use crate::alarm;
use crate::gauges::{STORE_FREE, STORE_SIZE, STORE_WAL};
use crate::sql::call::Stmt;
use crate::sql::sqlite as sql;
use crate::store::StoreError;

/// Frames of the log in one MiB.
const MIB: i64 = (1 << 20) / PAGE;
/// Frames from which a checkpoint is begun: 8 MiB. Its flush goes to the disk that the acks flush to, so it is kept
/// short; a short log is also searched faster by every page that is not in a cache.
pub const START_FRAMES: i64 = 8 * MIB;
/// Frames that the writer may have to copy itself between two groups: it flushes them too, and every ack waits for it.
const LEFT_FRAMES: i64 = 64;
/// Passive rounds before the writer is asked anyway.
const ROUNDS: usize = 8;
/// 1 GiB: somebody reads for a very long time.
const ALARM_FRAMES: i64 = 1_024 * MIB;
/// 4 GiB: nothing is taken any more, the disk belongs to others too.
pub const FULL_FRAMES: i64 = 4_096 * MIB;
/// How often the size is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// What a file's writer and the checkpoints know of each other.
#[derive(Debug)]
pub struct Wal {
    file: &'static str,
    path: PathBuf,
    failure: Failure,
    /// Frames from which a checkpoint is begun.
    start: i64,
    finish: AtomicBool,
    frames: AtomicI64,
    alarmed: AtomicBool,
}

impl Wal {
    pub fn new(file: &'static str, path: &Path, start: i64, failure: Failure) -> Arc<Wal> {
        let (finish, frames, alarmed) = (AtomicBool::new(false), AtomicI64::new(0), AtomicBool::new(false));
        let path = path.to_owned();
        Arc::new(Wal { file, path, failure, start, finish, frames, alarmed })
    }

    /// Frames in the log when it was last looked at.
    pub fn frames(&self) -> i64 {
        self.frames.load(Ordering::Relaxed)
    }

    pub fn is_full(&self) -> bool {
        self.frames() >= FULL_FRAMES
    }

    /// The writer's part: nobody writes meanwhile, so all of it is copied and the next commit begins at the start.
    pub fn between_groups(&self, conn: &Conn) {
        if self.sound() && self.finish.swap(false, Ordering::AcqRel) {
            kill_point!("checkpoint");
            self.judge(checkpoint(conn, sql::CHECKPOINT_PASSIVE).map(drop));
        }
    }

    /// Leaves a file that needs no recovery. If it cannot be done now, the next start does it.
    pub fn at_the_end(&self, conn: &Conn) {
        if self.sound() {
            self.judge(checkpoint(conn, sql::CHECKPOINT_TRUNCATE).map(drop));
        }
    }

    /// After a failed write or flush the log stays as it is: what a checkpoint would copy is read from pages that the
    /// kernel may have dropped, and the log, the only true copy, would be gone (trap T4). The next start recovers it.
    fn sound(&self) -> bool {
        self.failure.check().is_ok()
    }

    /// A failed flush of the file itself is as bad as one of the log: tried again it would say that all is well, and
    /// then the log, the only true copy, would begin anew (trap T4).
    fn judge(&self, done: Result<(), StoreError>) {
        match done {
            Ok(()) => {}
            Err(StoreError::Failed(why)) => self.failure.set(&why),
            // Tried again in a moment; what lasts shows as a log that grows, and that is alarmed.
            Err(error) => tracing::debug!(file = self.file, %error, "a checkpoint did not get on"),
        }
    }

    fn look(&self, conn: &Conn, data: &File) -> Result<(), StoreError> {
        if !self.sound() {
            return Ok(());
        }
        let (log, _) = checkpoint(conn, sql::CHECKPOINT_NOOP)?;
        self.frames.store(log, Ordering::Relaxed);
        metrics::gauge!("hookonce_wal_frames", "file" => self.file).set(log as f64);
        self.sizes();
        self.alarm(log);
        if log >= self.start { self.rounds(conn, data) } else { Ok(()) }
    }

    /// Asked of the directory and not of the files: a handle of ours that is closed would drop SQLite's locks (trap T5).
    fn sizes(&self) {
        let set = |name: &'static str, path: &Path| {
            if let Ok(found) = std::fs::metadata(path) {
                metrics::gauge!(name, "file" => self.file).set(found.len() as f64);
            }
        };
        set(STORE_SIZE, &self.path);
        set(STORE_WAL, &wal_of(&self.path));
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if let Ok(disk) = rustix::fs::statvfs(folder) {
            metrics::gauge!(STORE_FREE).set(disk.f_bavail as f64 * disk.f_frsize as f64);
        }
    }

    /// SQLite flushes the file only with the pass that copies the last page, and that is the writer's. What was copied
    /// before is flushed here, where nobody waits for it.
    fn rounds(&self, conn: &Conn, data: &File) -> Result<(), StoreError> {
        for _ in 0..ROUNDS {
            let (_, copied) = checkpoint(conn, sql::CHECKPOINT_PASSIVE)?;
            data.sync_data().map_err(|error| StoreError::Failed(format!("a flush failed: {error}")))?;
            // A pass answers with the log as it found it; the writer has gone on meanwhile.
            let (log, _) = checkpoint(conn, sql::CHECKPOINT_NOOP)?;
            if log - copied <= LEFT_FRAMES {
                break;
            }
        }
        self.finish.store(true, Ordering::Release);
        Ok(())
    }

    fn alarm(&self, log: i64) {
        let high = log >= ALARM_FRAMES;
        if high && !self.alarmed.swap(true, Ordering::Relaxed) {
            let file = self.file;
            let text =
                format!("the log of the {file} file has {log} pages and cannot be emptied: somebody reads for long");
            alarm::raise("wal_grows", &text);
        }
        if !high {
            self.alarmed.store(false, Ordering::Relaxed);
        }
    }
}

/// (frames in the log, frames of them that are copied).
fn checkpoint(conn: &Conn, how: &'static Stmt) -> Result<(i64, i64), StoreError> {
    let row = conn.row(how, &[])?.unwrap_or_default();
    Ok((row.int(1)?.max(0), row.int(2)?.max(0)))
}

/// Ends the thread.
#[derive(Debug, Default)]
pub struct Stop {
    stopped: Mutex<bool>,
    told: Condvar,
}

impl Stop {
    pub fn tell(&self) {
        *self.stopped.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.told.notify_all();
    }

    /// Whether it is time to stop; else returns after a while.
    fn wait(&self) -> bool {
        let stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
        let told = self.told.wait_timeout_while(stopped, LOOK, |stopped| !*stopped);
        *told.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// A file as the checkpoints see it.
#[derive(Debug)]
pub struct Checked {
    pub conn: Conn,
    pub wal: Arc<Wal>,
    /// Opened before SQLite opened the file, and closed after it has closed it (trap T5).
    pub data: Arc<File>,
}

/// The thread.
pub fn run(files: &[Checked], stop: &Stop) {
    while !stop.wait() {
        files.iter().for_each(|file| file.wal.judge(file.wal.look(&file.conn, &file.data)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A log with something in it, and the connection that wrote it.
    fn written(folder: &Path) -> Conn {
        let path = folder.join("store.db");
        File::create(&path).expect("the folder is ours");
        let conn = super::super::open::checkpointer(&path, "inbox").expect("it opens");
        conn.driver().pragma_update(None, "user_version", 1).expect("it takes a page");
        conn
    }

    fn log(folder: &Path) -> u64 {
        std::fs::metadata(folder.join("store.db-wal")).expect("the log is there").len()
    }

    #[test]
    fn a_flush_that_fails_fails_the_store() {
        let folder = tempfile::tempdir().expect("a folder");
        let conn = written(folder.path());
        for (data, fails) in [(folder.path().join("store.db"), false), ("/dev/null".into(), true)] {
            let failure = Failure::default();
            let wal = Wal::new("inbox", &folder.path().join("store.db"), 1, failure.clone());
            wal.judge(wal.look(&conn, &File::open(data).expect("it is there")));
            assert_eq!(failure.check().is_err(), fails);
            assert_eq!(wal.finish.load(Ordering::Acquire), !fails, "the writer's part");
        }
    }

    #[test]
    fn a_failed_store_leaves_its_log_alone() {
        for failed in [false, true] {
            let folder = tempfile::tempdir().expect("a folder");
            let conn = written(folder.path());
            let failure = Failure::default();
            let wal = Wal::new("inbox", &folder.path().join("store.db"), START_FRAMES, failure.clone());
            wal.finish.store(true, Ordering::Release);
            if failed {
                failure.set("a flush failed");
            }
            wal.between_groups(&conn);
            assert_eq!(wal.finish.load(Ordering::Acquire), failed, "a passive checkpoint");
            wal.at_the_end(&conn);
            drop(conn);
            assert_eq!(log(folder.path()) > 0, failed, "the log at the end");
        }
    }
}
