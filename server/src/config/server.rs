//! `[store]`, `[ingest]`, `[admin]`.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hookonce_core::time::Micros;

use super::code::Code;
use super::meant::{Admin, Ingest, Store};
use super::not_built;
use super::place::Place;
use super::problem::Problem;
use super::reading::Reading;
use super::section::{Section, Written};

const STORE_URL: &str = "sqlite:hookonce.db";
const INGEST_LISTEN: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8080);
const ADMIN_LISTEN: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8081);
const FIRST_BYTE: Duration = Duration::from_secs(5);
const HEAD: Duration = Duration::from_secs(10);
const BODY: Duration = Duration::from_secs(10);
const IDLE: Duration = Duration::from_secs(15);
const MAX_BUFFERED: u64 = 256 << 20;
/// One body of the default size must fit, or nothing is ever taken.
const LEAST_BUFFERED: u64 = 1 << 20;

pub fn std_duration(time: Micros) -> Duration {
    Duration::from_micros(time.unsigned_abs())
}

pub fn store(section: Option<&Section<'_>>, reading: &Reading<'_>) -> Store {
    let written = section.and_then(|s| {
        let url = s.filled("url");
        s.finish();
        url.and_then(|url| sqlite_path(s, &url, reading))
    });
    let default = || reading.beside(STORE_URL.trim_start_matches("sqlite:"));
    let work = written.unwrap_or_else(default);
    Store { inbox: inbox_beside(&work), work }
}

fn sqlite_path(section: &Section<'_>, url: &Written<String>, reading: &Reading<'_>) -> Option<PathBuf> {
    let scheme = url.value.split_once(':').map_or("", |(scheme, _)| scheme);
    if matches!(scheme, "postgres" | "postgresql") {
        let hint = "use the embedded store: `url = \"sqlite:hookonce.db\"`";
        not_built::refuse(section.problems(), &url.at, "the PostgreSQL store", hint);
        return None;
    }
    let Some(path) = url.value.strip_prefix("sqlite:") else {
        let hint = "`url = \"sqlite:hookonce.db\"`";
        section.problems().error(
            Code::BadUrl,
            &url.at,
            "the store's url begins neither with `sqlite:` nor with `postgres:`",
            hint,
        );
        return None;
    };
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

pub fn ingest(section: Option<&Section<'_>>) -> Ingest {
    let time = |key, default| section.and_then(|s| s.some_time(key)).map_or(default, |t| std_duration(t.value));
    let ingest = Ingest {
        listen: listen(section, INGEST_LISTEN),
        first_byte: time("first_byte", FIRST_BYTE),
        head: time("head", HEAD),
        body: time("body", BODY),
        idle: time("idle", IDLE),
        max_buffered: section.map_or(MAX_BUFFERED, max_buffered),
    };
    section.inspect(|s| s.finish());
    ingest
}

fn max_buffered(section: &Section<'_>) -> u64 {
    match section.size("max_buffered") {
        Some(size) if size.value < LEAST_BUFFERED => {
            section.bad(
                &size.at,
                format!("`max_buffered` is too small: `{}`", size.shown),
                "at least `1MiB`: one body must fit",
            );
            MAX_BUFFERED
        }
        Some(size) => size.value,
        None => MAX_BUFFERED,
    }
}

pub fn admin(section: Option<&Section<'_>>) -> Admin {
    let admin = Admin { listen: listen(section, ADMIN_LISTEN) };
    section.inspect(|s| s.finish());
    admin
}

fn listen(section: Option<&Section<'_>>, default: SocketAddr) -> SocketAddr {
    let Some((section, text)) = section.and_then(|s| Some((s, s.filled("listen")?))) else { return default };
    address(section, &text).unwrap_or(default)
}

/// Numbers only: a name that resolves to two addresses, or tomorrow to another one, is no place to listen.
fn address(section: &Section<'_>, text: &Written<String>) -> Option<SocketAddr> {
    let value = text.value.replacen("localhost:", "127.0.0.1:", 1);
    let found = value.parse().ok();
    if found.is_none() {
        let hint = "an address and a port: `127.0.0.1:8080`, `0.0.0.0:8080`, `[::]:8080`";
        section.bad(&text.at, format!("`listen` is no address: `{}`", text.shown), hint);
    }
    found
}

/// Two listeners on one address: the second bind would fail at start with less to say.
pub fn apart(ingest: &Ingest, admin: &Admin, section: Option<&Section<'_>>) {
    let Some(section) = section.filter(|_| ingest.listen == admin.listen && ingest.listen.port() != 0) else { return };
    let at = section.entry("listen").map_or_else(|| section.at.clone(), |e| e.node.at.clone());
    let text = format!("ingest and admin both listen on `{}`", ingest.listen);
    section.problems().add(
        Problem::error(Code::Contradiction, &at, text)
            .hint("providers reach the one, only you the other: give each its own"),
    );
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
