//! Claims, renewals, releases. A claim gives a lease; whoever shows it again is believed, nobody else.

use hookonce_core::claim::{self, Ask, Claimed, LOST_QUIET};
use hookonce_core::consumer::Standing;
use hookonce_core::lease::{Lease, Token};
use hookonce_core::settle::ATTEMPT_ROWS;
use hookonce_core::time::Micros;

use super::conn::Conn;
use crate::sql::call::{Arg, Row, Stmt};
use crate::sql::sqlite as sql;
use crate::store::{Identity, StoreError};

pub fn claim(conn: &Conn, identity: &Identity, ask: &Ask, now: Micros) -> Result<Vec<Claimed>, StoreError> {
    if ask.tokens.is_empty() || standing(conn, ask.consumer)?.is_some_and(|standing| !standing.works()) {
        return Ok(Vec::new());
    }
    let due = due(conn, identity, ask, now)?;
    due.into_iter().map(|due| take(conn, ask, due, now)).collect()
}

/// Whoever is paused or left gets nothing; what it owes is kept as it is.
pub fn standing(conn: &Conn, consumer: i64) -> Result<Option<Standing>, StoreError> {
    let state = conn.row(sql::CLAIM_PAUSED, &[Arg::Int(consumer)])?;
    Ok(state.map(|mut row| row.text(0)).transpose()?.and_then(|name| Standing::parse(&name)))
}

/// A row that may be taken, as it stood before.
struct Due {
    id: i64,
    until: Micros,
    /// Still set: its last lease ended without an outcome.
    token: Option<Token>,
    /// As the claim leaves it, but for the lease.
    claimed: Claimed,
}

fn due(conn: &Conn, identity: &Identity, ask: &Ask, now: Micros) -> Result<Vec<Due>, StoreError> {
    let stmt = if ask.quiet { sql::CLAIM_DUE_QUIET } else { sql::CLAIM_DUE };
    let limit = if ask.quiet { 1 } else { ask.tokens.len() as i64 };
    let args = [Arg::Int(ask.consumer), Arg::Int(now), Arg::Int(LOST_QUIET), Arg::Int(limit)];
    let rows = conn.rows(stmt, &args)?.into_iter().zip(&ask.tokens);
    rows.map(|(row, token)| one(row, identity, ask, *token, now)).collect()
}

fn one(mut row: Row, identity: &Identity, ask: &Ask, token: Token, now: Micros) -> Result<Due, StoreError> {
    let before = row.opt_bytes(2)?;
    let claimed = Claimed {
        lease: Lease { seq: row.int(0)?, epoch: row.int(12)? + 1, token, store: identity.generation },
        id: row.int(1)?,
        lane: row.int(5)?,
        event: row.int(6)?,
        consumer: ask.consumer,
        generation: row.int(7)?,
        attempts: row.int(8)?,
        lost: claim::lost(row.int(9)?, before),
        since: row.opt_int(10)?,
        decided: row.opt_int(11)?,
        cancel: row.flag(4)?,
        now,
    };
    Ok(Due { id: claimed.id, until: row.int(3)?, token: before, claimed })
}

fn take(conn: &Conn, ask: &Ask, due: Due, now: Micros) -> Result<Claimed, StoreError> {
    let lease = &due.claimed.lease;
    let until = now.saturating_add(ask.lease);
    let args = [Arg::Int(lease.seq), Arg::Int(until), Arg::Blob(&lease.token), Arg::Int(ask.owner)];
    if conn.exec(sql::CLAIM_TAKE, &args)? != 1 {
        return Err(StoreError::Failed("a work row left between two statements".into()));
    }
    if due.token.is_some() {
        let args = [due.id, due.until, now, ATTEMPT_ROWS].map(Arg::Int);
        conn.exec(sql::CLAIM_LOST, &args)?;
    }
    Ok(due.claimed)
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
