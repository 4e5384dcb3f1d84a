//! `[store]`: the two files of SQLite, or a database of PostgreSQL.

use std::path::{Path, PathBuf};

use super::address::{self, Address};
use super::code::Code;
use super::meant::{Postgres, Store};
use super::not_built;
use super::place::Place;
use super::problem::{Problem, Severity};
use super::reading::Reading;
use super::section::{Section, Written};

const FILE: &str = "hookonce.db";
/// Where the password of a database stands if its url has none, as for every other client of PostgreSQL.
pub const PASSWORD: &str = "PGPASSWORD";
const SCHEMA: &str = "hookonce";
/// `sslrootcert`: the public ones.
const SYSTEM: &str = "system";

pub fn store(section: Option<&Section<'_>>, reading: &Reading<'_>) -> Store {
    let written = section.and_then(|s| {
        let url = s.filled("url");
        s.finish();
        url.and_then(|url| named(s, &url, reading))
    });
    written.unwrap_or_else(|| files(reading.beside(FILE)))
}

fn named(section: &Section<'_>, url: &Written<String>, reading: &Reading<'_>) -> Option<Store> {
    match url.value.split_once(':') {
        Some(("postgres" | "postgresql", _)) => database(section, url, reading).map(Store::Postgres),
        Some(("sqlite", path)) => sqlite_path(section, url, path, reading).map(files),
        _ => {
            let text = "the store's url begins neither with `sqlite:` nor with `postgres:`";
            section.problems().error(Code::BadUrl, &url.at, text, "`url = \"sqlite:hookonce.db\"`");
            None
        }
    }
}

fn sqlite_path(section: &Section<'_>, url: &Written<String>, path: &str, reading: &Reading<'_>) -> Option<PathBuf> {
    let path = path.strip_prefix("//").unwrap_or(path);
    if path.is_empty() || path.contains(":memory:") || path.contains('?') {
        let hint = "name a file: what was answered 2xx must outlive the process";
        section.problems().error(Code::BadUrl, &url.at, format!("`{}` names no file", url.shown), hint);
        return None;
    }
    // A flag is typed in the current folder and means it; everything else belongs to the configuration's.
    Some(if matches!(url.at, Place::Flag(_)) { PathBuf::from(path) } else { reading.beside(path) })
}

/// `shop.db` has `shop.inbox.db` beside it.
fn files(work: PathBuf) -> Store {
    Store::Sqlite { inbox: inbox_beside(&work), work }
}

fn inbox_beside(work: &Path) -> PathBuf {
    match (work.file_stem(), work.extension()) {
        (Some(stem), Some(extension)) => {
            let mut name = stem.to_owned();
            name.push(".inbox.");
            name.push(extension);
            work.with_file_name(name)
        }
        _ => {
            let mut name = work.file_name().unwrap_or_default().to_owned();
            name.push(".inbox");
            work.with_file_name(name)
        }
    }
}

fn database(section: &Section<'_>, url: &Written<String>, reading: &Reading<'_>) -> Option<Postgres> {
    let bad = |text: String, hint: &str| {
        section.problems().error(Code::BadUrl, &url.at, text, hint);
        None
    };
    let Some(mut address) = Address::read(&url.value) else {
        return bad("the store's url names no database".to_owned(), address::FORM);
    };
    if let Some(schema) = address.take("schema").filter(|schema| schema != SCHEMA) {
        let hint = "its tables stand in the schema `hookonce` of the database that the url names";
        not_built::refuse(section.problems(), &url.at, &format!("a schema of another name (`{schema}`)"), hint);
        return None;
    }
    if let Some(file) = address.take("sslrootcert") {
        // As every path of a configuration: from where it stands.
        let file = if file == SYSTEM { file } else { reading.beside(&file).display().to_string() };
        address.put("sslrootcert", file);
    }
    written_password(section, url, reading);
    if address.password.is_none() {
        address.password = reading.flags.env.get(PASSWORD).filter(|p| !p.is_empty()).map(address::encoded);
    }
    let whole = address.whole();
    if let Err(why) = hookonce::postgres::valid(&whole) {
        return bad(format!("the store's url cannot be used: {why}"), address::FORM);
    }
    Some(Postgres::new(whole, address.shown(), reading.folder.clone()))
}

/// A password that stands in a file or on the command line itself, and not in a variable.
fn written_password(section: &Section<'_>, url: &Written<String>, reading: &Reading<'_>) {
    let plain = Address::read(&url.shown).and_then(|address| address.password).is_some_and(|p| !p.contains("${"));
    if !plain || matches!(url.at, Place::Env(_)) {
        return;
    }
    let severity = if reading.flags.dev { Severity::Warning } else { Severity::Error };
    let hint = "leave it out of the url and set `PGPASSWORD`, or write `${NAME}` in its place";
    let problem = Problem::error(Code::LiteralSecret, &url.at, "a password is written into the url of the store");
    section.problems().add(Problem { severity, ..problem.hint(hint) });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inbox_stands_beside_the_work_file() {
        for (work, inbox) in [
            ("hookonce.db", "hookonce.inbox.db"),
            ("/var/lib/h/shop.sqlite3", "/var/lib/h/shop.inbox.sqlite3"),
            ("plain", "plain.inbox"),
        ] {
            assert_eq!(inbox_beside(Path::new(work)), Path::new(inbox));
        }
    }
}
