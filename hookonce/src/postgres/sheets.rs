//! For tests: the tables as sheets that worlds are loaded into and read from.

use std::sync::Arc;

use tokio::runtime::Runtime;
use tokio_postgres::Client;
use tokio_postgres::types::ToSql;

use super::bed::{Database, client};
use super::value;
use crate::each_table;
use crate::sql::call::{Arg, Value};
use crate::testkit::model::Rows;
use crate::testkit::model::table::{Cell, File, Row, Table};

pub struct Sheets {
    db: Client,
    runtime: Arc<Runtime>,
}

impl std::fmt::Debug for Sheets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sheets")
    }
}

impl Sheets {
    pub fn of(database: &Database) -> Sheets {
        let runtime = database.runtime.clone();
        let db = runtime.block_on(client(database.name()));
        Sheets { db, runtime }
    }

    /// What is committed, of one moment.
    pub fn rows(&self) -> Rows {
        let mut rows = Rows::default();
        self.run("begin isolation level repeatable read read only");
        macro_rules! read {
            ($table:ident) => {
                rows.$table = self.read();
            };
        }
        each_table!(read);
        rows.counters.event = rows.event.keys().next_back().copied().unwrap_or(0);
        rows.counters.payload = rows.payload.keys().next_back().copied().unwrap_or(0);
        rows.counters.generation = self.setting("generation").parse().unwrap_or(0);
        rows.counters.config = self.in_force();
        rows.counters.tally = tally(&rows);
        self.run("commit");
        rows
    }

    /// Changes rows by hand.
    pub fn edit(&self, change: &dyn Fn(&mut Rows)) {
        let mut rows = self.rows();
        change(&mut rows);
        self.load(&rows);
    }

    /// Replaces the rows of every table that is not as it should be, and lets numbers be drawn behind them.
    pub fn load(&self, rows: &Rows) {
        let before = self.rows();
        self.run("begin");
        macro_rules! write {
            ($table:ident) => {
                if before.$table != rows.$table {
                    self.write(&rows.$table);
                }
            };
        }
        each_table!(write);
        self.run(NUMBERS);
        self.run("commit");
    }

    fn read<R: Row>(&self) -> Table<R> {
        let quoted: Vec<String> = R::COLUMNS.iter().map(|column| format!("\"{column}\"")).collect();
        let sql = format!("select {} from {}", quoted.join(", "), name::<R>());
        let found = self.runtime.block_on(self.db.query(&sql, &[]));
        let mut table = Table::default();
        for row in found.expect("the model's columns are those of the schema") {
            let row = value::row(&row).expect("the schema has no types but ours");
            let cells: Vec<Cell> = row.0.into_iter().map(cell).collect();
            table.put(R::read(&cells).expect("the model's types are those of the schema"));
        }
        table
    }

    fn write<R: Row>(&self, table: &Table<R>) {
        self.run(&format!("delete from {}", name::<R>()));
        let names: Vec<String> = R::COLUMNS.iter().map(|column| format!("\"{column}\"")).collect();
        let marks: Vec<String> = (1..=names.len()).map(|at| format!("${at}")).collect();
        let sql = format!("insert into {} ({}) values ({})", name::<R>(), names.join(", "), marks.join(", "));
        for row in table.values() {
            let cells = row.cells();
            let args: Vec<Arg<'_>> = cells.iter().map(arg).collect();
            let args: Vec<&(dyn ToSql + Sync)> = args.iter().map(|arg| arg as _).collect();
            self.runtime.block_on(self.db.execute(&sql, &args)).expect("the model's rows fit the schema");
        }
    }

    fn setting(&self, name: &str) -> String {
        let sql = "select value from hookonce.setting where name = $1";
        let row = self.runtime.block_on(self.db.query_opt(sql, &[&name])).expect("a setting can be read");
        row.map(|row| String::from_utf8_lossy(row.get(0)).into_owned()).unwrap_or_default()
    }

    fn in_force(&self) -> Vec<(i64, i64)> {
        let pair = |pair: &str| pair.split_once(':').and_then(|(id, row)| Some((id.parse().ok()?, row.parse().ok()?)));
        self.setting("config").split(',').filter_map(pair).collect()
    }

    fn run(&self, sql: &str) {
        let done = self.runtime.block_on(self.db.batch_execute(sql));
        done.unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

/// Behind what stands in the tables now.
const NUMBERS: &str = "
    select setval('hookonce.number', greatest((select last_value from hookonce.number),
        (select max(id) from hookonce.event), (select max(id) from hookonce.payload),
        (select max(id) from hookonce.request), (select max(id) from hookonce.unmapped)), true)
        where exists (select 1 from hookonce.event) or exists (select 1 from hookonce.request);
    select setval('hookonce.requeue_id_seq', (select max(id) from hookonce.requeue))
        where exists (select 1 from hookonce.requeue);
    select setval('hookonce.tally_id_seq', (select max(id) from hookonce.tally))
        where exists (select 1 from hookonce.tally)";

fn name<R: Row>() -> String {
    let inbox = if R::NAME == "audit" && matches!(R::FILE, File::Inbox) { "inbox_" } else { "" };
    format!("hookonce.{inbox}{}", R::NAME)
}

fn tally(rows: &Rows) -> std::collections::BTreeMap<(String, String), i64> {
    let mut sums = std::collections::BTreeMap::new();
    for row in rows.tally.values() {
        let counts: Vec<(String, String, i64)> = serde_json::from_str(&row.counts).expect("counts are a list");
        for (source, verdict, n) in counts {
            *sums.entry((source, verdict)).or_insert(0) += n;
        }
    }
    sums
}

fn cell(value: Value) -> Cell {
    match value {
        Value::Null => Cell::Null,
        Value::Int(n) => Cell::Int(n),
        Value::Text(text) => Cell::Text(text),
        Value::Blob(bytes) => Cell::Blob(bytes),
    }
}

fn arg(cell: &Cell) -> Arg<'_> {
    match cell {
        Cell::Null => Arg::Null,
        Cell::Int(n) => Arg::Int(*n),
        Cell::Text(text) => Arg::Text(text),
        Cell::Blob(bytes) => Arg::Blob(bytes),
    }
}
