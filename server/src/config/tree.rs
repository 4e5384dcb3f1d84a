//! What was written: one tree over all files, variables and flags in which every value and key knows its place.
//! Not here: what it means (`section` reads it, the modules per concern judge it). Start at [`parse`].

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::code::Code;
use super::environment::Environment;
use super::place::{Place, SourceFile, spoken};
use super::problem::{Problem, Problems};
use super::substitute::substituted;

#[derive(Clone, Debug)]
pub struct Node {
    pub at: Place,
    pub value: Value,
}

#[derive(Clone, Debug)]
pub enum Value {
    /// `shown` is what may be repeated in a message: the text as written, before `${…}` was filled in.
    Text {
        text: String,
        shown: String,
    },
    Integer(Option<i64>),
    Float,
    Flag(bool),
    Instant(String),
    List(Vec<Node>),
    Table(Table),
    /// What it would be has been reported already; whoever asks for it hears nothing more.
    Broken,
}

#[derive(Clone, Debug, Default)]
pub struct Table(pub BTreeMap<String, Entry>);

#[derive(Clone, Debug)]
pub struct Entry {
    pub key_at: Place,
    pub node: Node,
}

impl Value {
    pub fn noun(&self) -> &'static str {
        match self {
            Value::Text { .. } => "a text",
            Value::Integer(_) => "a whole number",
            Value::Float => "a decimal number",
            Value::Flag(_) => "true or false",
            Value::Instant(_) => "a date",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
            Value::Broken => "nothing",
        }
    }
}

/// Parses one file. Lines that are no TOML are reported; the rest of the file is still read, so that one slip does not
/// hide the next ones.
pub fn parse(file: usize, text: &str, env: &Environment, problems: &Problems) -> Table {
    let (root, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let span = error.span().unwrap_or(0..0);
        problems.add(syntax(file, text, span, error.message()));
    }
    Reading { file, env, problems }.table(root.get_ref())
}

/// `toml` words its errors for programmers; the one that people meet most gets a sentence of its own.
fn syntax(file: usize, text: &str, span: std::ops::Range<usize>, message: &str) -> Problem {
    let at = Place::File { file, span: span.clone() };
    if message.starts_with("duplicate key") {
        let name = text.get(span).unwrap_or_default().trim();
        return Problem::error(Code::SetTwice, &at, format!("`{name}` is set twice")).hint("remove one of the two");
    }
    Problem::error(Code::Syntax, &at, format!("this is not TOML: {}", message.trim_end_matches(", expected nothing")))
        .hint("texts stand in quotes, keys and values are joined by `=`, see https://toml.io")
}

/// A value from a variable or a flag, read as TOML where its setting is not a text (`8`, `true`, `["a"]`).
pub fn parse_value(text: &str, at: &Place) -> Option<Value> {
    let value = DeValue::parse(text).ok()?;
    let (env, problems) = (Environment::default(), Problems::default());
    let mut node = Reading { file: 0, env: &env, problems: &problems }.node(&value);
    place_all(&mut node, at);
    Some(node.value)
}

fn place_all(node: &mut Node, at: &Place) {
    node.at = at.clone();
    match &mut node.value {
        Value::List(list) => list.iter_mut().for_each(|n| place_all(n, at)),
        Value::Table(table) => table.0.values_mut().for_each(|e| {
            e.key_at = at.clone();
            place_all(&mut e.node, at);
        }),
        _ => {}
    }
}

struct Reading<'a> {
    file: usize,
    env: &'a Environment,
    problems: &'a Problems,
}

impl Reading<'_> {
    fn place<T>(&self, spanned: &Spanned<T>) -> Place {
        Place::File { file: self.file, span: spanned.span() }
    }

    fn table(&self, table: &DeTable<'_>) -> Table {
        let entry = |(key, value): (&Spanned<std::borrow::Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
            (key.get_ref().to_string(), Entry { key_at: self.place(key), node: self.node(value) })
        };
        Table(table.iter().map(entry).collect())
    }

    fn node(&self, value: &Spanned<DeValue<'_>>) -> Node {
        let at = self.place(value);
        let value = match value.get_ref() {
            DeValue::String(text) => self.text(text, &at),
            DeValue::Integer(digits) => {
                Value::Integer(i64::from_str_radix(&digits.as_str().replace('_', ""), digits.radix()).ok())
            }
            DeValue::Float(_) => Value::Float,
            DeValue::Boolean(flag) => Value::Flag(*flag),
            DeValue::Datetime(instant) => Value::Instant(instant.to_string()),
            DeValue::Array(list) => Value::List(list.iter().map(|v| self.node(v)).collect()),
            DeValue::Table(table) => Value::Table(self.table(table)),
        };
        Node { at, value }
    }

    fn text(&self, text: &str, at: &Place) -> Value {
        match substituted(text, self.env) {
            Ok(filled) => Value::Text { text: filled, shown: repeatable(text) },
            Err(missing) => {
                self.problems.add(missing.problem(at, self.env));
                Value::Broken
            }
        }
    }
}

/// What a message may repeat of a text: its first line, where its end is missing the next ones are not its own.
fn repeatable(text: &str) -> String {
    match text.split_once('\n') {
        Some((first, _)) => format!("{first}…"),
        None => text.to_owned(),
    }
}

/// Puts `more` into `into`. Tables grow together; a value that stands in both files is an error that names both places.
pub fn merge(into: &mut Table, more: Table, files: &[SourceFile], problems: &Problems) {
    for (name, entry) in more.0 {
        match into.0.get_mut(&name) {
            None => {
                into.0.insert(name, entry);
            }
            Some(old) => match (&mut old.node.value, entry.node.value) {
                (Value::Table(old), Value::Table(new)) => merge(old, new, files, problems),
                _ => problems.add(
                    Problem::error(Code::SetTwice, &entry.key_at, format!("`{name}` is set twice"))
                        .also(&old.key_at, "first set here")
                        .hint(format!("it is set at {} already; remove one of the two", spoken(&old.key_at, files))),
                ),
            },
        }
    }
}
