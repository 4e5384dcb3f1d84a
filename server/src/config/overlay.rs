//! Puts variables (`HOOKONCE__SECTION__KEY`) and flags over what the files say. Only names with the double underscore
//! are ours; one of them that maps to nothing is an error, because the environment is the usual silent hole.

use super::code::Code;
use super::near;
use super::place::Place;
use super::problem::Problems;
use super::reading::Flags;
use super::tree::{Entry, Node, Table, Value};

pub const SECTIONS: [&str; 6] = ["store", "ingest", "admin", "sources", "consumers", "outlets"];
const PREFIX: &str = "HOOKONCE__";

pub fn apply(tree: &mut Table, flags: &Flags, problems: &Problems) {
    for (name, value) in flags.env.iter().filter(|(name, _)| name.starts_with(PREFIX)) {
        let at = Place::Env(name.to_owned());
        let path: Vec<String> = name[PREFIX.len()..].split("__").map(str::to_lowercase).collect();
        if let Some(path) = known_path(tree, &path, &at, problems) {
            set(tree, &path, &at, value);
        }
    }
    for (flag, path, value) in &flags.set {
        let path: Vec<String> = path.split('.').map(str::to_owned).collect();
        set(tree, &path, &Place::Flag(flag), value);
    }
}

/// The path with user-chosen names spelt as the files spell them: a variable cannot carry `-` or case.
fn known_path(tree: &Table, path: &[String], at: &Place, problems: &Problems) -> Option<Vec<String>> {
    let unknown = |text: String, hint: String| {
        problems.error(Code::UnknownVariable, at, text, hint);
        None
    };
    let (section, rest) = path.split_first()?;
    if !SECTIONS.contains(&section.as_str()) {
        let variable = |s: &str| format!("`{PREFIX}{}__…`", s.to_uppercase());
        let hint = match near::nearest(section, SECTIONS) {
            Some(near) => format!("did you mean {}?", variable(near)),
            None => format!("known: {}", SECTIONS.map(variable).join(", ")),
        };
        return unknown(format!("there is no section `{section}`"), hint);
    }
    let named = matches!(section.as_str(), "sources" | "consumers" | "outlets");
    let wanted = if named { 2 } else { 1 };
    if rest.len() < wanted || rest.iter().any(String::is_empty) {
        let form = if named { "__NAME__KEY" } else { "__KEY" };
        return unknown(
            "the variable names no setting".to_owned(),
            format!("write `{PREFIX}{}{form}`", section.to_uppercase()),
        );
    }
    let mut path = path.to_vec();
    if named {
        let names: Vec<&str> = table(tree, section).map_or_else(Vec::new, |t| t.0.keys().map(String::as_str).collect());
        let Some(name) = names.iter().find(|n| as_variable(n) == as_variable(&rest[0])) else {
            let hint = match near::nearest(&rest[0], names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "a variable changes a setting of what a file names; it does not add one".to_owned(),
            };
            return unknown(format!("there is no `{}` in `[{section}]`", rest[0]), hint);
        };
        path[1] = (*name).to_owned();
    }
    Some(path)
}

fn as_variable(name: &str) -> String {
    name.to_lowercase().replace(['-', '.'], "_")
}

fn table<'a>(tree: &'a Table, name: &str) -> Option<&'a Table> {
    match &tree.0.get(name)?.node.value {
        Value::Table(table) => Some(table),
        _ => None,
    }
}

fn set(tree: &mut Table, path: &[String], at: &Place, value: &str) {
    let Some((name, rest)) = path.split_first() else { return };
    if rest.is_empty() {
        let value = Value::Text { text: value.to_owned(), shown: value.to_owned() };
        tree.0.insert(name.clone(), Entry { key_at: at.clone(), node: Node { at: at.clone(), value } });
        return;
    }
    let empty = || Entry { key_at: at.clone(), node: Node { at: at.clone(), value: Value::Table(Table::default()) } };
    let entry = tree.0.entry(name.clone()).or_insert_with(empty);
    // `secret = "…"` in the file, `…__SECRET__ENV` in the environment: the variable wins as a whole.
    if !matches!(entry.node.value, Value::Table(_)) {
        *entry = empty();
    }
    if let Value::Table(table) = &mut entry.node.value {
        set(table, rest, at, value);
    }
}
