//! Settling: the ending was decided before; the statements only test the fence and write it.

use hookonce_core::delivery::{HaltKind, State};
use hookonce_core::lease::Lease;
use hookonce_core::planted;
use hookonce_core::settle::{Ending, How, Settled, receipt};
use hookonce_core::time::Micros;

use super::claim::fence;
use super::conn::Conn;
use crate::sql::call::{Arg, Row};
use crate::sql::sqlite as sql;
use crate::store::{Identity, StoreError};

pub fn settle(conn: &Conn, identity: &Identity, endings: &[Ending], now: Micros) -> Result<Vec<Settled>, StoreError> {
    let mut kept = Vec::with_capacity(endings.len());
    for ending in endings {
        if one(conn, identity, ending, now)? {
            kept.push(ending.lease.seq);
        }
    }
    Ok(receipt(endings, &kept))
}

/// Answers whether the lease still held; if not, nothing is changed.
fn one(conn: &Conn, identity: &Identity, ending: &Ending, now: Micros) -> Result<bool, StoreError> {
    let planted = planted!("settle-unfenced").then(|| whatever(conn, &ending.lease)).transpose()?;
    let lease = planted.as_ref().unwrap_or(&ending.lease);
    let kept = match &ending.how {
        How::Later { delay, counted } => later(conn, identity, lease, ending, *delay, *counted, now)?,
        How::Closed(state) => closed(conn, identity, lease, ending, *state, now)?,
        How::Halted { kind, holds_lane, reason } => {
            halted(conn, identity, lease, ending, Halt { kind: *kind, holds_lane: *holds_lane, reason }, now)?
        }
    };
    if kept {
        tried(conn, ending)?;
    }
    Ok(kept)
}

/// Planted bug: the lease that is on the row, whoever's it is.
fn whatever(conn: &Conn, lease: &Lease) -> Result<Lease, StoreError> {
    let Some(mut row) = conn.row(sql::PLANTED_LEASE, &[Arg::Int(lease.seq)])? else { return Ok(*lease) };
    let (epoch, token) = (row.int(0)?, row.opt_blob(1)?.and_then(|t| t.try_into().ok()));
    Ok(Lease { epoch, token: token.unwrap_or(lease.token), ..*lease })
}

fn later(
    conn: &Conn,
    identity: &Identity,
    lease: &Lease,
    ending: &Ending,
    delay: Micros,
    counted: bool,
    now: Micros,
) -> Result<bool, StoreError> {
    let [seq, epoch, token, store, ours] = fence(lease, identity);
    let (due, since) = (now.saturating_add(delay), counted.then_some(now));
    let args = [seq, epoch, token, store, ours, Arg::Int(due), Arg::Int(ending.attempts), Arg::int(since)];
    Ok(conn.exec(sql::SETTLE_LATER, &args)? == 1)
}

fn closed(
    conn: &Conn,
    identity: &Identity,
    lease: &Lease,
    ending: &Ending,
    state: State,
    now: Micros,
) -> Result<bool, StoreError> {
    if gone(conn, identity, lease)?.is_none() {
        return Ok(false);
    }
    ended(conn, ending, false, state, now)?;
    next(conn, ending.lane, lease.seq, now)?;
    Ok(true)
}

struct Halt<'a> {
    kind: HaltKind,
    holds_lane: bool,
    reason: &'a str,
}

fn halted(
    conn: &Conn,
    identity: &Identity,
    lease: &Lease,
    ending: &Ending,
    halt: Halt<'_>,
    now: Micros,
) -> Result<bool, StoreError> {
    let Some(work) = gone(conn, identity, lease)? else { return Ok(false) };
    put_halted(conn, &work, ending, &halt, now)?;
    ended(conn, ending, halt.holds_lane, halt.kind.state(), now)?;
    if !halt.holds_lane {
        next(conn, ending.lane, lease.seq, now)?;
    }
    Ok(true)
}

fn gone(conn: &Conn, identity: &Identity, lease: &Lease) -> Result<Option<Row>, StoreError> {
    conn.row(sql::SETTLE_GONE, &fence(lease, identity))
}

fn put_halted(conn: &Conn, work: &Row, ending: &Ending, halt: &Halt<'_>, now: Micros) -> Result<(), StoreError> {
    let args = [
        Arg::Int(work.int(0)?),
        Arg::Int(ending.lease.seq),
        Arg::Int(work.int(1)?),
        Arg::Int(work.int(2)?),
        Arg::Int(work.int(3)?),
        Arg::Int(work.int(4)?),
        Arg::Text(halt.kind.name()),
        Arg::Text(halt.reason),
        Arg::Int(now),
        Arg::Int(ending.attempts),
        Arg::Int(work.int(5)?),
        Arg::Int(work.int(6)?),
    ];
    conn.exec(sql::SETTLE_HALT, &args).map(drop)
}

fn ended(conn: &Conn, ending: &Ending, open: bool, state: State, now: Micros) -> Result<(), StoreError> {
    let args = [
        Arg::Int(ending.lease.seq),
        Arg::Int(open.into()),
        Arg::Text(state.name()),
        Arg::Int(ending.attempts),
        Arg::Int(now),
    ];
    conn.exec(sql::SETTLE_ENDED, &args).map(drop)
}

/// The next of the lane gets its work row; a delivery without a lane has nobody behind it.
pub fn next(conn: &Conn, lane: i64, behind: i64, now: Micros) -> Result<usize, StoreError> {
    if lane >= 0 || planted!("lose-work-on-settle") {
        return Ok(0);
    }
    conn.exec(sql::SETTLE_NEXT, &[Arg::Int(lane), Arg::Int(behind), Arg::Int(now)])
}

fn tried(conn: &Conn, ending: &Ending) -> Result<(), StoreError> {
    let attempt = &ending.attempt;
    let args = [
        Arg::Int(ending.id),
        Arg::Int(attempt.started),
        Arg::Int(attempt.started.saturating_add(attempt.took)),
        Arg::Text(attempt.outcome),
        Arg::Text(&attempt.detail),
    ];
    conn.exec(sql::SETTLE_TRIED, &args).map(drop)
}
