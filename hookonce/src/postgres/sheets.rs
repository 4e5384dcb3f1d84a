//! For tests: the tables of a database as sheets that worlds are loaded into and read from.
//!
//! The model's position in the log is the event itself, here it is a dense number: positions are renamed on the way, and
//! `log` and `arrival`, which the model does not have, follow from the passes of a world that is loaded.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use hookonce_core::time::Micros;
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Transaction};

use super::bed::Database;
use super::value;
use crate::each_table;
use crate::sql::call::{self, Arg, Stmt};
use crate::testkit::model::Rows;
use crate::testkit::model::table::{Cell, File, Row, Table};

#[derive(Debug)]
pub struct Sheets {
    client: tokio::sync::Mutex<Client>,
    runtime: Arc<Runtime>,
    /// Places of events that are gone: pass rows still name them.
    seen: Mutex<BTreeMap<i64, i64>>,
}

impl Sheets {
    /// On a connection beside those of the store.
    pub fn of(database: &Database) -> Sheets {
        let runtime = database.runtime.clone();
        let client = tokio::sync::Mutex::new(runtime.block_on(super::bed::client(database.name())));
        Sheets { client, runtime, seen: Mutex::default() }
    }

    /// What is committed, all tables at one moment.
    pub fn rows(&self) -> Rows {
        self.within(async |tx| {
            let positions = Positions::read(tx, &self.seen).await;
            read_all(tx, &positions).await
        })
    }

    /// Replaces every row, and what follows from them.
    pub fn load(&self, rows: &Rows) {
        self.within(async |tx| {
            let positions = Positions::of(rows);
            self.seen.lock().unwrap_or_else(PoisonError::into_inner).clear();
            write_all(tx, rows, &positions).await;
            positions.write(tx).await;
            tx.batch_execute(NUMBERS).await.expect("the numbers go on behind those of the world");
        });
    }

    /// Changes rows by hand; the tables that it leaves alone stay as they are.
    pub fn edit(&self, change: &dyn Fn(&mut Rows)) {
        self.within(async |tx| {
            let positions = Positions::read(tx, &self.seen).await;
            let before = read_all(tx, &positions).await;
            let mut after = before.clone();
            change(&mut after);
            write_changed(tx, &before, &after, &positions).await;
            tx.batch_execute(NEWCOMERS).await.expect("an event has a place");
            tx.batch_execute(NUMBERS).await.expect("the numbers go on behind those of the tables");
        });
    }

    /// Whether a statement can be run at all.
    pub fn is_sql(&self, stmt: &Stmt) -> bool {
        self.within(async |tx| tx.prepare(stmt.text).await.is_ok())
    }

    /// Runs one statement file and gives its rows.
    pub fn run(&self, stmt: &Stmt, args: &[Arg<'_>]) -> Vec<Vec<Cell>> {
        self.within(async |tx| {
            let args: Vec<&(dyn tokio_postgres::types::ToSql + Sync)> = args.iter().map(|arg| arg as _).collect();
            let found = tx.query(stmt.text, &args).await.unwrap_or_else(|error| panic!("{}: {error}", stmt.name));
            found.iter().map(cells).collect()
        })
    }

    /// A column of numbers.
    pub fn numbers(&self, sql: &str) -> Vec<i64> {
        self.within(async |tx| numbers(tx, sql).await)
    }

    /// Runs one statement in a world and gives its rows and what it left. Nothing of it stays: the tables are empty
    /// before and behind it.
    pub fn in_world(&self, world: &Rows, now: Micros, stmt: &Stmt, args: &[Arg<'_>]) -> (Vec<Vec<Cell>>, Rows) {
        self.runtime.block_on(async {
            let mut client = self.client.lock().await;
            let tx = client.transaction().await.expect("a transaction begins");
            let positions = Positions::default();
            write_changed(&tx, &Rows::default(), world, &positions).await;
            tx.batch_execute(&format!("set local hookonce.now_us = '{now}'")).await.expect("the clock can be set");
            let args: Vec<&(dyn tokio_postgres::types::ToSql + Sync)> = args.iter().map(|arg| arg as _).collect();
            let found = tx.query(stmt.text, &args).await.unwrap_or_else(|error| panic!("{}: {error}", stmt.name));
            let left = read_all(&tx, &positions).await;
            tx.rollback().await.expect("a transaction of the bed ends");
            (found.iter().map(cells).collect(), left)
        })
    }

    fn within<T>(&self, run: impl AsyncFnOnce(&Transaction<'_>) -> T) -> T {
        self.runtime.block_on(async {
            let mut client = self.client.lock().await;
            let tx = client.build_transaction().isolation_level(tokio_postgres::IsolationLevel::RepeatableRead);
            let tx = tx.start().await.expect("a transaction begins");
            let answer = run(&tx).await;
            tx.commit().await.expect("a transaction of the bed commits");
            answer
        })
    }
}

/// What a test adds has not been met by the router.
const NEWCOMERS: &str = "insert into hookonce.arrival select e.id from hookonce.event e
    where not exists (select 1 from hookonce.log l where l.event = e.id)
      and not exists (select 1 from hookonce.arrival a where a.event = e.id)";

/// Numbers are drawn behind what stands in the tables.
const NUMBERS: &str = "
    select setval('hookonce.number', greatest((select last_value from hookonce.number),
        (select max(id) from hookonce.event), (select max(id) from hookonce.payload),
        (select max(id) from hookonce.request), (select max(id) from hookonce.unmapped)))
        where exists (select 1 from hookonce.event) or exists (select 1 from hookonce.request);
    select setval('hookonce.requeue_id_seq', (select max(id) from hookonce.requeue))
        where exists (select 1 from hookonce.requeue);
    select setval('hookonce.sample_id_seq', (select max(id) from hookonce.sample))
        where exists (select 1 from hookonce.sample);
    select setval('hookonce.tally_id_seq', (select max(id) from hookonce.tally))
        where exists (select 1 from hookonce.tally)";

/// Where events stand: the log, and behind it what the router has not met.
#[derive(Debug, Default)]
struct Positions {
    log: Vec<i64>,
    arrivals: Vec<i64>,
}

impl Positions {
    async fn read(tx: &Transaction<'_>, seen: &Mutex<BTreeMap<i64, i64>>) -> Positions {
        let (places, events) = (
            numbers(tx, "select pos from hookonce.log order by pos").await,
            numbers(tx, "select event from hookonce.log order by pos").await,
        );
        let arrivals = numbers(tx, "select event from hookonce.arrival order by event").await;
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.extend(places.into_iter().zip(events));
        Positions { log: seen.values().copied().collect(), arrivals }
    }

    /// Of a world: everything up to the last pass that was nobody's own is in the log.
    fn of(rows: &Rows) -> Positions {
        let passed = rows.pass.values().rev().find(|pass| pass.own.is_none()).map_or(0, |pass| pass.pos);
        let named = rows.pass.values().map(|pass| pass.pos).chain(rows.consumer.values().map(|c| c.from_pos));
        let mut all: Vec<i64> = rows.event.keys().copied().chain(named).filter(|event| *event > 0).collect();
        all.sort_unstable();
        all.dedup();
        let (log, arrivals): (Vec<i64>, Vec<i64>) = all.into_iter().partition(|event| *event <= passed);
        let arrivals = arrivals.into_iter().filter(|event| rows.event.contains_key(event)).collect();
        Positions { log, arrivals }
    }

    async fn write(&self, tx: &Transaction<'_>) {
        let emptied = "delete from hookonce.log; delete from hookonce.arrival; delete from hookonce.lane_check";
        tx.batch_execute(emptied).await.expect("what follows from the passes can be emptied");
        let log = "insert into hookonce.log (event, pos) select * from unnest($1::bigint[]) with ordinality";
        tx.execute(log, &[&self.log]).await.expect("the log can be written");
        let arrival = "insert into hookonce.arrival (event) select * from unnest($1::bigint[])";
        tx.execute(arrival, &[&self.arrivals]).await.expect("arrivals can be written");
    }

    fn event(&self, pos: i64) -> i64 {
        let at = usize::try_from(pos - 1).ok();
        let found = at.and_then(|at| self.log.iter().chain(&self.arrivals).nth(at));
        found.copied().unwrap_or(pos)
    }

    fn pos(&self, event: i64) -> i64 {
        let found = self.log.iter().chain(&self.arrivals).position(|there| *there == event);
        found.and_then(|at| i64::try_from(at + 1).ok()).unwrap_or(event)
    }

    /// The column of a table that is a position.
    fn column<R: Row>() -> Option<usize> {
        let column = match R::NAME {
            "pass" => "pos",
            "consumer" => "from_pos",
            _ => return None,
        };
        R::COLUMNS.iter().position(|name| *name == column)
    }

    fn renamed<R: Row>(&self, mut cells: Vec<Cell>, rename: fn(&Positions, i64) -> i64) -> Vec<Cell> {
        if let Some(Cell::Int(n)) = Positions::column::<R>().and_then(|at| cells.get_mut(at)) {
            *n = rename(self, *n);
        }
        cells
    }
}

async fn read_all(tx: &Transaction<'_>, positions: &Positions) -> Rows {
    let mut rows = Rows::default();
    macro_rules! read {
        ($table:ident) => {
            rows.$table = read(tx, positions).await;
        };
    }
    each_table!(read);
    // The end of the log as it will be: numbers that were drawn for copies are nobody's events.
    rows.counters.event = positions.log.iter().chain(&positions.arrivals).next_back().copied().unwrap_or(0);
    rows.counters.payload = rows.counters.event;
    rows.counters.generation = setting(tx, "generation").await.parse().unwrap_or(0);
    rows.counters.config = in_force(&setting(tx, "config").await);
    rows.counters.tally = tally(&rows);
    rows
}

async fn write_all(tx: &Transaction<'_>, rows: &Rows, positions: &Positions) {
    macro_rules! write {
        ($table:ident) => {
            write(tx, &rows.$table, positions).await;
        };
    }
    each_table!(write);
}

async fn write_changed(tx: &Transaction<'_>, before: &Rows, after: &Rows, positions: &Positions) {
    macro_rules! write {
        ($table:ident) => {
            if before.$table != after.$table {
                write(tx, &after.$table, positions).await;
            }
        };
    }
    each_table!(write);
}

/// Both chains of the audit stand in one schema.
fn name<R: Row>() -> String {
    match (R::FILE, R::NAME) {
        (File::Inbox, "audit") => "hookonce.inbox_audit".to_owned(),
        (_, name) => format!("hookonce.{name}"),
    }
}

fn columns<R: Row>() -> String {
    R::COLUMNS.iter().map(|column| format!("\"{column}\"")).collect::<Vec<_>>().join(", ")
}

async fn read<R: Row>(tx: &Transaction<'_>, positions: &Positions) -> Table<R> {
    let sql = format!("select {} from {}", columns::<R>(), name::<R>());
    let mut table = Table::default();
    for row in tx.query(&sql, &[]).await.expect("the model's columns are those of the schema") {
        let cells = positions.renamed::<R>(cells(&row), Positions::event);
        table.put(R::read(&cells).expect("the model's types are those of the schema"));
    }
    table
}

/// As one value: the database takes it apart by the types of the table.
async fn write<R: Row>(tx: &Transaction<'_>, table: &Table<R>, positions: &Positions) {
    let (name, columns) = (name::<R>(), columns::<R>());
    tx.execute(&format!("delete from {name}"), &[]).await.expect("a table can be emptied");
    let rows: Vec<Value> = table.values().map(|row| object::<R>(row, positions)).collect();
    let sql = format!(
        "insert into {name} ({columns}) select {columns} from jsonb_populate_recordset(null::{name}, $1::text::jsonb)"
    );
    let done = tx.execute(&sql, &[&Value::Array(rows).to_string()]).await;
    done.unwrap_or_else(|error| panic!("the model's rows fit {name}: {error:?}"));
}

fn object<R: Row>(row: &R, positions: &Positions) -> Value {
    let cells = positions.renamed::<R>(row.cells(), Positions::pos);
    let pairs = R::COLUMNS.iter().zip(cells).map(|(column, cell)| ((*column).to_owned(), json_of(column, cell)));
    Value::Object(pairs.collect::<Map<_, _>>())
}

/// Numbers go as text, which has no largest number; those that are flags here say so.
fn json_of(column: &str, cell: Cell) -> Value {
    match cell {
        Cell::Null => Value::Null,
        Cell::Int(n) if matches!(column, "open" | "cancel" | "released") => json!(n != 0),
        Cell::Int(n) => json!(n.to_string()),
        Cell::Text(text) => json!(text),
        Cell::Blob(bytes) => json!(format!("\\x{}", bytes.iter().map(|b| format!("{b:02x}")).collect::<String>())),
    }
}

fn cells(row: &tokio_postgres::Row) -> Vec<Cell> {
    let values = value::row(row).expect("a column can be read").0.into_iter();
    let cell = |value| match value {
        call::Value::Null => Cell::Null,
        call::Value::Int(n) => Cell::Int(n),
        call::Value::Text(text) => Cell::Text(text),
        call::Value::Blob(bytes) => Cell::Blob(bytes),
    };
    let strange = row.columns().iter().find(|column| *column.type_() == Type::NUMERIC);
    assert!(strange.is_none(), "{strange:?} is of a type that no statement of ours gives");
    values.map(cell).collect()
}

async fn numbers(tx: &Transaction<'_>, sql: &str) -> Vec<i64> {
    let found = tx.query(sql, &[]).await.expect("numbers can be read");
    found.iter().map(|row| row.get(0)).collect()
}

async fn setting(tx: &Transaction<'_>, name: &str) -> String {
    let found = tx.query_opt("select value from hookonce.setting where name = $1", &[&name]).await;
    let value: Vec<u8> = found.expect("settings can be read").map(|row| row.get(0)).unwrap_or_default();
    String::from_utf8_lossy(&value).into_owned()
}

fn in_force(text: &str) -> Vec<(i64, i64)> {
    let pair = |pair: &str| pair.split_once(':').and_then(|(id, row)| Some((id.parse().ok()?, row.parse().ok()?)));
    text.split(',').filter_map(pair).collect()
}

fn tally(rows: &Rows) -> BTreeMap<(String, String), i64> {
    let mut sums = BTreeMap::new();
    for row in rows.tally.values() {
        let counts: Vec<(String, String, i64)> = serde_json::from_str(&row.counts).expect("counts are a list");
        for (source, verdict, n) in counts {
            *sums.entry((source, verdict)).or_insert(0) += n;
        }
    }
    sums
}
