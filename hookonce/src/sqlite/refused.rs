//! Refused requests: counts, and a bounded sample of what they looked like. Forged traffic touches nothing else
//! (invariant 22).

use std::collections::BTreeSet;

use super::conn::Conn;
use super::inbox::Group;
use crate::sql::call::Arg;
use crate::sql::headers;
use crate::sql::sqlite as sql;
use crate::store::{Refusals, SAMPLE_BASE, SAMPLE_BYTES, SAMPLE_ROWS, SAMPLES_AT_ONCE, Sample, StoreError};

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
