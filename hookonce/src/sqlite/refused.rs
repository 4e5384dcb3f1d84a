//! Refused requests: counts, and a bounded sample of what they looked like. Forged traffic touches nothing else
//! (invariant 22).

use std::collections::BTreeSet;

use super::conn::Conn;
use super::inbox::Group;
use crate::sql::call::Arg;
use crate::sql::headers;
use crate::sql::sqlite as sql;
use crate::store::{Refusals, Sample, StoreError};

/// Samples kept of one source, and their bytes together.
pub const SAMPLE_ROWS: i64 = 200;
pub const SAMPLE_BYTES: i64 = 1 << 20;
/// Samples taken out of one second.
pub const SAMPLES_AT_ONCE: usize = 64;
/// Numbers of samples begin here, above those of requests.
pub const SAMPLE_BASE: i64 = 1 << 62;

pub fn write(conn: &Conn, group: &mut Group, refusals: &Refusals) -> Result<(), StoreError> {
    for (source, reason, count) in &refusals.counts {
        group.count(source, format!("refused/{reason}"), *count);
    }
    let samples = refusals.samples.iter().take(SAMPLES_AT_ONCE);
    samples.clone().try_for_each(|sample| put(conn, sample))?;
    let sources: BTreeSet<&str> = samples.map(|sample| &*sample.source).collect();
    sources.into_iter().try_for_each(|source| evict(conn, source))
}

fn put(conn: &Conn, sample: &Sample) -> Result<(), StoreError> {
    let headers = headers::encode(&sample.headers);
    let args = [
        Arg::Int(SAMPLE_BASE),
        Arg::Text(&sample.source),
        Arg::Text(&sample.target),
        Arg::Blob(&headers),
        Arg::Blob(&sample.body),
        Arg::Text(&sample.reason),
        Arg::Int(sample.received),
    ];
    conn.exec(sql::SAMPLE_PUT, &args).map(drop)
}

fn evict(conn: &Conn, source: &str) -> Result<(), StoreError> {
    conn.exec(sql::SAMPLE_EVICT, &[Arg::Text(source), Arg::Int(SAMPLE_ROWS), Arg::Int(SAMPLE_BYTES)]).map(drop)
}
