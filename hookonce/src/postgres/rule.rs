//! Numbers of identity rules, and whoever asks at the same moment.

use super::conn::{Conn, Pool};
use crate::sql::call::Arg;
use crate::sql::postgres as sql;
use crate::store::StoreError;

/// The number of an identity rule: equal definitions share it.
pub async fn rule(pool: &Pool, source: &str, definition: &str) -> Result<i64, StoreError> {
    pool.tx(|conn| number(conn, source, definition)).await
}

async fn number(conn: Conn, source: &str, definition: &str) -> Result<i64, StoreError> {
    if let Some(row) = conn.row(sql::RULE_FIND, &[Arg::Text(definition)]).await? {
        let number = row.int(0)?;
        conn.exec(sql::RULE_USED, &[Arg::Int(number)]).await?;
        return Ok(number);
    }
    match conn.row(sql::RULE_PUT, &[Arg::Text(source), Arg::Text(definition)]).await? {
        Some(row) => row.int(0),
        None => Err(conn.conflict("another node took the number")),
    }
}
