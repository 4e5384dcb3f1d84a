//! The in-memory model: the first backend of the store contract, and what every other one is compared with.
//!
//! Here: the tables ([`rows`]) and, a file a verb, per statement one function of the statement's name over [`Rows`],
//! calling the same core functions as every backend. Not here: files, threads, locks: a verb is done in one go.

use std::collections::BTreeMap;

use hookonce_core::request::Headers;
use http::{HeaderName, HeaderValue};
use table::{Row, Table};

pub mod admit;
pub mod claim;
pub mod command;
pub mod configure;
pub mod purge;
pub mod read;
pub mod route;
pub mod rows;
pub mod settle;
pub mod state;
pub mod store;
pub mod sweep;
pub mod table;

pub use rows::Rows;
pub use store::ModelStore;

/// The number after the greatest: what an `integer primary key` draws.
pub(crate) fn after<R: Row<Key = i64>>(table: &Table<R>) -> i64 {
    table.last_key_value().map_or(1, |(key, _)| key + 1)
}

/// The newest row of each consumer's definitions.
pub(crate) fn definitions(rows: &Rows) -> BTreeMap<i64, &rows::Consumer> {
    rows.consumer.values().map(|c| (c.id, c)).collect()
}

/// Headers as they are stored: the lines they came in.
pub(crate) fn headers(headers: &Headers) -> Vec<u8> {
    let line = |(name, value): &(HeaderName, HeaderValue)| {
        [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat()
    };
    headers.0.iter().flat_map(line).collect()
}

pub(crate) fn decoded(bytes: &[u8]) -> Headers {
    let lines = bytes.split(|b| *b == b'\n').filter_map(|line| line.strip_suffix(b"\r"));
    let pair = |line: &[u8]| {
        let colon = line.windows(2).position(|w| w == b": ")?;
        let name = HeaderName::from_bytes(line.get(..colon)?).ok()?;
        Some((name, HeaderValue::from_bytes(line.get(colon + 2..)?).ok()?))
    };
    Headers(lines.filter_map(pair).collect())
}
