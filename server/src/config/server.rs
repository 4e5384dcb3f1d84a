//! `[ingest]`, `[admin]`.

use std::net::SocketAddr;
use std::time::Duration;

use hookonce_core::time::Micros;

use super::code::Code;
use super::meant::{Admin, Ingest};
use super::problem::Problem;
use super::section::{Section, Written};

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
