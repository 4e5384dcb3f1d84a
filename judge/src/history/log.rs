//! One append-only file of JSON lines.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::marker::PhantomData;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Appends whole lines; safe to share between tasks. A line is one write call, so that a reader never sees two
/// records run into each other.
#[derive(Debug)]
pub struct Log<T> {
    file: Mutex<File>,
    of: PhantomData<fn(&T)>,
}

impl<T: Serialize> Log<T> {
    pub fn open(path: &Path) -> Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = file.with_context(|| format!("cannot open evidence file `{}`", path.display()))?;
        Ok(Self { file: Mutex::new(file), of: PhantomData })
    }

    pub fn append(&self, record: &T) -> Result<()> {
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&line).context("cannot append evidence")
    }
}

/// Strict on purpose: a line that cannot be read is evidence that was lost, and no verdict may rest on the rest.
pub(super) fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let file = File::open(path).with_context(|| format!("cannot read evidence file `{}`", path.display()))?;
    let mut records = Vec::new();
    for (at, line) in BufReader::new(file).lines().enumerate() {
        let record = serde_json::from_str(&line?);
        records.push(record.with_context(|| format!("{}:{}: not a record", path.display(), at + 1))?);
    }
    Ok(records)
}
