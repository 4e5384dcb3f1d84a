//! Rules of the house that no compiler checks: sizes, words, marks, sleeps, SQL headers. Each names file and line.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::dialect;
use crate::run::{output, root};

/// Lines of a file of Rust. Flat data tables are exempt by name.
const FILE_LINES: usize = 600;
const FLAT_DATA: &[&str] = &["core/src/signature/catalog.rs"];
/// Words that say how the project was made, not what it is.
const FOREIGN: &[&str] = &["/work/", "crates.io", "registry.npmjs", "pypi.org", "deb.debian.org"];
/// Marks of unfinished work, spelled apart so that this file does not find itself.
const MARKS: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X:"), concat!("#[ig", "nore")];
const SLEEPS: &[&str] = &[concat!("thread::", "sleep("), concat!("time::", "sleep(")];

struct Line<'a> {
    file: &'a str,
    number: usize,
    text: &'a str,
}

type Rule = fn(&Line<'_>) -> Option<&'static str>;

const RULES: &[Rule] = &[no_mark, no_foreign_word, no_sleep_in_tests, no_allowed_unsafe];

pub fn run() -> Result<()> {
    let mut found = Vec::new();
    let files = output("git", &["ls-files", "--cached", "--others", "--exclude-standard"])?;
    for file in files.lines().filter(|f| root().join(f).is_file()) {
        check(file, &mut found)?;
    }
    if found.is_empty() {
        eprintln!("tidy: nothing to say");
        return Ok(());
    }
    bail!("{}", found.join("\n"));
}

fn check(file: &str, found: &mut Vec<String>) -> Result<()> {
    let path: PathBuf = root().join(file);
    if is_data(&path) {
        return Ok(());
    }
    let Ok(text) = fs::read_to_string(&path) else { return Ok(()) };
    let lines = text.lines().count();
    if file.ends_with(".rs") && lines > FILE_LINES && !FLAT_DATA.contains(&file) {
        found.push(format!("{file}: {lines} lines, the limit is {FILE_LINES}"));
    }
    if file.ends_with(".sql") && !text.starts_with("-- ") {
        found.push(format!("{file}:1: the first line says why this statement is as it is"));
    }
    if file.ends_with(".sql") && file.contains("/postgres/") {
        found.extend(dialect::check(file, &text));
    }
    for (at, text) in text.lines().enumerate() {
        let line = Line { file, number: at + 1, text };
        for says in RULES.iter().filter_map(|rule| rule(&line)) {
            found.push(format!("{}:{}: {says}", line.file, line.number));
        }
    }
    Ok(())
}

/// Lock files name registries, vectors are other people's bytes.
fn is_data(path: &Path) -> bool {
    let name = path.to_string_lossy();
    ["Cargo.lock", "package-lock.json", "deny.toml", "tidy.rs"].iter().any(|end| name.ends_with(end))
        || name.contains("/vectors/")
}

fn no_mark(line: &Line<'_>) -> Option<&'static str> {
    MARKS.iter().any(|m| line.text.contains(m)).then_some("a mark of unfinished work")
}

fn no_foreign_word(line: &Line<'_>) -> Option<&'static str> {
    FOREIGN.iter().any(|w| line.text.contains(w)).then_some("names a place that is not the project's")
}

fn no_sleep_in_tests(line: &Line<'_>) -> Option<&'static str> {
    let test = line.file.contains("/tests/") && line.file.ends_with(".rs");
    (test && SLEEPS.iter().any(|s| line.text.contains(s))).then_some("a test that sleeps: wait for a signal instead")
}

fn no_allowed_unsafe(line: &Line<'_>) -> Option<&'static str> {
    (line.file.ends_with(".rs") && line.text.contains("allow(unsafe_code"))
        .then_some("unsafe is forbidden in every crate")
}
