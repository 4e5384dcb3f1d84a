//! One pass of the router: lock the last pass, read what stands behind it, decide in `core::route`, lock tails without
//! waiting for anybody, write it as sets.
//!
//! Here: the pass from its lock to its end, and what a router remembers between two. What it reads is in [`read`], what
//! it writes in [`write`].

mod read;
mod write;

use hookonce_core::arrival::Hint;
use hookonce_core::consumer::ConsumerId;
use hookonce_core::event::EventNo;
use hookonce_core::lane::Tail;
use hookonce_core::route::{self, Opened, PASS_EVENTS, PASS_REQUESTS, Pass, PassRows, Position, Routing, Tails};
use hookonce_core::{kill_point, planted};

use super::conn::Conn;
use super::store::Base;
use crate::sql::call::Arg;
use crate::sql::cursor::Cursors;
use crate::sql::postgres as sql;
use crate::store::{Identity, Passed, StoreError};

/// What a router remembers of what is committed. Others route, too: each pass first reads what they did meanwhile.
#[derive(Debug, Default)]
pub struct Memory {
    /// Of the store, that it was read in: another history may lack what was seen in this one.
    generation: i64,
    cursors: Cursors,
    /// The last pass row that was read.
    known: i64,
    hint: Hint,
    /// Pass rows up to here were looked at for trimming.
    trimmed: i64,
}

/// What the end of a pass is told to whom it concerns.
struct Done {
    passed: Passed,
    /// What it wrote; none: it was rolled back.
    written: Option<Written>,
}

struct Written {
    pass: Pass,
    routed: Vec<EventNo>,
}

pub async fn route(base: &Base, routing: &Routing) -> Result<Passed, StoreError> {
    kill_point!("pass_begun");
    let run = |conn: Conn| async move {
        let mut memory = base.router.lock().await;
        // Asked behind the connection, which may have been the first to find another history.
        let generation = base.timeline.generation();
        if memory.generation != generation {
            *memory = Memory { generation, ..Memory::default() };
        }
        let done = pass(&conn, &base.identity, &mut memory, routing).await?;
        if done.written.is_none() {
            conn.leave_nothing();
        }
        Ok(done)
    };
    let Done { passed, written } = base.work.tx(run).await?;
    if let Some(Written { pass, routed }) = written {
        kill_point!("pass_committed");
        let mut memory = base.router.lock().await;
        memory.cursors.moved(&pass);
        memory.hint.passed(routed);
    }
    Ok(passed)
}

/// For cleaning: takes the router's lock, and answers up to where all of these have read. `None`: somebody has it.
pub async fn stand_still(
    conn: &Conn,
    memory: &mut Memory,
    listed: &[ConsumerId],
) -> Result<Option<Position>, StoreError> {
    let (locked, last) = read::place(conn, memory).await?;
    let last = last.filter(|last| locked == Some(last.n));
    Ok(last.map(|last| listed.iter().map(|id| memory.cursors.at(*id)).fold(last.pos, Position::min)))
}

fn nothing(passed: Passed) -> Result<Done, StoreError> {
    Ok(Done { passed, written: None })
}

async fn pass(conn: &Conn, identity: &Identity, memory: &mut Memory, routing: &Routing) -> Result<Done, StoreError> {
    let stands = read::stands(conn, memory).await?;
    let Some(last) = stands.last.as_ref().filter(|last| last.config == routing.config) else {
        return nothing(Passed { config_behind: true, ..Passed::default() });
    };
    match stands.locked {
        // Another router is at work, and whatever there is it does.
        None => return nothing(Passed::default()),
        // It had ended when the lock was had: what it left is the next pass's.
        Some(n) if n != last.n => return nothing(Passed { more: true, ..Passed::default() }),
        Some(_) => {}
    }
    let (opened, waiting) = read::opened(conn, memory, stands, routing).await?;
    let wanted = route::wanted(&opened, routing);
    let tails = tails(conn, &wanted.lanes()).await?;
    let mut rows = route::pass(&opened, wanted, &tails, routing);
    if rows.is_empty(&opened) {
        return nothing(Passed::default());
    }
    if planted!("skip-delivery") {
        rows.deliveries.retain(|d| d.append.event % 17 != 0);
    }
    let Some(woken) = write::write(conn, identity, memory, &opened, &rows).await? else {
        return nothing(Passed { more: true, ..Passed::default() });
    };
    let more = waiting || more(memory, &opened, &rows, routing);
    let routed = if opened.own.is_none() { opened.events.iter().map(|e| e.event).collect() } else { Vec::new() };
    let passed = passed(&opened, &rows, woken, more);
    Ok(Done { passed, written: Some(Written { pass: rows.pass, routed }) })
}

/// `woken`: whose lanes were asked for their next and had one.
fn passed(opened: &Opened, rows: &PassRows, mut woken: Vec<i64>, more: bool) -> Passed {
    woken.extend(rows.deliveries.iter().filter(|d| d.runnable).map(|d| d.append.consumer));
    woken.sort_unstable();
    woken.dedup();
    Passed {
        events: opened.events.len(),
        deliveries: rows.deliveries.len(),
        holds: rows.holds.len(),
        unmatched: rows.unmatched(),
        woken,
        more,
        config_behind: false,
    }
}

/// Whether the next pass has something to do, as far as this one can know: what comes meanwhile is hinted at.
fn more(memory: &Memory, opened: &Opened, rows: &PassRows, routing: &Routing) -> bool {
    let mut cursors = memory.cursors.clone();
    cursors.moved(&rows.pass);
    let pos = if opened.own.is_none() { rows.pass.pos } else { opened.last.pos };
    let behind = route::turn(rows.pass.own, pos, &cursors.of(routing), false).is_some();
    behind || opened.events.len() >= PASS_EVENTS || opened.requests.len() >= PASS_REQUESTS
}

/// The tails as of their locks. One that is not had is somebody's who settles it, or was purged.
async fn tails(conn: &Conn, lanes: &[i64]) -> Result<Tails, StoreError> {
    if lanes.is_empty() {
        return Ok(Tails::new());
    }
    let found = conn.rows(sql::ROUTE_TAILS, &[Arg::Ints(lanes)]).await?;
    let (mut lanes, mut seqs) = (Vec::new(), Vec::new());
    for row in &found {
        lanes.push(row.int(0)?);
        seqs.push(row.int(1)?);
    }
    let mut tails: Tails = lanes.iter().zip(&seqs).map(|(lane, seq)| (*lane, Tail::Unsure { seq: *seq })).collect();
    for row in conn.rows(sql::ROUTE_TAIL_LOCKS, &[Arg::Ints(&lanes), Arg::Ints(&seqs)]).await? {
        tails.insert(row.int(0)?, if row.flag(2)? { Tail::Open } else { Tail::Closed });
    }
    Ok(tails)
}
