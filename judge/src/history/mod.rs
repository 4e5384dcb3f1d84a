//! Evidence: what was sent, answered, seen to arrive, and broken, as JSON lines in a folder that no fault reaches.
//!
//! One file per kind. The records are plain values ([`record`]); writing is in [`log`]. Nothing here judges.

mod log;
mod record;

use std::path::{Path, PathBuf};

use anyhow::Result;

pub use log::Log;
pub use record::{Arrival, Effect, Entry, Fault, Kind, Reply, Sent, Validity, Version};

/// The four files, open for appending by any number of tasks.
#[derive(Debug)]
pub struct Books {
    pub history: Log<Entry>,
    pub sink: Log<Arrival>,
    pub effects: Log<Effect>,
    pub faults: Log<Fault>,
}

impl Books {
    pub fn open(folder: &Path) -> Result<Self> {
        std::fs::create_dir_all(folder)?;
        Ok(Self {
            history: Log::open(&file(folder, "history"))?,
            sink: Log::open(&file(folder, "sink"))?,
            effects: Log::open(&file(folder, "effects"))?,
            faults: Log::open(&file(folder, "faults"))?,
        })
    }
}

/// All four files, read back.
#[derive(Debug, Default, Clone)]
pub struct Evidence {
    pub history: Vec<Entry>,
    pub sink: Vec<Arrival>,
    pub effects: Vec<Effect>,
    pub faults: Vec<Fault>,
}

impl Evidence {
    pub fn read(folder: &Path) -> Result<Self> {
        Ok(Self {
            history: log::read(&file(folder, "history"))?,
            sink: log::read(&file(folder, "sink"))?,
            effects: log::read(&file(folder, "effects"))?,
            faults: log::read(&file(folder, "faults"))?,
        })
    }
}

fn file(folder: &Path, kind: &str) -> PathBuf {
    folder.join(format!("{kind}.jsonl"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_many_threads_append_is_read_back_whole() {
        let folder = tempfile::tempdir().unwrap();
        let books = Books::open(folder.path()).unwrap();
        std::thread::scope(|s| {
            for t in 0..8_u64 {
                let books = &books;
                s.spawn(move || {
                    for i in 0..50 {
                        books.history.append(&Entry::Unknown { n: t * 50 + i, why: "x".repeat(500), at: 1 }).unwrap();
                    }
                });
            }
        });
        let read = Evidence::read(folder.path()).unwrap();
        let mut seen: Vec<u64> = read.history.iter().map(Entry::n).collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..400).collect::<Vec<_>>());
        assert!(read.sink.is_empty());
    }

    #[test]
    fn a_broken_line_is_named_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        drop(Books::open(folder.path()).unwrap());
        std::fs::write(folder.path().join("history.jsonl"), "{\"what\":\"answer\",\"n\":1}\n").unwrap();
        let told = Evidence::read(folder.path()).unwrap_err().to_string();
        assert!(told.contains("history.jsonl:1"), "{told}");
    }
}
