//! The chains of people's decisions, each row in the commit of what it decides.

use hookonce_core::audit::FIRST;

use super::conn::Conn;
use crate::sql::audit::{Decision, args, entry};
use crate::sql::call::Stmt;
use crate::sql::postgres as sql;
use crate::store::StoreError;

/// Two chains, as SQLite has one in each file: decisions about what came in, and about what is owed.
#[derive(Clone, Copy, Debug)]
pub enum Chain {
    Inbox,
    Work,
}

impl Chain {
    fn statements(self) -> (&'static Stmt, &'static Stmt) {
        match self {
            Chain::Inbox => (sql::INBOX_AUDIT_LAST, sql::INBOX_AUDIT_PUT),
            Chain::Work => (sql::AUDIT_LAST, sql::AUDIT_PUT),
        }
    }
}

/// `None`: somebody else's decision took the number; what was written so far must not stay.
pub async fn write(conn: &Conn, chain: Chain, decision: &Decision<'_>) -> Result<Option<i64>, StoreError> {
    let (last, put) = chain.statements();
    let mut row = conn.row(last, &[]).await?.unwrap_or_default();
    let (now, before) = (row.int(0)?, row.opt_int(1)?.unwrap_or(0));
    let prev = row.opt_bytes(2)?.unwrap_or(FIRST);
    let (entry, hash) = entry(before, now, decision, &prev);
    let written = conn.exec(put, &args(&entry, &prev, &hash)).await?;
    Ok((written == 1).then_some(entry.id))
}
