//! Claims, renewals, releases. A claim gives a lease; whoever shows it again is believed, nobody else.

use hookonce_core::claim::{Ask, Claimed, LOST_QUIET};
use hookonce_core::lease::{Lease, Token};
use hookonce_core::time::Micros;

use super::conn::Conn;
use crate::sql::call::{Arg, Row, Stmt};
use crate::sql::sqlite as sql;
use crate::store::{Identity, StoreError};

pub fn claim(conn: &Conn, identity: &Identity, ask: &Ask, now: Micros) -> Result<Vec<Claimed>, StoreError> {
    if ask.tokens.is_empty() || paused(conn, ask.consumer)? {
        return Ok(Vec::new());
    }
    let due = due(conn, ask, now)?;
    due.iter().zip(&ask.tokens).map(|(due, token)| take(conn, identity, ask, due, *token, now)).collect()
}

/// Whoever is paused gets nothing; what it owes is kept as it is.
fn paused(conn: &Conn, consumer: i64) -> Result<bool, StoreError> {
    let state = conn.row(sql::CLAIM_PAUSED, &[Arg::Int(consumer)])?;
    Ok(state.map(|mut row| row.text(0)).transpose()?.as_deref() == Some("paused"))
}

/// A row that may be taken, as it stood before.
struct Due {
    seq: i64,
    id: i64,
    /// Its last lease ended without an outcome.
    lost: bool,
    until: Micros,
    cancel: bool,
}

fn due(conn: &Conn, ask: &Ask, now: Micros) -> Result<Vec<Due>, StoreError> {
    let stmt = if ask.quiet { sql::CLAIM_DUE_QUIET } else { sql::CLAIM_DUE };
    let limit = if ask.quiet { 1 } else { ask.tokens.len() as i64 };
    let args = [Arg::Int(ask.consumer), Arg::Int(now), Arg::Int(LOST_QUIET), Arg::Int(limit)];
    let found = conn.rows(stmt, &args)?.into_iter().map(|row| {
        Ok(Due { seq: row.int(0)?, id: row.int(1)?, lost: row.flag(2)?, until: row.int(3)?, cancel: row.flag(4)? })
    });
    found.collect()
}

fn take(
    conn: &Conn,
    identity: &Identity,
    ask: &Ask,
    due: &Due,
    token: Token,
    now: Micros,
) -> Result<Claimed, StoreError> {
    let until = now.saturating_add(ask.lease);
    let args = [Arg::Int(due.seq), Arg::Int(until), Arg::Blob(&token), Arg::Int(ask.owner)];
    let row = conn.row(sql::CLAIM_TAKE, &args)?;
    let row = row.ok_or_else(|| StoreError::Failed("a work row left between two statements".into()))?;
    if due.lost {
        conn.exec(sql::CLAIM_LOST, &[Arg::Int(due.id), Arg::Int(due.until), Arg::Int(now)])?;
    }
    claimed(&row, identity, ask, due, token, now)
}

fn claimed(
    row: &Row,
    identity: &Identity,
    ask: &Ask,
    due: &Due,
    token: Token,
    now: Micros,
) -> Result<Claimed, StoreError> {
    Ok(Claimed {
        lease: Lease { seq: due.seq, epoch: row.int(7)?, token, store: identity.generation },
        id: due.id,
        lane: row.int(0)?,
        event: row.int(1)?,
        consumer: ask.consumer,
        generation: row.int(2)?,
        attempts: row.int(3)?,
        lost: row.int(4)?,
        since: row.opt_int(5)?,
        decided: row.opt_int(6)?,
        cancel: due.cancel,
        now,
    })
}

/// The fence, as every statement that shows a lease begins its arguments.
pub fn fence<'a>(lease: &'a Lease, identity: &Identity) -> [Arg<'a>; 5] {
    let store = [Arg::Int(lease.store), Arg::Int(identity.generation)];
    [Arg::Int(lease.seq), Arg::Int(lease.epoch), Arg::Blob(&lease.token), store[0], store[1]]
}

/// The leases that do not hold any more. Late but untaken is still ours.
pub fn renew(
    conn: &Conn,
    identity: &Identity,
    leases: &[Lease],
    by: Micros,
    now: Micros,
) -> Result<Vec<Lease>, StoreError> {
    let mut gone = Vec::new();
    for lease in leases {
        if !fenced(conn, sql::RENEW, identity, lease, now.saturating_add(by))? {
            gone.push(*lease);
        }
    }
    Ok(gone)
}

/// Due at once, nothing counted.
pub fn release(conn: &Conn, identity: &Identity, leases: &[Lease], now: Micros) -> Result<(), StoreError> {
    leases.iter().try_for_each(|lease| fenced(conn, sql::RELEASE, identity, lease, now).map(drop))
}

fn fenced(
    conn: &Conn,
    stmt: &'static Stmt,
    identity: &Identity,
    lease: &Lease,
    due: Micros,
) -> Result<bool, StoreError> {
    let [seq, epoch, token, store, ours] = fence(lease, identity);
    Ok(conn.exec(stmt, &[seq, epoch, token, store, ours, Arg::Int(due)])? == 1)
}
