//! What a pass stands on. Locks come first, and what is read behind one is read by the next statement.

use std::collections::{BTreeMap, BTreeSet};

use hookonce_core::event::HoldReason;
use hookonce_core::kill_point;
use hookonce_core::lane::{Check, Found};
use hookonce_core::route::{
    self, Held, Moved, Opened, PASS_CHECKS, PASS_EVENTS, PASS_REQUESTS, Pass, Position, Request, Routed, Routing, Wish,
};

use super::Memory;
use crate::postgres::conn::Conn;
use crate::sql::call::{Arg, Call, Row};
use crate::sql::cursor::ids;
use crate::sql::postgres as sql;
use crate::store::StoreError;

/// The first flight.
pub struct Stands {
    /// The last pass row when it was asked for, if its lock was had.
    pub locked: Option<i64>,
    /// The last one behind that lock.
    pub last: Option<Pass>,
    above: i64,
    checks: Vec<Check>,
    asked: Vec<Row>,
}

pub async fn stands(conn: &Conn, memory: &mut Memory) -> Result<Stands, StoreError> {
    let (known, checks, requests) = ([Arg::Int(memory.known)], [limit(PASS_CHECKS)], [limit(PASS_REQUESTS)]);
    let mut answers = conn
        .run(&[
            Call::new(sql::ROUTE_LOCK, &[]),
            Call::new(sql::ROUTE_LAST, &[]),
            Call::new(sql::ROUTE_PASSES, &known),
            Call::new(sql::ROUTE_BEGINS, &[]),
            Call::new(sql::ROUTE_CHECKS, &checks),
            Call::new(sql::ROUTE_REQUEUE, &requests),
        ])
        .await?
        .into_iter();
    let mut answer = || answers.next().unwrap_or_default();
    let locked = answer().first().map(|row| row.int(0)).transpose()?;
    let mut last = answer();
    let above = last.first().map_or(Ok(0), |row| above(memory, row))?;
    memory.known = last.first().map_or(Ok(0), |row| row.int(0))?;
    memory.cursors.go_on(answer())?;
    memory.cursors.begin(answer())?;
    let checks = answer().iter().map(check).collect::<Result<_, _>>()?;
    Ok(Stands { locked, last: last.pop().map(self::last).transpose()?, above, checks, asked: answer() })
}

/// The lock, the last pass behind it, and how far everybody has got by then: all that cleaning asks for.
pub async fn place(conn: &Conn, memory: &mut Memory) -> Result<(Option<i64>, Option<Pass>), StoreError> {
    let known = [Arg::Int(memory.known)];
    let calls = [
        Call::new(sql::ROUTE_LOCK, &[]),
        Call::new(sql::ROUTE_LAST, &[]),
        Call::new(sql::ROUTE_PASSES, &known),
        Call::new(sql::ROUTE_BEGINS, &[]),
    ];
    let mut answers = conn.run(&calls).await?.into_iter();
    let mut answer = || answers.next().unwrap_or_default();
    let locked = answer().first().map(|row| row.int(0)).transpose()?;
    let last = answer().pop().map(last).transpose()?;
    memory.known = last.as_ref().map_or(0, |last| last.n);
    memory.cursors.go_on(answer())?;
    memory.cursors.begin(answer())?;
    Ok((locked, last))
}

fn limit(rows: usize) -> Arg<'static> {
    Arg::Int(rows as i64)
}

/// Where arrivals are read from, by the clock of the database and the newest number drawn.
fn above(memory: &mut Memory, last: &Row) -> Result<i64, StoreError> {
    let (now, drawn) = (last.int(6)?, last.int(7)?);
    memory.hint.drawn(now, drawn);
    Ok(memory.hint.above(now))
}

pub fn last(mut row: Row) -> Result<Pass, StoreError> {
    Ok(Pass {
        n: row.int(0)?,
        pos: row.opt_int(1)?.unwrap_or(0),
        seq: row.int(2)?,
        config: row.int(3)?,
        own: row.opt_int(4)?,
        consumers: ids(&row.opt_text(5)?.unwrap_or_default()),
    })
}

fn check(row: &Row) -> Result<Check, StoreError> {
    Ok(Check { id: row.int(0)?, lane: row.int(1)?, behind: row.int(2)? })
}

/// What the pass decides over, and whether arrivals wait that are not its turn.
pub async fn opened(
    conn: &Conn,
    memory: &Memory,
    stands: Stands,
    routing: &Routing,
) -> Result<(Opened, bool), StoreError> {
    let last = stands.last.unwrap_or(Pass { n: 0, pos: 0, seq: 0, config: 0, consumers: Vec::new(), own: None });
    let cursors = memory.cursors.of(routing);
    let arrived = conn.rows(sql::ROUTE_ARRIVALS, &[Arg::Int(stands.above), limit(PASS_EVENTS)]).await?;
    let busy = !stands.asked.is_empty() || !arrived.is_empty();
    let own = route::turn(last.own, last.pos, &cursors, busy);
    let waiting = own.is_some() && !arrived.is_empty();
    let (events, upto) = match own.and_then(|id| cursors.get(&id).copied()) {
        Some(from) => {
            let events = log(conn, from, last.pos).await?;
            let full = events.len() >= PASS_EVENTS;
            let end = events.last().filter(|_| full).map_or(last.pos, |event| event.pos);
            (events, end)
        }
        None => arrivals(arrived, last.pos)?,
    };
    let checks = checks(conn, stands.checks).await?;
    let requests = requests(conn, stands.asked).await?;
    Ok((Opened { last, cursors, checks, requests, events, upto, own }, waiting))
}

/// Each gets the next place in the log.
fn arrivals(rows: Vec<Row>, pos: Position) -> Result<(Vec<Routed>, Position), StoreError> {
    let upto = pos.saturating_add(rows.len() as i64);
    let events = rows.into_iter().zip(pos + 1..).map(|(row, pos)| arrival(row, pos)).collect::<Result<_, _>>()?;
    Ok((events, upto))
}

fn arrival(mut row: Row, pos: Position) -> Result<Routed, StoreError> {
    row.0.insert(1, crate::sql::call::Value::Int(pos));
    routed(row)
}

async fn log(conn: &Conn, from: Position, to: Position) -> Result<Vec<Routed>, StoreError> {
    let rows = conn.rows(sql::ROUTE_LOG, &[Arg::Int(from), Arg::Int(to), limit(PASS_EVENTS)]).await?;
    rows.into_iter().map(routed).collect()
}

/// Number, position, what routing looks at, and behind it the hold row if one was asked for.
fn routed(mut row: Row) -> Result<Routed, StoreError> {
    Ok(Routed {
        event: row.int(0)?,
        pos: row.int(1)?,
        source: row.text(2)?,
        namespace: row.text(3)?,
        kind: row.text(4)?,
        aggregate: row.opt_text(5)?,
        hold: row.opt_text(6)?.as_deref().and_then(HoldReason::parse),
        silent: matches!(row.text(7)?.as_str(), "import" | "copy"),
        held: if row.0.len() > 8 { held(&mut row)? } else { None },
    })
}

fn held(row: &mut Row) -> Result<Option<Held>, StoreError> {
    let reason = row.opt_text(8)?.as_deref().and_then(HoldReason::parse);
    let released = row.opt_int(9)?.map(|released| released != 0);
    Ok(reason.map(|reason| Held { reason, released }))
}

/// What became of the deliveries that the checks name.
async fn checks(conn: &Conn, checks: Vec<Check>) -> Result<Vec<(Check, Found)>, StoreError> {
    if checks.is_empty() {
        return Ok(Vec::new());
    }
    let lanes: Vec<i64> = checks.iter().map(|check| check.lane).collect();
    let behind: Vec<i64> = checks.iter().map(|check| check.behind).collect();
    let args = [Arg::Ints(&lanes), Arg::Ints(&behind)];
    let answers =
        conn.run(&[Call::new(sql::ROUTE_CHECK_LOCKS, &args), Call::new(sql::ROUTE_CHECK_THERE, &args)]).await?;
    let place = |row: &Row| Ok::<_, StoreError>((row.int(0)?, row.int(1)?));
    let mut found = BTreeMap::new();
    for row in answers.get(1).into_iter().flatten() {
        found.insert(place(row)?, Found::Held);
    }
    for row in answers.first().into_iter().flatten() {
        found.insert(place(row)?, Found::Locked { open: row.flag(2)? });
    }
    let of = |check: &Check| found.get(&(check.lane, check.behind)).copied().unwrap_or(Found::Gone);
    Ok(checks.into_iter().map(|check| (check, of(&check))).collect())
}

/// Requests with what they name, looked up for all of them together.
async fn requests(conn: &Conn, asked: Vec<Row>) -> Result<Vec<Request>, StoreError> {
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    kill_point!("requeue_taken");
    let (mut moves, mut releases, mut wishes) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    for mut row in asked {
        let (id, kind, event, delivery, decided) =
            (row.int(0)?, row.text(1)?, row.int(2)?, row.opt_int(3)?, row.opt_int(4)?);
        match (kind.as_str(), delivery) {
            ("release", _) => drop(releases.insert(event)),
            ("move", Some(delivery)) => drop(moves.insert(delivery)),
            _ => {}
        }
        wishes.push((id, kind, event, delivery, decided));
    }
    let (moves, releases) = (moved(conn, moves).await?, released(conn, releases).await?);
    let wish = |kind: &str, event: i64, delivery: Option<i64>| match (kind, delivery) {
        ("release", _) => releases.get(&event).cloned(),
        ("move", Some(delivery)) => moves.get(&delivery).cloned(),
        _ => None,
    };
    let request = |(id, kind, event, delivery, decided): (i64, String, i64, Option<i64>, Option<i64>)| Request {
        id,
        what: wish(&kind, event, delivery).unwrap_or(Wish::Gone),
        decided,
    };
    Ok(wishes.into_iter().map(request).collect())
}

/// Halted deliveries that do not hold their lanes, by id. Where one is there and its lock is not had, somebody decides
/// about it just now.
async fn moved(conn: &Conn, ids: BTreeSet<i64>) -> Result<BTreeMap<i64, Wish>, StoreError> {
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let ids: Vec<i64> = ids.into_iter().collect();
    let args = [Arg::Ints(&ids)];
    let answers = conn.run(&[Call::new(sql::ROUTE_MOVED, &args), Call::new(sql::ROUTE_MOVED_THERE, &args)]).await?;
    let mut moves = BTreeMap::new();
    for row in answers.get(1).into_iter().flatten() {
        moves.insert(row.int(0)?, Wish::Busy);
    }
    for row in answers.first().into_iter().flatten() {
        let id = row.int(0)?;
        let delivery = Moved {
            id,
            halted: id,
            lane: row.int(1)?,
            seq: row.int(2)?,
            event: row.int(3)?,
            consumer: row.int(4)?,
            generation: row.int(5)?,
            epoch: row.int(6)?,
        };
        moves.insert(id, Wish::Move { delivery });
    }
    Ok(moves)
}

async fn released(conn: &Conn, events: BTreeSet<i64>) -> Result<BTreeMap<i64, Wish>, StoreError> {
    if events.is_empty() {
        return Ok(BTreeMap::new());
    }
    let events: Vec<i64> = events.into_iter().collect();
    let args = [Arg::Ints(&events)];
    let calls = [Call::new(sql::ROUTE_RELEASED, &args), Call::new(sql::ROUTE_DELIVERED, &args)];
    let mut answers = conn.run(&calls).await?;
    let mut delivered: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for row in answers.pop().unwrap_or_default() {
        delivered.entry(row.int(0)?).or_default().push(row.int(1)?);
    }
    let mut wishes = BTreeMap::new();
    for row in answers.pop().unwrap_or_default() {
        let event = routed(row)?;
        let delivered = delivered.remove(&event.event).unwrap_or_default();
        wishes.insert(event.event, Wish::Release { event, delivered });
    }
    Ok(wishes)
}
