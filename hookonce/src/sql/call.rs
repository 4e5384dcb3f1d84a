//! The one seam to a database: a call is a statement file and its arguments, an answer is rows of plain values.
//!
//! No driver type is seen here. What watches the seam ([`Tap`]) sees every statement of every verb, so faults, traces
//! and the recording of a verb's steps hook in once.

use std::fmt::Debug;

use crate::store::StoreError;

/// A statement file.
#[derive(Debug, PartialEq, Eq)]
pub struct Stmt {
    /// The file's name without its ending: `admit_key`.
    pub name: &'static str,
    pub text: &'static str,
}

/// A value, or a column of values for a statement that works on a set (PostgreSQL; SQLite refuses columns).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arg<'a> {
    Null,
    Int(i64),
    Text(&'a str),
    Blob(&'a [u8]),
    Ints(&'a [i64]),
    OptInts(&'a [Option<i64>]),
    Bools(&'a [bool]),
    Texts(&'a [&'a str]),
    OptTexts(&'a [Option<&'a str>]),
    Blobs(&'a [&'a [u8]]),
    OptBlobs(&'a [Option<&'a [u8]>]),
    /// Blobs that were made for it.
    Bytes(&'a [Vec<u8>]),
}

impl<'a> Arg<'a> {
    pub fn int(value: Option<i64>) -> Arg<'a> {
        value.map_or(Arg::Null, Arg::Int)
    }

    pub fn text(value: Option<&'a str>) -> Arg<'a> {
        value.map_or(Arg::Null, Arg::Text)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    pub stmt: &'static Stmt,
    pub args: &'a [Arg<'a>],
}

impl<'a> Call<'a> {
    pub fn new(stmt: &'static Stmt, args: &'a [Arg<'a>]) -> Self {
        Call { stmt, args }
    }
}

/// Sees each statement before and after it ran. An error before keeps it from running; one after hides that it ran,
/// as a lost answer does.
pub trait Tap: Send + Sync + Debug {
    fn before(&self, statement: &'static str) -> Result<(), StoreError>;

    fn after(&self, _statement: &'static str) -> Result<(), StoreError> {
        Ok(())
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    #[default]
    Null,
    Int(i64),
    Text(String),
    Blob(Vec<u8>),
}

/// One row of an answer. Columns are asked for by place and type; another type means that the file is not ours.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row(pub Vec<Value>);

impl Row {
    pub fn int(&self, at: usize) -> Result<i64, StoreError> {
        self.opt_int(at)?.ok_or_else(|| foreign(at))
    }

    pub fn opt_int(&self, at: usize) -> Result<Option<i64>, StoreError> {
        match self.0.get(at) {
            Some(Value::Int(n)) => Ok(Some(*n)),
            Some(Value::Null) => Ok(None),
            _ => Err(foreign(at)),
        }
    }

    pub fn flag(&self, at: usize) -> Result<bool, StoreError> {
        Ok(self.int(at)? != 0)
    }

    pub fn text(&mut self, at: usize) -> Result<String, StoreError> {
        self.opt_text(at)?.ok_or_else(|| foreign(at))
    }

    /// Takes the text out of the row: a column is read once.
    pub fn opt_text(&mut self, at: usize) -> Result<Option<String>, StoreError> {
        match self.0.get_mut(at).map(std::mem::take) {
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(Value::Null) => Ok(None),
            _ => Err(foreign(at)),
        }
    }

    /// Takes the bytes out of the row: a column is read once.
    pub fn blob(&mut self, at: usize) -> Result<Vec<u8>, StoreError> {
        self.opt_blob(at)?.ok_or_else(|| foreign(at))
    }

    pub fn opt_blob(&mut self, at: usize) -> Result<Option<Vec<u8>>, StoreError> {
        match self.0.get_mut(at).map(std::mem::take) {
            Some(Value::Blob(bytes)) => Ok(Some(bytes)),
            Some(Value::Null) => Ok(None),
            _ => Err(foreign(at)),
        }
    }

    /// Bytes of a fixed length: digests, hashes, tokens.
    pub fn bytes<const N: usize>(&mut self, at: usize) -> Result<[u8; N], StoreError> {
        self.opt_bytes(at)?.ok_or_else(|| foreign(at))
    }

    pub fn opt_bytes<const N: usize>(&mut self, at: usize) -> Result<Option<[u8; N]>, StoreError> {
        self.opt_blob(at)?.map(|bytes| bytes.try_into().map_err(|_| foreign(at))).transpose()
    }
}

fn foreign(at: usize) -> StoreError {
    StoreError::Failed(format!("column {at} of an answer is not of the type that we wrote"))
}
