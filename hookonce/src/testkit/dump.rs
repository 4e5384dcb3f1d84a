//! All tables in normal form: one line a row, numbers renamed by first appearance, so that two stores that drew
//! different numbers for the same things say the same.
//!
//! Left out is what names a process or a machine (node, owner), what is drawn at random (a token shows only as set),
//! and the texts of definitions, which every store may write in its own way.

use std::collections::BTreeMap;

use super::model::Rows;
use super::model::table::{Cell, Row, Table};
use crate::each_table;

/// Columns that say nothing about what happened.
const LEFT_OUT: &[&str] = &["node", "owner", "definition", "prev", "hash"];

/// The dump, a line a row.
pub fn dump(rows: &Rows) -> Vec<String> {
    let mut names = Names::default();
    let mut lines = Vec::new();
    // Events first: then their names follow the log and not the digests.
    table(&rows.event, &mut names, &mut lines);
    macro_rules! one {
        (event) => {};
        (tally) => {};
        ($table:ident) => {
            table(&rows.$table, &mut names, &mut lines);
        };
    }
    each_table!(one);
    lines.extend(rows.counters.tally.iter().map(|((source, verdict), n)| format!("tally {source} {verdict} {n}")));
    lines
}

/// What one dump says and the other does not; empty: they agree.
pub fn differences(left: &[String], right: &[String]) -> Vec<String> {
    let missing = |from: &[String], of: &[String], mark: &str| -> Vec<String> {
        let mut left_over: Vec<&String> = of.iter().collect();
        let mut found = Vec::new();
        for line in from {
            match left_over.iter().position(|other| *other == line) {
                Some(at) => drop(left_over.remove(at)),
                None => found.push(format!("{mark} {line}")),
            }
        }
        found
    };
    let mut all = missing(left, right, "-");
    all.extend(missing(right, left, "+"));
    all
}

fn table<R: Row>(rows: &Table<R>, names: &mut Names, lines: &mut Vec<String>) {
    for row in rows.values() {
        let cells = R::COLUMNS.iter().zip(row.cells()).filter(|(column, _)| !LEFT_OUT.contains(column));
        let cells = cells.filter_map(|(column, cell)| {
            let text = names.cell(R::NAME, column, &cell)?;
            Some(format!(" {column}={text}"))
        });
        lines.push(format!("{}{}", R::NAME, cells.collect::<String>()));
    }
}

/// The names given so far: for each kind of number what stands for it.
#[derive(Default)]
struct Names(BTreeMap<(&'static str, i64), usize>);

impl Names {
    /// `None`: null, which needs no words.
    fn cell(&mut self, table: &str, column: &str, cell: &Cell) -> Option<String> {
        Some(match cell {
            Cell::Null => return None,
            Cell::Int(n) => match kind(table, column, *n) {
                Some(kind) => self.number(kind, *n),
                None => n.to_string(),
            },
            Cell::Text(text) if column == "consumers" => self.list(text),
            Cell::Text(text) if is_target(table, column) => "…".repeat(text.len().min(1)),
            Cell::Text(text) => format!("{text:?}"),
            Cell::Blob(_) if column == "token" => "set".to_owned(),
            Cell::Blob(bytes) => blob(bytes),
        })
    }

    fn number(&mut self, kind: &'static str, n: i64) -> String {
        if n == 0 {
            return "0".to_owned();
        }
        let next = self.0.keys().filter(|(k, _)| *k == kind).count() + 1;
        format!("{kind}{}", self.0.entry((kind, n)).or_insert(next))
    }

    fn list(&mut self, text: &str) -> String {
        let ids = super::model::route::ids(text);
        ids.iter().map(|id| self.number("c", *id)).collect::<Vec<_>>().join(",")
    }
}

/// The target of an audit row is a number in words: which one, the rest of the row says.
fn is_target(table: &str, column: &str) -> bool {
    table == "audit" && column == "target"
}

/// What a number names; `None`: it is a quantity.
fn kind(table: &str, column: &str, n: i64) -> Option<&'static str> {
    match (table, column) {
        ("event", "id") | (_, "event" | "parent") | ("pass", "pos") | ("consumer", "from_pos") => Some("e"),
        ("payload", "id") | (_, "payload") => Some("p"),
        ("request" | "unmapped", "id") => Some("r"),
        ("sample", "id") => Some("s"),
        (_, "lane") if n < 0 => Some("lane"),
        ("delivery" | "work" | "halted", "id" | "seq" | "lane") | (_, "delivery") | ("pass", "seq") => Some("d"),
        ("consumer", "id") | (_, "consumer" | "own") => Some("c"),
        ("consumer", "number") | ("pass", "config") => Some("config"),
        ("audit", "id") | (_, "decided") => Some("a"),
        ("requeue", "id") => Some("q"),
        ("pass", "n") => Some("n"),
        (_, "rule") | ("rule", "number") => Some("rule"),
        _ => None,
    }
}

fn blob(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if bytes.len() < 100 => format!("{text:?}"),
        _ => bytes.iter().take(8).map(|b| format!("{b:02x}")).collect(),
    }
}
