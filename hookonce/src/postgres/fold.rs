//! Tally rows of long ago become one, beside the groups and never inside one.

use std::collections::BTreeMap;

use hookonce_core::time::{Micros, SECOND};

use super::conn::{Conn, Pool};
use crate::sql::call::Arg;
use crate::sql::postgres as sql;
use crate::sql::stored;
use crate::store::StoreError;

/// Older ones are nobody's receipt any more.
const AGE: Micros = 60 * SECOND;
/// Rows that one fold takes.
const ROWS: i64 = 2_000;

pub async fn tally(pool: &Pool) {
    // What is not folded today is folded later.
    if let Err(error) = pool.tx(fold).await {
        tracing::debug!(%error, "tally rows were not folded");
    }
}

async fn fold(conn: Conn) -> Result<(), StoreError> {
    let mut sums: BTreeMap<(String, String), u64> = BTreeMap::new();
    let rows = conn.rows(sql::TALLY_FOLD, &[Arg::Int(AGE), Arg::Int(ROWS)]).await?;
    for mut row in rows {
        for (source, verdict, count) in stored::counts(&row.text(0)?)? {
            *sums.entry((source, verdict)).or_default() += count;
        }
    }
    if sums.is_empty() {
        return Ok(());
    }
    let counts: Vec<_> = sums.iter().map(|((source, verdict), n)| (source, verdict, n)).collect();
    let counts = serde_json::to_string(&counts).map_err(|error| StoreError::Failed(error.to_string()))?;
    conn.exec(sql::TALLY_SUM, &[Arg::Text(&counts)]).await.map(drop)
}
