//! Reads one table of the tree key by key and complains about what is left over. Every getter notes its key as known,
//! so the list of known keys cannot drift from what is read. Start at [`Section`].

use std::cell::RefCell;

use hookonce_core::time::Micros;

use super::code::Code;
use super::near;
use super::place::Place;
use super::problem::Problems;
use super::tree::{self, Entry, Node, Table, Value};
use super::units::{self, DayEnd};

/// A value together with where it was written and what may be repeated of it in a message.
#[derive(Clone, Debug)]
pub struct Written<T> {
    pub value: T,
    pub at: Place,
    pub shown: String,
}

pub struct Section<'a> {
    /// As a person writes it: `sources.billing`.
    pub name: String,
    pub at: Place,
    table: &'a Table,
    problems: &'a Problems,
    known: RefCell<Vec<&'static str>>,
}

impl<'a> Section<'a> {
    pub fn new(name: impl Into<String>, at: &Place, table: &'a Table, problems: &'a Problems) -> Section<'a> {
        Section { name: name.into(), at: at.clone(), table, problems, known: RefCell::default() }
    }

    pub fn problems(&self) -> &'a Problems {
        self.problems
    }

    pub fn has(&self, key: &str) -> bool {
        self.table.0.contains_key(key)
    }

    /// Whether the key, or a mistyped one that probably means it, is written: who wrote `secrt` hears about the
    /// letters, and not that there is no secret besides.
    pub fn perhaps(&self, key: &str) -> bool {
        self.table.0.keys().any(|name| near::nearest(name, [key]).is_some())
    }

    pub fn entry(&self, key: &'static str) -> Option<&'a Entry> {
        let mut known = self.known.borrow_mut();
        if !known.contains(&key) {
            known.push(key);
        }
        self.table.0.get(key)
    }

    /// Entries whose names the user chose: sources, bindings, options.
    pub fn entries(&self) -> impl Iterator<Item = (&'a str, &'a Entry)> {
        self.table.0.iter().map(|(name, entry)| (name.as_str(), entry))
    }

    pub fn text(&self, key: &'static str) -> Option<Written<String>> {
        let node = &self.entry(key)?.node;
        self.text_of(key, node)
    }

    pub fn text_of(&self, key: &str, node: &Node) -> Option<Written<String>> {
        match &node.value {
            Value::Text { text, shown } => {
                Some(Written { value: text.clone(), at: node.at.clone(), shown: shown.clone() })
            }
            other => self.wrong(key, node, "a text in quotes", other.noun()),
        }
    }

    /// A text that must say something.
    pub fn filled(&self, key: &'static str) -> Option<Written<String>> {
        self.text(key).and_then(|text| self.not_blank(key, text))
    }

    fn not_blank(&self, key: &str, text: Written<String>) -> Option<Written<String>> {
        if text.value.trim().is_empty() {
            self.bad(&text.at, format!("`{key}` is blank"), "write a value or remove the line");
            return None;
        }
        Some(text)
    }

    pub fn texts(&self, key: &'static str) -> Option<Vec<Written<String>>> {
        let node = typed(&self.entry(key)?.node);
        match &node.value {
            Value::List(list) => {
                Some(list.iter().filter_map(|n| self.text_of(key, n)).filter_map(|t| self.not_blank(key, t)).collect())
            }
            other => self.wrong(key, &node, "a list of texts: `[\"…\", \"…\"]`", other.noun()),
        }
    }

    pub fn flag(&self, key: &'static str) -> Option<bool> {
        let node = typed(&self.entry(key)?.node);
        match &node.value {
            Value::Flag(flag) => Some(*flag),
            other => self.wrong(key, &node, "`true` or `false`, without quotes", other.noun()),
        }
    }

    pub fn integer(&self, key: &'static str, least: i64, most: i64) -> Option<Written<i64>> {
        let node = typed(&self.entry(key)?.node);
        match &node.value {
            Value::Integer(Some(n)) if (least..=most).contains(n) => {
                Some(Written { value: *n, at: node.at.clone(), shown: n.to_string() })
            }
            Value::Integer(_) => {
                self.bad(&node.at, format!("`{key}` is out of range"), format!("from {least} to {most}"));
                None
            }
            other => self.wrong(key, &node, "a whole number, without quotes", other.noun()),
        }
    }

    pub fn duration(&self, key: &'static str) -> Option<Written<Micros>> {
        self.measured(key, units::duration, units::DURATION_FORM)
    }

    /// A duration that must not be zero: a time-out of nothing never lets anything through.
    pub fn some_time(&self, key: &'static str) -> Option<Written<Micros>> {
        let time = self.duration(key)?;
        if time.value == 0 {
            self.bad(&time.at, format!("`{key}` must not be zero"), units::DURATION_FORM);
            return None;
        }
        Some(time)
    }

    pub fn size(&self, key: &'static str) -> Option<Written<u64>> {
        self.measured(key, units::size, units::SIZE_FORM)
    }

    /// TOML has dates of its own, without quotes; both are taken.
    pub fn instant(&self, key: &'static str, end: DayEnd) -> Option<Micros> {
        let node = &self.entry(key)?.node;
        let text = match &node.value {
            Value::Instant(text) | Value::Text { text, .. } => text,
            other => return self.wrong(key, node, "a date", other.noun()),
        };
        let at = units::instant(text, end);
        if at.is_none() {
            self.bad(&node.at, format!("`{key}` is no date: `{text}`"), units::INSTANT_FORM);
        }
        at
    }

    fn measured<T>(&self, key: &'static str, read: fn(&str) -> Option<T>, form: &str) -> Option<Written<T>> {
        let entry = self.entry(key)?;
        if let Value::Integer(_) = entry.node.value {
            self.problems.error(Code::WrongType, &entry.node.at, format!("`{key}` has no unit"), form);
            return None;
        }
        let text = self.text_of(key, &entry.node)?;
        match read(&text.value) {
            Some(value) => Some(Written { value, at: text.at, shown: text.shown }),
            None => {
                self.bad(&text.at, format!("`{key}` is not understood: `{}`", text.shown), form);
                None
            }
        }
    }

    /// One of a few words.
    pub fn choice<T: Copy>(&self, key: &'static str, choices: &[(&'static str, T)]) -> Option<Written<T>> {
        let text = self.text(key)?;
        match choices.iter().find(|(word, _)| *word == text.value) {
            Some((_, value)) => Some(Written { value: *value, at: text.at, shown: text.shown }),
            None => {
                let words = choices.iter().map(|(word, _)| *word);
                let hint = format!("one of {}", near::list(words.clone()));
                let hint = match near::nearest(&text.value, words) {
                    Some(word) => format!("did you mean `{word}`? {hint}"),
                    None => hint,
                };
                self.bad(&text.at, format!("`{key}` cannot be `{}`", text.shown), hint);
                None
            }
        }
    }

    pub fn section(&self, key: &'static str) -> Option<Section<'a>> {
        let entry = self.entry(key)?;
        self.section_of(key, &entry.node)
    }

    pub fn section_of(&self, key: &str, node: &'a Node) -> Option<Section<'a>> {
        match &node.value {
            Value::Table(table) => Some(Section::new(self.path(key), &node.at, table, self.problems)),
            other => self.wrong(key, node, "a table: `{ … }`", other.noun()),
        }
    }

    fn path(&self, key: &str) -> String {
        if self.name.is_empty() { key.to_owned() } else { format!("{}.{key}", self.name) }
    }

    pub fn bad(&self, at: &Place, text: impl Into<String>, hint: impl Into<String>) {
        self.problems.error(Code::BadValue, at, text, hint);
    }

    pub fn wrong<T>(&self, key: &str, node: &Node, wanted: &str, found: &str) -> Option<T> {
        if matches!(node.value, Value::Broken) {
            return None;
        }
        self.problems.error(Code::WrongType, &node.at, format!("`{key}` must be {wanted}"), format!("this is {found}"));
        None
    }

    /// To be called when everything has been asked for: what nobody asked for is a mistake.
    pub fn finish(&self) {
        let known = self.known.borrow();
        for (name, entry) in self.entries().filter(|(name, _)| !known.contains(name)) {
            let near = near::nearest(name, known.iter().copied());
            // `secret = { "…" }`: what stands in the place of a key here is most often the secret.
            let hidden = near.is_none() && [".secret", ".secrets", ".sign"].iter().any(|s| self.name.ends_with(s));
            let text = match hidden {
                true => format!("unknown key in `[{}]`", self.name),
                false => format!("unknown key `{name}` in `[{}]`", self.name),
            };
            let hint = match (&entry.key_at, near) {
                (Place::Env(variable), Some(near)) => format!("did you mean `{}`?", respelt(variable, near)),
                (_, Some(near)) => format!("did you mean `{near}`?"),
                (_, None) => format!("known: {}", near::list(known.iter().copied())),
            };
            let code = if matches!(entry.key_at, Place::Env(_)) { Code::UnknownVariable } else { Code::UnknownKey };
            self.problems.error(code, &entry.key_at, text, hint);
        }
    }
}

/// A variable with its last part exchanged.
fn respelt(variable: &str, key: &str) -> String {
    let stem = variable.rsplit_once("__").map_or(variable, |(stem, _)| stem);
    format!("{stem}__{}", key.to_uppercase())
}

/// Variables and flags carry texts only; where another type is wanted they are read as TOML.
fn typed(node: &Node) -> Node {
    match (&node.at, &node.value) {
        (Place::Env(_) | Place::Flag(_), Value::Text { text, .. }) => {
            tree::parse_value(text, &node.at).map_or_else(|| node.clone(), |value| Node { at: node.at.clone(), value })
        }
        _ => node.clone(),
    }
}
