//! Rows and columns, and their five forms.

use hookonce_core::time::Micros;
use serde_json::{Map, Value, json};

use super::Format;
use super::escape;
use super::time::{ago, rfc3339};

/// The first column is the id.
#[derive(Clone, Debug)]
pub struct Listing {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

#[derive(Clone, Debug)]
pub struct Column {
    name: String,
    shown: bool,
}

impl Column {
    pub fn shown(name: &str) -> Column {
        Column { name: name.to_owned(), shown: true }
    }

    /// For programs only.
    pub fn machine(name: &str) -> Column {
        Column { name: name.to_owned(), shown: false }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    Text(String),
    Number(i64),
    Time(Micros),
    Flag(bool),
    List(Vec<String>),
    Empty,
}

impl Cell {
    pub fn text(text: impl Into<String>) -> Cell {
        Cell::Text(text.into())
    }

    pub fn maybe(text: Option<impl Into<String>>) -> Cell {
        text.map_or(Cell::Empty, |t| Cell::Text(t.into()))
    }

    fn human(&self, now: Micros) -> String {
        match self {
            Cell::Time(at) => ago(*at, now),
            Cell::Empty => "-".to_owned(),
            other => escape::line(&other.machine()),
        }
    }

    fn machine(&self) -> String {
        match self {
            Cell::Text(text) => text.clone(),
            Cell::Number(n) => n.to_string(),
            Cell::Time(at) => rfc3339(*at),
            Cell::Flag(flag) => if *flag { "yes" } else { "no" }.to_owned(),
            Cell::List(list) => list.join(", "),
            Cell::Empty => String::new(),
        }
    }

    fn json(&self) -> Value {
        match self {
            Cell::Text(text) => json!(text),
            Cell::Number(n) => json!(n),
            Cell::Time(at) => json!(rfc3339(*at)),
            Cell::Flag(flag) => json!(flag),
            Cell::List(list) => json!(list),
            Cell::Empty => Value::Null,
        }
    }

    /// RFC 4180. A spreadsheet would run a text that begins like a formula; a quote in front keeps it a text.
    fn csv(&self) -> String {
        let text = match self {
            Cell::Text(text) if text.starts_with(['=', '+', '-', '@', '\t', '\r']) => format!("'{text}"),
            other => other.machine(),
        };
        if text.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
    }
}

impl Listing {
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Listing {
        Listing { columns: columns.into_iter().collect(), rows: Vec::new() }
    }

    pub fn push(&mut self, row: Vec<Cell>) {
        debug_assert_eq!(row.len(), self.columns.len());
        self.rows.push(row);
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// One object as a listing of one row, for the flat formats.
    pub fn of_object(value: &Value) -> Listing {
        let empty = Map::new();
        let members = value.as_object().unwrap_or(&empty);
        let cell = |value: &Value| match value {
            Value::Null => Cell::Empty,
            Value::Bool(flag) => Cell::Flag(*flag),
            Value::String(text) => Cell::Text(text.clone()),
            Value::Number(n) if n.is_i64() => Cell::Number(n.as_i64().unwrap_or_default()),
            other => Cell::Text(other.to_string()),
        };
        Listing {
            columns: members.keys().map(|name| Column::shown(name)).collect(),
            rows: vec![members.values().map(cell).collect()],
        }
    }

    pub fn text(&self, format: Format, now: Micros) -> String {
        match format {
            Format::Table => self.table(now),
            Format::Json => {
                format!("{}\n", escape::json(&Value::from_iter(self.rows.iter().map(|r| self.object(r))).to_string()))
            }
            Format::Jsonl => {
                self.rows.iter().map(|r| format!("{}\n", escape::json(&self.object(r).to_string()))).collect()
            }
            Format::Csv => self.csv(),
            Format::Id => self
                .rows
                .iter()
                .filter_map(|r| r.first())
                .map(|c| format!("{}\n", escape::line(&c.machine())))
                .collect(),
        }
    }

    fn object(&self, row: &[Cell]) -> Value {
        Value::Object(self.columns.iter().zip(row).map(|(c, cell)| (c.name.clone(), cell.json())).collect())
    }

    fn table(&self, now: Micros) -> String {
        let mut table = comfy_table::Table::new();
        table.load_style(comfy_table::presets::NOTHING);
        let shown = |row: &[String]| -> Vec<String> {
            self.columns.iter().zip(row).filter(|(c, _)| c.shown).map(|(_, text)| text.clone()).collect()
        };
        let names: Vec<String> = self.columns.iter().map(|c| c.name.replace('_', " ").to_uppercase()).collect();
        table.set_header(shown(&names));
        for row in &self.rows {
            table.add_row(shown(&row.iter().map(|c| c.human(now)).collect::<Vec<_>>()));
        }
        for column in table.column_iter_mut() {
            column.set_padding((0, 2));
        }
        table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
    }

    fn csv(&self) -> String {
        let line = |cells: Vec<String>| format!("{}\r\n", cells.join(","));
        let header = line(self.columns.iter().map(|c| Cell::text(c.name.as_str()).csv()).collect());
        let rows = self.rows.iter().map(|r| line(r.iter().map(Cell::csv).collect()));
        std::iter::once(header).chain(rows).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Listing {
        let mut listing = Listing::new([Column::shown("id"), Column::shown("seen_at"), Column::machine("note")]);
        listing.push(vec![Cell::text("evt_1"), Cell::Time(0), Cell::text("=1+1, \"x\"")]);
        listing.push(vec![Cell::text("e\u{1b}[2J\n"), Cell::Empty, Cell::Empty]);
        listing
    }

    #[test]
    fn the_five_forms() {
        let now = 5_000_000;
        for (format, expect) in [
            (Format::Table, "ID            SEEN AT\nevt_1         5s\ne\\u{1b}[2J\\n  -\n"),
            (
                Format::Jsonl,
                "{\"id\":\"evt_1\",\"seen_at\":\"1970-01-01T00:00:00Z\",\"note\":\"=1+1, \\\"x\\\"\"}\n{\"id\":\"e\\u001b[2J\\n\",\"seen_at\":null,\"note\":null}\n",
            ),
            (
                Format::Csv,
                "id,seen_at,note\r\nevt_1,1970-01-01T00:00:00Z,\"'=1+1, \"\"x\"\"\"\r\n\"e\u{1b}[2J\n\",,\r\n",
            ),
            (Format::Id, "evt_1\ne\\u{1b}[2J\\n\n"),
        ] {
            assert_eq!(sample().text(format, now), expect);
        }
        let json: Value = serde_json::from_str(&sample().text(Format::Json, now)).expect("valid");
        assert_eq!(json[1]["id"], "e\u{1b}[2J\n");
    }
}
