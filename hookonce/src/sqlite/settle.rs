//! Settling: the ending was decided before; the statements only test the fence and write it.

use hookonce_core::delivery::{HaltKind, State};
use hookonce_core::lease::Lease;
use hookonce_core::planted;
use hookonce_core::settle::{ATTEMPT_ROWS, Ending, How, Settled, receipt};
use hookonce_core::time::Micros;

use super::claim::fence;
use super::conn::Conn;
use crate::sql::call::{Arg, Call, Row};
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
    let work = match &ending.how {
        How::Later { delay, counted } => return later(conn, identity, lease, ending, *delay, *counted, now),
        How::Halted { .. } => conn.row(sql::SETTLE_WORK, &[Arg::Int(lease.seq)])?,
        How::Closed(_) => None,
    };
    if conn.exec(sql::SETTLE_GONE, &fence(lease, identity))? == 0 {
        return Ok(false);
    }
    match (&ending.how, work) {
        (How::Halted { kind, holds_lane, reason }, Some(work)) => {
            put_halted(conn, &work, ending, *kind, reason, now)?;
            ended(conn, ending, *holds_lane, kind.state(), now)?;
        }
        (How::Closed(state), _) => ended(conn, ending, false, *state, now)?,
        _ => {}
    }
    Ok(true)
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
    let kept = conn.exec(sql::SETTLE_LATER, &args)? == 1;
    if kept {
        conn.exec(sql::SETTLE_TRIED, &tried(ending))?;
    }
    Ok(kept)
}

fn put_halted(
    conn: &Conn,
    work: &Row,
    ending: &Ending,
    kind: HaltKind,
    reason: &str,
    now: Micros,
) -> Result<(), StoreError> {
    let args = [
        Arg::Int(work.int(0)?),
        Arg::Int(ending.lease.seq),
        Arg::Int(work.int(1)?),
        Arg::Int(work.int(2)?),
        Arg::Int(work.int(3)?),
        Arg::Int(work.int(4)?),
        Arg::Text(kind.name()),
        Arg::Text(reason),
        Arg::Int(now),
        Arg::Int(ending.attempts),
        Arg::Int(work.int(5)?),
        Arg::Int(work.int(6)?),
    ];
    conn.exec(sql::SETTLE_HALT, &args).map(drop)
}

/// The end of a delivery, its history and, where it leaves its lane, the work row of the next. A delivery without a
/// lane has nobody behind it.
fn ended(conn: &Conn, ending: &Ending, open: bool, state: State, now: Micros) -> Result<(), StoreError> {
    let seq = Arg::Int(ending.lease.seq);
    let end = [seq, Arg::Int(open.into()), Arg::Text(state.name()), Arg::Int(ending.attempts), Arg::Int(now)];
    let (tried, next) = (tried(ending), [Arg::Int(ending.lane), seq, Arg::Int(now)]);
    let calls =
        [Call::new(sql::SETTLE_ENDED, &end), Call::new(sql::SETTLE_TRIED, &tried), Call::new(sql::SETTLE_NEXT, &next)];
    let leaves = !open && ending.lane < 0 && !planted!("lose-work-on-settle");
    conn.run(if leaves { &calls } else { &calls[..2] }).map(drop)
}

fn tried(ending: &Ending) -> [Arg<'_>; 6] {
    let attempt = &ending.attempt;
    let ended = attempt.started.saturating_add(attempt.took);
    let (started, ended) = (Arg::Int(attempt.started), Arg::Int(ended));
    let (outcome, detail) = (Arg::Text(attempt.outcome), Arg::Text(&attempt.detail));
    [Arg::Int(ending.id), started, ended, outcome, detail, Arg::Int(ATTEMPT_ROWS)]
}
