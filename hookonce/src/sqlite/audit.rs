//! The chain of people's decisions, one in each file, each row in the commit of what it decides.

use hookonce_core::audit::FIRST;
use hookonce_core::event::Hash;
use hookonce_core::time::Micros;

use super::conn::Conn;
use crate::sql::audit::{Decision, args, entry};
use crate::sql::sqlite as sql;
use crate::store::StoreError;

pub fn write(conn: &Conn, now: Micros, decision: &Decision<'_>) -> Result<i64, StoreError> {
    let (before, prev) = last(conn)?;
    let (entry, hash) = entry(before, now, decision, &prev);
    conn.exec(sql::AUDIT_PUT, &args(&entry, &prev, &hash))?;
    Ok(entry.id)
}

fn last(conn: &Conn) -> Result<(i64, Hash), StoreError> {
    match conn.row(sql::AUDIT_LAST, &[])? {
        Some(mut row) => Ok((row.int(0)?, row.bytes(1)?)),
        None => Ok((0, FIRST)),
    }
}
