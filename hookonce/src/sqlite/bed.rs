//! For tests: the store as a bed of the suite, and its tables as sheets that worlds are loaded into and read from.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::types::{Value as Held, ValueRef};
use rusqlite::{Connection, params_from_iter};

use super::files::Files;
use super::store::SqliteStore;
use super::{Options, migrate};
use crate::clock::ManualClock;
use crate::each_table;
use crate::sql::call::{Arg, Stmt};
use crate::store::Store;
use crate::testkit::faulty::Fault;
use crate::testkit::model::Rows;
use crate::testkit::model::table::{Cell, File, Row, Table};
use crate::testkit::script::bed::{BEGIN, Bed};

/// How long a look beside the store waits for a group to end.
const WAIT: Duration = Duration::from_secs(30);

/// A store in a folder of the test's.
#[derive(Debug)]
pub struct SqliteBed {
    /// `None` while it is closed.
    store: Mutex<Option<Arc<SqliteStore>>>,
    clock: Arc<ManualClock>,
    path: PathBuf,
    fault: Arc<Fault>,
}

impl SqliteBed {
    pub fn new(folder: &Path) -> SqliteBed {
        let clock = Arc::new(ManualClock::new(BEGIN));
        let bed = SqliteBed { store: Mutex::default(), clock, path: folder.join("hookonce.db"), fault: Arc::default() };
        bed.open();
        bed
    }

    fn open(&self) {
        let options =
            Options { clock: self.clock.clone(), seed: Some(1), tap: Some(self.fault.clone()), ..Options::default() };
        let store = SqliteStore::open(&self.path, options).expect("the store opens");
        *self.store.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(store));
    }
}

impl Bed for SqliteBed {
    fn name(&self) -> &'static str {
        "sqlite"
    }

    fn store(&self) -> Arc<dyn Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner).clone().expect("it is closed only by a restart")
    }

    fn clock(&self) -> &ManualClock {
        &self.clock
    }

    fn rows(&self) -> Rows {
        Sheets::of_store(&self.path).rows()
    }

    fn edit(&self, change: &dyn Fn(&mut Rows)) {
        let sheets = Sheets::of_store(&self.path);
        let mut rows = sheets.rows();
        change(&mut rows);
        sheets.load(&rows);
    }

    fn restart(&self) {
        let store = self.store.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(store);
        self.open();
    }

    fn arm(&self, nth: usize, behind: bool) {
        self.fault.arm(nth, behind);
    }

    fn struck(&self) -> bool {
        self.fault.struck()
    }
}

/// The tables of both files, whichever connections they are seen by.
#[derive(Debug)]
pub struct Sheets {
    pub inbox: Connection,
    pub work: Connection,
}

impl Sheets {
    /// Empty ones, in memory.
    pub fn empty() -> Sheets {
        let open = |schema| {
            let mut db = Connection::open_in_memory().expect("memory is a place for tables");
            migrate::up(&mut db, schema).expect("the schema fits an empty file");
            db
        };
        Sheets { inbox: open(&migrate::INBOX), work: open(&migrate::WORK) }
    }

    /// Those of a store that somebody serves: what is committed.
    pub fn of_store(path: &Path) -> Sheets {
        let files = Files::at(path);
        let open = |path: &Path| {
            let db = Connection::open(path).expect("the file of an open store is there");
            db.busy_timeout(WAIT).expect("a time-out can be set");
            db
        };
        Sheets { inbox: open(&files.inbox), work: open(&files.work) }
    }

    pub fn of(&self, file: File) -> &Connection {
        match file {
            File::Inbox => &self.inbox,
            File::Work => &self.work,
        }
    }

    /// Whether a statement can be run at all.
    pub fn is_sql(&self, stmt: &Stmt) -> bool {
        [&self.inbox, &self.work].iter().any(|db| db.prepare(stmt.text).is_ok())
    }

    /// Runs one statement file and gives its rows.
    pub fn run(&self, file: File, stmt: &Stmt, args: &[Arg<'_>]) -> Vec<Vec<Cell>> {
        let mut statement = self.of(file).prepare_cached(stmt.text).expect("a statement file is SQL");
        let width = statement.column_count();
        let mut found = statement.query(params_from_iter(args)).expect("its arguments fit");
        let mut rows = Vec::new();
        while let Some(row) = found.next().expect("a row can be read") {
            rows.push((0..width).map(|at| row.get_ref(at).map(cell).expect("a column can be read")).collect());
        }
        rows
    }

    pub fn rows(&self) -> Rows {
        let mut rows = Rows::default();
        macro_rules! read {
            ($table:ident) => {
                rows.$table = self.read();
            };
        }
        each_table!(read);
        rows.counters.event = self.number(&self.inbox, "event_counter");
        rows.counters.payload = self.number(&self.inbox, "payload_counter");
        rows.counters.generation = self.number(&self.work, "generation");
        rows.counters.config = self.in_force();
        rows.counters.tally = self.tally();
        rows
    }

    /// Replaces every row.
    pub fn load(&self, rows: &Rows) {
        for db in [&self.inbox, &self.work] {
            run(db, "begin immediate");
        }
        macro_rules! write {
            ($table:ident) => {
                self.write(&rows.$table);
            };
        }
        each_table!(write);
        for db in [&self.inbox, &self.work] {
            run(db, "commit");
        }
    }

    fn read<R: Row>(&self) -> Table<R> {
        let quoted: Vec<String> = R::COLUMNS.iter().map(|column| format!("\"{column}\"")).collect();
        let sql = format!("select {} from hookonce_{}", quoted.join(", "), R::NAME);
        let mut statement = self.of(R::FILE).prepare(&sql).expect("the model's columns are those of the schema");
        let mut found = statement.query([]).expect("a table can be read");
        let mut table = Table::default();
        while let Some(row) = found.next().expect("a row can be read") {
            let cells: Vec<Cell> =
                (0..R::COLUMNS.len()).map(|at| row.get_ref(at).map(cell).expect("a column can be read")).collect();
            table.put(R::read(&cells).expect("the model's types are those of the schema"));
        }
        table
    }

    fn write<R: Row>(&self, table: &Table<R>) {
        let db = self.of(R::FILE);
        run(db, &format!("delete from hookonce_{}", R::NAME));
        let (names, marks): (Vec<String>, Vec<&str>) = R::COLUMNS.iter().map(|c| (format!("\"{c}\""), "?")).unzip();
        let sql = format!("insert into hookonce_{} ({}) values ({})", R::NAME, names.join(", "), marks.join(", "));
        let mut statement = db.prepare(&sql).expect("the model's columns are those of the schema");
        for row in table.values() {
            statement
                .execute(params_from_iter(row.cells().into_iter().map(held)))
                .expect("the model's rows fit the schema");
        }
    }

    fn setting(&self, db: &Connection, name: &str) -> String {
        let sql = "select value from hookonce_setting where name = ?1";
        let value = db.query_row(sql, [name], |row| row.get::<_, Vec<u8>>(0)).unwrap_or_default();
        String::from_utf8_lossy(&value).into_owned()
    }

    fn number(&self, db: &Connection, name: &str) -> i64 {
        self.setting(db, name).parse().unwrap_or(0)
    }

    fn in_force(&self) -> Vec<(i64, i64)> {
        let text = self.setting(&self.work, "config");
        let pair = |pair: &str| pair.split_once(':').and_then(|(id, row)| Some((id.parse().ok()?, row.parse().ok()?)));
        text.split(',').filter_map(pair).collect()
    }

    fn tally(&self) -> std::collections::BTreeMap<(String, String), i64> {
        let mut sums = std::collections::BTreeMap::new();
        let mut statement = self.inbox.prepare("select counts from hookonce_tally").expect("the table is there");
        let found = statement.query_map([], |row| row.get::<_, String>(0)).expect("it can be read");
        for text in found {
            let text = text.expect("a row can be read");
            let counts: Vec<(String, String, i64)> = serde_json::from_str(&text).expect("counts are a list");
            for (source, verdict, n) in counts {
                *sums.entry((source, verdict)).or_insert(0) += n;
            }
        }
        sums
    }
}

fn run(db: &Connection, sql: &str) {
    db.execute(sql, []).expect("a statement of the bed runs");
}

fn cell(value: ValueRef<'_>) -> Cell {
    match value {
        ValueRef::Null | ValueRef::Real(_) => Cell::Null,
        ValueRef::Integer(n) => Cell::Int(n),
        ValueRef::Text(text) => Cell::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Cell::Blob(bytes.to_vec()),
    }
}

fn held(cell: Cell) -> Held {
    match cell {
        Cell::Null => Held::Null,
        Cell::Int(n) => Held::Integer(n),
        Cell::Text(text) => Held::Text(text),
        Cell::Blob(bytes) => Held::Blob(bytes),
    }
}
