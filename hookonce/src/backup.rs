//! Backup and restore, as far as both stores share it: what a backup says of itself, and what a store begins with that
//! was brought back.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use hookonce_core::time::Micros;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// In the folder of each backup.
const MANIFEST: &str = "backup.json";
/// Of what is written here; another one is not ours to read.
const FORMAT: u32 = 1;
/// Numbers of a generation begin at its own, so far shifted: none of them was ever given before.
pub const GENERATION_BITS: u32 = 40;
/// Bytes that are read at once.
const CHUNK: usize = 1 << 16;

/// Done, and all there is.
pub type Progress<'a> = &'a mut dyn FnMut(u64, u64);

/// Why a backup was not taken or not brought back.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error("`{0}` is there already\nhint: name a folder that is not there yet: a backup never writes over another")]
    There(PathBuf),
    #[error("`{0}` is no whole backup: {1}\nhint: take another one; this one is left as it is")]
    Damaged(PathBuf, String),
    #[error("`{0}` holds a backup of {1}, the configured store is {2}\nhint: name the store that it was taken from")]
    OtherKind(PathBuf, String, &'static str),
    #[error("there is a store at {0} already\nhint: `--replace` puts it aside and keeps it")]
    Occupied(String),
    #[error("there is no store at {0}\nhint: check `[store] url`")]
    NoStore(String),
    #[error("{0}")]
    NotNow(String),
    #[error("the database holds the store `{0}` already\nhint: a store moves into a database that has none")]
    InUse(String),
    #[error(
        "the files are still served after {0} s\nhint: stop the server and say the same again: it goes on from here"
    )]
    StillServed(u64),
    #[error("the table `{0}` is not the same on both sides, nothing was moved\nhint: does somebody else write to it?")]
    Differs(String),
    #[error("cannot use `{0}`: {1}")]
    File(PathBuf, #[source] io::Error),
    #[cfg(feature = "sqlite")]
    #[error(transparent)]
    Sqlite(#[from] crate::sqlite::OpenError),
    #[cfg(feature = "postgres")]
    #[error(transparent)]
    Postgres(#[from] crate::postgres::OpenError),
}

/// For `map_err`.
pub fn at(path: &Path) -> impl FnOnce(io::Error) -> BackupError + '_ {
    move |error| BackupError::File(path.to_owned(), error)
}

/// What is brought back, and how.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    pub from: &'a Path,
    /// A store that is there is put aside; else it is left alone and nothing happens.
    pub replace: bool,
    /// Namespaces of the configuration: they get a floor though the backup has no event of theirs.
    pub namespaces: &'a [String],
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Restored {
    pub manifest: Manifest,
    pub again: Again,
    /// Where the store that was there has gone.
    pub replaced: Option<String>,
}

/// What a backup says of itself. It is written last: a folder without it is no backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub format: u32,
    /// `sqlite` or `postgres`.
    pub kind: String,
    pub program: String,
    pub store: String,
    pub generation: i64,
    /// Of its tables.
    pub schema: usize,
    /// When its oldest snapshot was taken: what came later is not in it.
    pub taken: Micros,
    pub events: i64,
    pub files: Vec<Part>,
}

/// A file of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    pub name: String,
    pub bytes: u64,
    pub sha256: String,
    /// Of a table: what stands in it, in that order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
}

impl Manifest {
    /// Of `store`, with nothing in it yet.
    pub fn new(kind: &str, store: String, generation: i64, taken: Micros) -> Manifest {
        let (kind, program) = (kind.to_owned(), env!("CARGO_PKG_VERSION").to_owned());
        Manifest { format: FORMAT, kind, program, store, generation, schema: 0, taken, events: 0, files: Vec::new() }
    }

    pub fn write(&self, folder: &Path) -> Result<(), BackupError> {
        let path = folder.join(MANIFEST);
        let text = serde_json::to_vec_pretty(self).map_err(|e| at(&path)(e.into()))?;
        let mut file = File::create(&path).map_err(at(&path))?;
        file.write_all(&text).and_then(|()| file.sync_all()).map_err(at(&path))
    }

    /// Of a whole backup: each of its files is what it was when it was taken.
    pub fn read(folder: &Path) -> Result<Manifest, BackupError> {
        let damaged = |why: String| BackupError::Damaged(folder.to_owned(), why);
        let text = fs::read(folder.join(MANIFEST)).map_err(|e| damaged(format!("`{MANIFEST}`: {e}")))?;
        let manifest: Manifest = serde_json::from_slice(&text).map_err(|e| damaged(format!("`{MANIFEST}`: {e}")))?;
        if manifest.format != FORMAT {
            return Err(damaged(format!("its format is {}, this program reads {FORMAT}", manifest.format)));
        }
        for part in &manifest.files {
            let found = Part::of(folder, &part.name)?;
            if (found.bytes, &found.sha256) != (part.bytes, &part.sha256) {
                return Err(damaged(format!("`{}` is not the file that was written", part.name)));
            }
        }
        Ok(manifest)
    }

    /// A backup of another kind of store is not read as one of ours.
    pub fn of_kind(self, kind: &'static str, folder: &Path) -> Result<Manifest, BackupError> {
        if self.kind == kind { Ok(self) } else { Err(BackupError::OtherKind(folder.to_owned(), self.kind, kind)) }
    }
}

impl Part {
    pub fn of(folder: &Path, name: &str) -> Result<Part, BackupError> {
        let path = folder.join(name);
        let mut file = File::open(&path).map_err(at(&path))?;
        let (mut hash, mut chunk, mut bytes) = (Sha256::new(), vec![0; CHUNK], 0);
        loop {
            match file.read(&mut chunk).map_err(at(&path))? {
                0 => break,
                n => {
                    hash.update(&chunk[..n]);
                    bytes += n as u64;
                }
            }
        }
        let sha256 = hash.finalize().iter().map(|b| format!("{b:02x}")).collect();
        Ok(Part { name: name.to_owned(), bytes, sha256, columns: Vec::new() })
    }
}

/// A folder that gets its name once it is whole, so that half a backup is never taken for one.
#[derive(Debug)]
pub struct Folder {
    pub path: PathBuf,
    to: PathBuf,
}

impl Folder {
    pub fn begin(to: &Path) -> Result<Folder, BackupError> {
        if to.exists() {
            return Err(BackupError::There(to.to_owned()));
        }
        let mut name = to.file_name().unwrap_or_default().to_owned();
        name.push(".part");
        let path = to.with_file_name(name);
        // Of one that was killed.
        if path.exists() {
            fs::remove_dir_all(&path).map_err(at(&path))?;
        }
        fs::create_dir(&path).map_err(at(&path))?;
        owner_only(&path).map_err(at(&path))?;
        Ok(Folder { path, to: to.to_owned() })
    }

    pub fn end(self) -> Result<(), BackupError> {
        sync(&self.path)?;
        fs::rename(&self.path, &self.to).map_err(at(&self.to))?;
        sync(parent(&self.to))
    }
}

/// Payloads of other people stand in it.
fn owner_only(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))
}

/// Names in a folder are durable once the folder is.
pub fn sync(folder: &Path) -> Result<(), BackupError> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(at(folder))
}

pub fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// What a store begins with that was brought back: numbers, tokens and event times that cannot be mistaken for those of
/// what was lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Again {
    pub generation: i64,
    /// What was answered 2xx from here on is gone, unless it is sent again.
    pub from: Micros,
    /// Until here. It is the floor as well: who happened before and is not known may have been, and is held.
    pub to: Micros,
}

/// Where [`Again`] stands among the settings.
pub const AGAIN: &str = "restored";

impl Again {
    /// `beside`: of the store that it takes the place of. Neither that one's numbers nor the backup's are given again.
    pub fn after(manifest: &Manifest, beside: Option<i64>, now: Micros) -> Again {
        let generation = manifest.generation.max(beside.unwrap_or(0)) + 1;
        Again { generation, from: manifest.taken, to: now }
    }

    /// What events, payloads and requests are counted on from.
    pub fn numbers(&self) -> i64 {
        self.generation << GENERATION_BITS
    }

    pub fn text(&self) -> String {
        serde_json::json!(self).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_is_given_twice() {
        let manifest = Manifest::new("sqlite", "s".to_owned(), 3, 10);
        for (beside, generation) in [(None, 4), (Some(1), 4), (Some(7), 8)] {
            let again = Again::after(&manifest, beside, 20);
            assert_eq!((again.generation, again.from, again.to), (generation, 10, 20));
            assert_eq!(again.numbers(), generation << 40);
        }
    }

    #[test]
    fn a_file_that_changed_is_no_whole_backup() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("a"), "hello").expect("a file");
        let mut manifest = Manifest::new("sqlite", "s".to_owned(), 1, 10);
        manifest.files.push(Part::of(folder.path(), "a").expect("a part"));
        manifest.write(folder.path()).expect("a manifest");
        assert_eq!(Manifest::read(folder.path()).expect("a whole one"), manifest);
        for spoil in [Some("hullo"), Some("hello "), None] {
            let path = folder.path().join("a");
            spoil.map_or_else(|| fs::remove_file(&path), |text| fs::write(&path, text)).expect("spoilt");
            assert!(Manifest::read(folder.path()).is_err(), "{spoil:?}");
        }
    }
}
