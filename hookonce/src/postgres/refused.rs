//! Refused requests: counts, and a bounded sample of what they looked like. Forged traffic touches nothing else
//! (invariant 22).

use std::collections::{BTreeMap, BTreeSet};

use super::conn::{Conn, Pool};
use crate::sql::call::Arg;
use crate::sql::headers;
use crate::sql::postgres as sql;
use crate::store::{Refusals, SAMPLE_BYTES, SAMPLE_ROWS, SAMPLES_AT_ONCE, Sample, StoreError};

pub async fn refused(pool: &Pool, refusals: &Refusals) -> Result<(), StoreError> {
    let counts = counts(refusals)?;
    let counts = &counts;
    pool.tx(|conn| async move {
        let samples = refusals.samples.get(..SAMPLES_AT_ONCE.min(refusals.samples.len())).unwrap_or_default();
        put(&conn, samples).await?;
        let sources: BTreeSet<&str> = samples.iter().map(|sample| &*sample.source).collect();
        for source in sources {
            let args = [Arg::Text(source), Arg::Int(SAMPLE_ROWS), Arg::Int(SAMPLE_BYTES)];
            conn.exec(sql::SAMPLE_EVICT, &args).await?;
        }
        conn.exec(sql::TALLY_SUM, &[Arg::Text(counts)]).await.map(drop)
    })
    .await
}

async fn put(conn: &Conn, samples: &[Sample]) -> Result<(), StoreError> {
    let sources: Vec<&str> = samples.iter().map(|sample| &*sample.source).collect();
    let targets: Vec<&str> = samples.iter().map(|sample| &*sample.target).collect();
    let headers: Vec<Vec<u8>> = samples.iter().map(|sample| headers::encode(&sample.headers)).collect();
    let bodies: Vec<&[u8]> = samples.iter().map(|sample| &*sample.body).collect();
    let reasons: Vec<&str> = samples.iter().map(|sample| &*sample.reason).collect();
    let received: Vec<i64> = samples.iter().map(|sample| sample.received).collect();
    let args = [
        Arg::Texts(&sources),
        Arg::Texts(&targets),
        Arg::Bytes(&headers),
        Arg::Blobs(&bodies),
        Arg::Texts(&reasons),
        Arg::Ints(&received),
    ];
    conn.exec(sql::SAMPLE_PUT, &args).await.map(drop)
}

fn counts(refusals: &Refusals) -> Result<String, StoreError> {
    let mut sums: BTreeMap<(&str, String), u64> = BTreeMap::new();
    for (source, reason, count) in &refusals.counts {
        *sums.entry((source, format!("refused/{reason}"))).or_default() += count;
    }
    let counts: Vec<_> = sums.iter().map(|((source, verdict), n)| (source, verdict, n)).collect();
    serde_json::to_string(&counts).map_err(|error| StoreError::Refused(error.to_string()))
}
