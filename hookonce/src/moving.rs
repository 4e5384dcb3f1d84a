//! A store of files becomes a store of a database. What only grows is copied while it is served; then nobody may serve it,
//! the rest follows, and every table is compared on both sides. Killed at any step it is begun again with the same words:
//! the database is nobody's until the end, and the files say that they have moved before it is somebody's.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use hookonce_core::kill_point;
use sha2::{Digest as _, Sha256};
use tokio::runtime::Runtime;

use crate::backup::{BackupError, GENERATION_BITS, Progress};
use crate::postgres::moving::{Beginning, Columns, Target};
use crate::sql::call::{Row, Value};
use crate::sqlite::moving::{Part, Source, Table};

/// Tables whose rows are written once, by ascending number: they can be copied while more are written.
const GROWING: [&str; 3] = ["event", "payload", "request"];
/// Their rows in one commit.
const STEP: i64 = 10_000;
/// Between two looks whether somebody still serves the files.
const LOOK: Duration = Duration::from_millis(500);

/// Where to, and how.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    pub url: &'a str,
    /// The same for people, without a password.
    pub shown: &'a str,
    /// How long somebody may still serve the files once the first part is copied.
    pub wait: Duration,
}

/// A table that is on both sides the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    pub table: String,
    pub rows: u64,
    pub digest: String,
}

struct Move<'a> {
    source: Source,
    target: Target,
    tables: Vec<(Table, Columns)>,
    progress: Progress<'a>,
    /// Rows copied, and all there are.
    done: u64,
    all: u64,
}

/// `say`: what a person has to do meanwhile.
pub fn run(
    path: &Path,
    order: &Order<'_>,
    runtime: Runtime,
    progress: Progress<'_>,
    say: &dyn Fn(&str),
) -> Result<Vec<Moved>, BackupError> {
    let source = Source::open(path)?;
    let store = source.setting("store_id")?.unwrap_or_default();
    let target = Target::open(runtime, order.url, &store)?;
    let mut moving = Move { tables: tables(&source, &target)?, source, target, progress, done: 0, all: 0 };
    moving.growing()?;
    let _lock = moving.unserved(order, say)?;
    moving.growing()?;
    moving.rest()?;
    let moved = moving.compared()?;
    kill_point!("move_compared");
    let generation = moving.source.setting("generation")?.and_then(|text| text.parse().ok()).unwrap_or(0) + 1;
    let beginning = moving.beginning(&store, generation)?;
    moving.source.stamp(order.shown)?;
    kill_point!("move_stamped");
    moving.target.finish(&beginning)?;
    Ok(moved)
}

fn tables(source: &Source, target: &Target) -> Result<Vec<(Table, Columns)>, BackupError> {
    let with_columns = |table: Table| {
        let columns = target.columns(&table.name, &source.columns(&table)?)?;
        Ok((table, columns))
    };
    source.tables()?.into_iter().map(with_columns).collect()
}

fn grows(table: &Table) -> bool {
    GROWING.contains(&table.name.as_str())
}

impl Move<'_> {
    /// Goes on behind the last row that is there.
    fn growing(&mut self) -> Result<(), BackupError> {
        self.all = self.tables.iter().map(|(table, _)| self.source.count(table)).sum::<Result<_, _>>()?;
        for at in 0..self.tables.len() {
            if grows(&self.tables[at].0) {
                while self.step(at)? > 0 {}
            }
        }
        Ok(())
    }

    /// Answers how many rows there were.
    fn step(&mut self, at: usize) -> Result<u64, BackupError> {
        let (table, columns) = &self.tables[at];
        let part = Part { columns: &columns.names, after: Some((self.target.last(&table.name)?, STEP)) };
        self.target.begin()?;
        let mut rows = 0;
        self.source.each(table, part, &mut |some| {
            rows += some.len() as u64;
            self.target.put(&table.name, columns, &some)
        })?;
        self.target.commit()?;
        kill_point!("move_step");
        self.done = (self.done + rows).min(self.all);
        (self.progress)(self.done, self.all);
        Ok(rows)
    }

    /// Waits until nobody serves the files; meanwhile what comes in is copied.
    fn unserved(&mut self, order: &Order<'_>, say: &dyn Fn(&str)) -> Result<File, BackupError> {
        let end = Instant::now() + order.wait;
        let mut said = false;
        loop {
            if let Some(lock) = self.source.lock()? {
                return Ok(lock);
            }
            if Instant::now() >= end {
                return Err(BackupError::StillServed(order.wait.as_secs()));
            }
            if !said {
                say("copied what only grows; now stop the server: the rest follows as soon as it has ended");
                said = true;
            }
            self.target.pause(LOOK);
            self.growing()?;
        }
    }

    fn rest(&mut self) -> Result<(), BackupError> {
        for at in 0..self.tables.len() {
            if !grows(&self.tables[at].0) {
                self.whole(at)?;
            }
        }
        Ok(())
    }

    /// In one commit, whatever was there.
    fn whole(&mut self, at: usize) -> Result<(), BackupError> {
        let (table, columns) = &self.tables[at];
        self.target.replace(&table.name)?;
        let part = Part { columns: &columns.names, after: None };
        let mut rows = 0;
        self.source.each(table, part, &mut |some| {
            rows += some.len() as u64;
            self.target.put(&table.name, columns, &some)
        })?;
        self.target.commit()?;
        kill_point!("move_step");
        self.done = (self.done + rows).min(self.all);
        (self.progress)(self.done, self.all);
        Ok(())
    }

    /// What was cleaned away while the rest was copied is found here, and copied again.
    fn compared(&mut self) -> Result<Vec<Moved>, BackupError> {
        let mut all = Vec::new();
        for at in 0..self.tables.len() {
            let (mut ours, mut theirs) = self.sums(at)?;
            if ours != theirs {
                self.whole(at)?;
                (ours, theirs) = self.sums(at)?;
            }
            let table = self.tables[at].0.name.clone();
            if ours != theirs {
                return Err(BackupError::Differs(table));
            }
            all.push(Moved { table, rows: ours.rows, digest: format!("{:032x}", ours.sum) });
        }
        Ok(all)
    }

    fn sums(&self, at: usize) -> Result<(Sum, Sum), BackupError> {
        let (table, columns) = &self.tables[at];
        let (mut ours, mut theirs) = (Sum::default(), Sum::default());
        let part = Part { columns: &columns.names, after: None };
        self.source.each(table, part, &mut |some| {
            some.iter().for_each(|row| ours.add(row));
            Ok(())
        })?;
        self.target.each(&table.name, columns, &mut |row| theirs.add(row))?;
        Ok((ours, theirs))
    }

    fn beginning(&self, store: &str, generation: i64) -> Result<Beginning, BackupError> {
        let mut settings = vec![("store_id", store.to_owned()), ("generation", generation.to_string())];
        if let Some(config) = self.source.setting("config")? {
            settings.push(("config", config));
        }
        Ok(Beginning { settings, numbers: generation << GENERATION_BITS })
    }
}

/// Rows in no order: how many, and the sum of their hashes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum {
    rows: u64,
    sum: u128,
}

impl Sum {
    fn add(&mut self, row: &Row) {
        let mut hash = Sha256::new();
        row.0.iter().for_each(|value| framed(&mut hash, value));
        let mut first = [0; 16];
        first.copy_from_slice(&hash.finalize()[..16]);
        self.rows += 1;
        self.sum = self.sum.wrapping_add(u128::from_be_bytes(first));
    }
}

fn framed(hash: &mut Sha256, value: &Value) {
    let mut put = |kind: u8, bytes: &[u8]| {
        hash.update([kind]);
        hash.update((bytes.len() as u64).to_be_bytes());
        hash.update(bytes);
    };
    match value {
        Value::Null => put(0, &[]),
        Value::Int(n) => put(1, &n.to_be_bytes()),
        Value::Text(text) => put(2, text.as_bytes()),
        Value::Blob(bytes) => put(3, bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(rows: &[Vec<Value>]) -> Sum {
        let mut sum = Sum::default();
        rows.iter().for_each(|row| sum.add(&Row(row.clone())));
        sum
    }

    #[test]
    fn rows_are_told_apart_and_their_order_is_not() {
        let text = |t: &str| Value::Text(t.to_owned());
        let (a, b) = (vec![text("a"), text("bc")], vec![text("ab"), text("c")]);
        assert_eq!(sum(&[a.clone(), b.clone()]), sum(&[b.clone(), a.clone()]));
        assert_ne!(sum(std::slice::from_ref(&a)), sum(std::slice::from_ref(&b)), "values are framed");
        assert_ne!(sum(&[a.clone(), a.clone()]), sum(&[a, b]), "a row that is there twice stands for no other");
        assert_ne!(sum(&[vec![Value::Null]]), sum(&[vec![text("")]]));
        assert_ne!(sum(&[vec![Value::Blob(b"a".to_vec())]]), sum(&[vec![text("a")]]));
    }
}
