//! The files that a store moves out of: read row by row, stamped at the end.

use std::fs::File;
use std::path::Path;

use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::backup::said;
use super::files::Files;
use super::open::{self, OPEN_WAIT, OpenError};
use super::{migrate, settings};
use crate::backup::BackupError;
use crate::sql::call::{Row, Value};

/// The setting that says where a store has gone. It stands in both files.
pub const MOVED: &str = "moved";
/// What our tables are called in a file that holds others as well.
const PREFIX: &str = "hookonce_";
/// Tables that are the files' own: settings are carried over by name, processes stay behind.
const STAY: [&str; 2] = ["setting", "node"];
/// Rows handed over at once, and their bytes.
const ROWS: usize = 2_000;
const BYTES: usize = 8 << 20;

/// A table of one of the files, by the name that it has in a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    pub name: String,
    of: String,
    inbox: bool,
    /// It has rows in the order in which they were written.
    ordered: bool,
}

#[derive(Debug)]
pub struct Source {
    files: Files,
    inbox: Connection,
    work: Connection,
}

/// What is to be read of a table.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    pub columns: &'a [String],
    /// Only rows with a greater number, and at the most so many.
    pub after: Option<(i64, i64)>,
}

pub type Take<'a> = &'a mut dyn FnMut(Vec<Row>) -> Result<(), BackupError>;

impl Source {
    pub fn open(path: &Path) -> Result<Source, BackupError> {
        settings::library()?;
        let files = Files::at(path);
        if !files.work.exists() || !files.inbox.exists() {
            return Err(BackupError::NoStore(format!("`{}`", path.display())));
        }
        let source = Source { inbox: reader(&files.inbox)?, work: reader(&files.work)?, files };
        for (db, schema) in [(&source.inbox, &migrate::INBOX), (&source.work, &migrate::WORK)] {
            let found = migrate::look(db, schema)?;
            if found.found != found.known {
                let text =
                    format!("the {} file has the schema {}, this program knows {}", found.of, found.found, found.known);
                return Err(BackupError::NotNow(format!(
                    "{text}\nhint: `hookonce migrate up`, with the program that serves it"
                )));
            }
        }
        Ok(source)
    }

    /// Nobody serves it as long as this is held. `None`: somebody does.
    pub fn lock(&self) -> Result<Option<File>, BackupError> {
        match self.files.lock() {
            Ok(file) => Ok(Some(file)),
            Err(OpenError::Locked(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    pub fn tables(&self) -> Result<Vec<Table>, OpenError> {
        let mut all = tables(&self.inbox, true)?;
        all.extend(tables(&self.work, false)?);
        Ok(all)
    }

    fn db(&self, table: &Table) -> &Connection {
        if table.inbox { &self.inbox } else { &self.work }
    }

    pub fn columns(&self, table: &Table) -> Result<Vec<String>, OpenError> {
        let mut names = self.db(table).prepare("select name from pragma_table_info(?1)")?;
        let names = names.query_map([&table.of], |row| row.get(0))?;
        Ok(names.collect::<Result<_, _>>()?)
    }

    pub fn count(&self, table: &Table) -> Result<u64, OpenError> {
        let count: i64 =
            self.db(table).query_row(&format!("select count(*) from {}", table.of), [], |row| row.get(0))?;
        Ok(u64::try_from(count).unwrap_or(0))
    }

    /// Hands over the rows, some at a time.
    pub fn each(&self, table: &Table, part: Part<'_>, take: Take<'_>) -> Result<(), BackupError> {
        let text = text(table, part);
        let mut statement = self.db(table).prepare(&text).map_err(OpenError::from)?;
        let mut rows = match part.after {
            Some((after, limit)) => statement.query([after, limit]),
            None => statement.query([]),
        }
        .map_err(OpenError::from)?;
        let (mut some, mut bytes) = (Vec::new(), 0);
        while let Some(row) = rows.next().map_err(OpenError::from)? {
            let row = neutral(row, part.columns.len()).map_err(OpenError::from)?;
            bytes += size(&row);
            some.push(row);
            if some.len() >= ROWS || bytes >= BYTES {
                take(std::mem::take(&mut some))?;
                bytes = 0;
            }
        }
        if some.is_empty() { Ok(()) } else { take(some) }
    }

    /// Of the work file, which has them all but the inbox file's counters.
    pub fn setting(&self, name: &str) -> Result<Option<String>, OpenError> {
        said(&self.work, name)
    }

    /// From now on no server opens these files. Said again it changes nothing.
    pub fn stamp(&self, to: &str) -> Result<(), OpenError> {
        for (path, file) in [(&self.files.work, "work"), (&self.files.inbox, "inbox")] {
            let conn = open::checkpointer(path, file)?;
            conn.begin(OPEN_WAIT)?;
            open::put(&conn, MOVED, to)?;
            conn.commit()?;
        }
        Ok(())
    }
}

fn reader(path: &Path) -> Result<Connection, OpenError> {
    let db = Connection::open_with_flags(path, settings::flags(false))?;
    db.busy_timeout(OPEN_WAIT)?;
    Ok(db)
}

fn tables(db: &Connection, inbox: bool) -> Result<Vec<Table>, OpenError> {
    let asked = "select name, wr = 0 from pragma_table_list where schema = 'main' and type = 'table' order by name";
    let mut names = db.prepare(asked)?;
    let names =
        names.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<Vec<(String, bool)>, _>>()?;
    let ours = names.into_iter().filter_map(|(of, ordered)| {
        let name = of.strip_prefix(PREFIX).filter(|name| !STAY.contains(name))?;
        let name = if inbox && name == "audit" { "inbox_audit" } else { name }.to_owned();
        Some(Table { name, of, inbox, ordered })
    });
    Ok(ours.collect())
}

fn text(table: &Table, part: Part<'_>) -> String {
    let columns = part.columns.join(", ");
    let (only, order) = match (part.after, table.ordered) {
        (Some(_), _) => (" where id > ?1", " order by id limit ?2"),
        (None, true) => ("", " order by rowid"),
        (None, false) => ("", ""),
    };
    format!("select {columns} from {}{only}{order}", table.of)
}

fn neutral(row: &rusqlite::Row<'_>, width: usize) -> rusqlite::Result<Row> {
    (0..width).map(|at| row.get_ref(at).map(value)).collect::<Result<_, _>>().map(Row)
}

fn value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null | ValueRef::Real(_) => Value::Null,
        ValueRef::Integer(n) => Value::Int(n),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
    }
}

fn size(row: &Row) -> usize {
    let of = |value: &Value| match value {
        Value::Null | Value::Int(_) => 8,
        Value::Text(text) => text.len(),
        Value::Blob(bytes) => bytes.len(),
    };
    row.0.iter().map(of).sum()
}
