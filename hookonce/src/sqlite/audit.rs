//! The chain of people's decisions, one in each file, each row in the commit of what it decides.

use hookonce_core::audit::{Entry, FIRST, link};
use hookonce_core::event::Hash;
use hookonce_core::time::Micros;

use super::conn::Conn;
use crate::sql::call::Arg;
use crate::sql::sqlite as sql;
use crate::store::StoreError;

/// What was decided, by whom and why.
#[derive(Clone, Copy, Debug)]
pub struct Decision<'a> {
    pub actor: &'a str,
    pub action: &'a str,
    pub target: &'a str,
    pub reason: &'a str,
    pub detail: &'a str,
}

pub fn write(conn: &Conn, now: Micros, decision: &Decision<'_>) -> Result<i64, StoreError> {
    let (before, prev) = last(conn)?;
    let Decision { actor, action, target, reason, detail } = *decision;
    let entry = Entry { id: before + 1, at: now, actor, action, target, reason, detail };
    let hash = link(&prev, &entry);
    let args = [
        Arg::Int(entry.id),
        Arg::Int(now),
        Arg::Text(actor),
        Arg::Text(action),
        Arg::Text(target),
        Arg::Text(reason),
        Arg::Text(detail),
        Arg::Blob(&prev),
        Arg::Blob(&hash),
    ];
    conn.exec(sql::AUDIT_PUT, &args)?;
    Ok(entry.id)
}

fn last(conn: &Conn) -> Result<(i64, Hash), StoreError> {
    match conn.row(sql::AUDIT_LAST, &[])? {
        Some(mut row) => Ok((row.int(0)?, row.bytes(1)?)),
        None => Ok((0, FIRST)),
    }
}
