//! One pass of the router, in the writer's transaction: read what it stands on, decide in `core::route`, write.

use std::collections::BTreeMap;

use hookonce_core::event::{EventNo, HoldReason};
use hookonce_core::lane::Tail;
use hookonce_core::route::{
    self, Held, Moved, NewDelivery, Opened, PASS_EVENTS, PASS_REQUESTS, PASSES_KEPT, Pass, PassRows, Request, Routed,
    Routing, Tails, Wish,
};
use hookonce_core::time::Micros;
use hookonce_core::{kill_point, planted};

use super::conn::Conn;
use super::open;
use super::purge::forget;
use super::work::Work;
use crate::sql::call::{Arg, Row};
use crate::sql::cursor::{ids, listed};
use crate::sql::sqlite as sql;
use crate::store::{Passed, StoreError};

pub fn route(work: &mut Work, routing: &Routing) -> Result<Passed, StoreError> {
    kill_point!("pass_begun");
    let Some(last) = last(&work.conn)?.filter(|last| last.config == routing.config) else {
        return Ok(Passed { config_behind: true, ..Passed::default() });
    };
    let opened = opened(work, last, routing)?;
    let wanted = route::wanted(&opened, routing);
    let tails = tails(&work.conn, &wanted.lanes())?;
    let mut rows = route::pass(&opened, wanted, &tails, routing);
    if rows.is_empty(&opened) {
        return Ok(Passed::default());
    }
    if planted!("skip-delivery") {
        rows.deliveries.retain(|d| d.append.event % 17 != 0);
    }
    write(work, &rows)?;
    let more = more(work, &rows.pass, routing)?;
    Ok(passed(&opened, &rows, more))
}

fn passed(opened: &Opened, rows: &PassRows, more: bool) -> Passed {
    let mut woken: Vec<i64> = rows.deliveries.iter().filter(|d| d.runnable).map(|d| d.append.consumer).collect();
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

/// Whether the next pass has something to do.
fn more(work: &Work, pass: &Pass, routing: &Routing) -> Result<bool, StoreError> {
    let pos = last(&work.conn)?.map_or(0, |last| last.pos);
    let counter = counter(&work.inbox)?;
    let behind = route::turn(pass.own, pos, &work.group.cursors.of(routing), false).is_some();
    Ok(behind || pos < counter || !work.conn.rows(sql::ROUTE_REQUEUE, &[Arg::Int(1)])?.is_empty())
}

pub fn last(conn: &Conn) -> Result<Option<Pass>, StoreError> {
    let Some(mut row) = conn.row(sql::ROUTE_LAST, &[])? else { return Ok(None) };
    Ok(Some(Pass {
        n: row.int(0)?,
        pos: row.opt_int(1)?.unwrap_or(0),
        seq: row.int(2)?,
        config: row.int(3)?,
        own: row.opt_int(4)?,
        consumers: ids(&row.opt_text(5)?.unwrap_or_default()),
    }))
}

fn opened(work: &Work, last: Pass, routing: &Routing) -> Result<Opened, StoreError> {
    let cursors = work.group.cursors.of(routing);
    let counter = counter(&work.inbox)?;
    let requests = requests(work)?;
    let own = route::turn(last.own, last.pos, &cursors, !requests.is_empty() || last.pos < counter);
    let from = own.and_then(|id| cursors.get(&id).copied()).unwrap_or(last.pos);
    let to = if own.is_some() { last.pos } else { counter };
    let held = if own.is_some() { held(&work.conn, from, to)? } else { BTreeMap::new() };
    let mut events = events(&work.inbox, from, to, &held)?;
    let upto = if events.len() < PASS_EVENTS { to } else { events.last().map_or(from, |e| e.event) };
    if own.is_some() {
        staying(work, &mut events)?;
    }
    Ok(Opened { last, cursors, checks: Vec::new(), requests, events, upto, own })
}

/// A consumer that came meanwhile does not meet what was said to go: its rows would be left behind.
fn staying(work: &Work, events: &mut Vec<Routed>) -> Result<(), StoreError> {
    let (Some(first), Some(last)) = (events.first(), events.last()) else { return Ok(()) };
    let (said, kept) = forget::said(&work.conn, first.event - 1, last.event)?;
    events.retain(|event| event.event > said || kept.contains(&event.event));
    Ok(())
}

/// The last number that the inbox has given out. It is read before the events: these only grow.
pub fn counter(inbox: &Conn) -> Result<EventNo, StoreError> {
    let Some(mut row) = inbox.row(sql::ROUTE_COUNTER, &[])? else { return Ok(0) };
    open::parsed("event_counter", &row.blob(0)?)
}

fn requests(work: &Work) -> Result<Vec<Request>, StoreError> {
    let rows = work.conn.rows(sql::ROUTE_REQUEUE, &[Arg::Int(PASS_REQUESTS as i64)])?;
    if !rows.is_empty() {
        kill_point!("requeue_taken");
    }
    rows.into_iter().map(|row| request(work, row)).collect()
}

fn request(work: &Work, mut row: Row) -> Result<Request, StoreError> {
    let what = match (row.text(1)?.as_str(), row.opt_int(3)?) {
        ("release", _) => release(work, row.int(2)?)?,
        ("move", Some(delivery)) => moved(&work.conn, delivery)?,
        _ => Wish::Gone,
    };
    Ok(Request { id: row.int(0)?, what, decided: row.opt_int(4)? })
}

fn release(work: &Work, event: EventNo) -> Result<Wish, StoreError> {
    let Some(row) = work.inbox.row(sql::ROUTE_EVENT, &[Arg::Int(event)])? else { return Ok(Wish::Gone) };
    let delivered = work.conn.rows(sql::ROUTE_DELIVERED, &[Arg::Int(event)])?;
    let delivered = delivered.iter().map(|row| row.int(0)).collect::<Result<_, _>>()?;
    let held = held(&work.conn, event - 1, event)?;
    Ok(Wish::Release { event: routed(row, &held)?, delivered })
}

fn moved(conn: &Conn, id: i64) -> Result<Wish, StoreError> {
    let Some(row) = conn.row(sql::ROUTE_MOVED, &[Arg::Int(id)])? else { return Ok(Wish::Gone) };
    let delivery = Moved {
        id: row.int(0)?,
        halted: row.int(0)?,
        lane: row.int(1)?,
        seq: row.int(2)?,
        event: row.int(3)?,
        consumer: row.int(4)?,
        generation: row.int(5)?,
        epoch: row.int(6)?,
    };
    Ok(Wish::Move { delivery })
}

type Holds = BTreeMap<EventNo, Held>;

fn held(conn: &Conn, from: EventNo, to: EventNo) -> Result<Holds, StoreError> {
    let mut holds = Holds::new();
    for mut row in conn.rows(sql::ROUTE_HELD, &[Arg::Int(from), Arg::Int(to)])? {
        if let Some(reason) = HoldReason::parse(&row.text(1)?) {
            holds.insert(row.int(0)?, Held { reason, released: row.opt_int(2)?.map(|r| r != 0) });
        }
    }
    Ok(holds)
}

fn events(inbox: &Conn, from: EventNo, to: EventNo, held: &Holds) -> Result<Vec<Routed>, StoreError> {
    if from >= to {
        return Ok(Vec::new());
    }
    let args = [Arg::Int(from), Arg::Int(to), Arg::Int(PASS_EVENTS as i64)];
    inbox.rows(sql::ROUTE_EVENTS, &args)?.into_iter().map(|row| routed(row, held)).collect()
}

fn routed(mut row: Row, held: &Holds) -> Result<Routed, StoreError> {
    let event = row.int(0)?;
    Ok(Routed {
        event,
        pos: event,
        source: row.text(1)?,
        namespace: row.text(2)?,
        kind: row.text(3)?,
        aggregate: row.opt_text(4)?,
        hold: row.opt_text(5)?.as_deref().and_then(HoldReason::parse),
        silent: matches!(row.text(6)?.as_str(), "import" | "copy"),
        held: held.get(&event).copied(),
    })
}

fn tails(conn: &Conn, lanes: &[i64]) -> Result<Tails, StoreError> {
    let mut tails = Tails::new();
    for lane in lanes {
        if let Some(row) = conn.row(sql::ROUTE_TAIL, &[Arg::Int(*lane)])? {
            tails.insert(*lane, if row.flag(0)? { Tail::Open } else { Tail::Closed });
        }
    }
    Ok(tails)
}

fn write(work: &mut Work, rows: &PassRows) -> Result<(), StoreError> {
    let now = work.group.now;
    let conn = &work.conn;
    put_deliveries(conn, &rows.deliveries)?;
    put_work(conn, &rows.deliveries, now)?;
    for (event, reason) in &rows.holds {
        put_hold(conn, *event, *reason, now)?;
    }
    for event in &rows.closed {
        conn.exec(sql::ROUTE_WRITE_CLOSED, &[Arg::Int(*event)])?;
    }
    for event in &rows.reopened {
        put_hold(conn, *event, HoldReason::NoConsumer, now)?;
    }
    for id in &rows.done {
        conn.exec(sql::ROUTE_WRITE_DONE, &[Arg::Int(*id)])?;
    }
    put_pass(conn, &rows.pass, work.identity.instance, now)?;
    work.group.cursors.moved(&rows.pass);
    trim(work, rows.pass.n)
}

fn put_hold(conn: &Conn, event: EventNo, reason: HoldReason, now: Micros) -> Result<(), StoreError> {
    conn.exec(sql::ROUTE_WRITE_HOLD, &[Arg::Int(event), Arg::Text(reason.name()), Arg::Int(now)]).map(drop)
}

fn put_deliveries(conn: &Conn, all: &[NewDelivery]) -> Result<(), StoreError> {
    for new in all {
        if let Some(moved) = &new.append.moved {
            put_moved(conn, new, moved)?;
        }
    }
    let fresh = all.iter().filter(|new| new.append.moved.is_none());
    conn.each(
        sql::ROUTE_WRITE_DELIVERY,
        fresh.map(|new| {
            [
                Arg::Int(new.seq),
                Arg::Int(new.lane),
                Arg::Int(new.id),
                Arg::Int(new.append.consumer),
                Arg::Int(new.append.event),
                Arg::Int(new.append.generation),
                Arg::int(new.append.decided),
            ]
        }),
    )
}

fn put_moved(conn: &Conn, new: &NewDelivery, moved: &Moved) -> Result<(), StoreError> {
    let args = [Arg::Int(moved.seq), Arg::Int(new.seq), Arg::Int(new.lane), Arg::int(new.append.decided)];
    conn.exec(sql::ROUTE_WRITE_MOVED, &args)?;
    conn.row(sql::ROUTE_UNHALT, &[Arg::Int(moved.halted)]).map(drop)
}

/// Of those that are the first of a free lane.
fn put_work(conn: &Conn, all: &[NewDelivery], now: Micros) -> Result<(), StoreError> {
    let heads = all.iter().filter(|new| new.runnable || planted!("lane-unordered"));
    conn.each(
        sql::ROUTE_WRITE_WORK,
        heads.map(|new| {
            [
                Arg::Int(new.seq),
                Arg::Int(new.id),
                Arg::Int(new.lane),
                Arg::Int(new.append.event),
                Arg::Int(new.append.consumer),
                Arg::Int(new.append.generation),
                Arg::Int(now),
                Arg::int(new.append.decided),
                Arg::Int(new.epoch()),
            ]
        }),
    )
}

pub fn put_pass(conn: &Conn, pass: &Pass, node: i64, now: Micros) -> Result<(), StoreError> {
    let consumers = listed(&pass.consumers);
    let args = [
        Arg::Int(pass.n),
        Arg::Int(pass.pos),
        Arg::Int(pass.seq),
        Arg::Text(&consumers),
        Arg::int(pass.own),
        Arg::Int(pass.config),
        Arg::Int(node),
        Arg::Int(now),
    ];
    conn.exec(sql::ROUTE_WRITE_PASS, &args).map(drop)
}

/// Keeps the newest, the last that is nobody's own, and the last that lists or owns each consumer.
fn trim(work: &Work, n: i64) -> Result<(), StoreError> {
    if n <= PASSES_KEPT {
        return Ok(());
    }
    let mut kept = work.group.cursors.kept();
    kept.extend(work.conn.row(sql::ROUTE_LIVE, &[])?.map(|row| row.int(0)).transpose()?);
    let kept = format!("[{}]", listed(&kept));
    work.conn.exec(sql::ROUTE_TRIM, &[Arg::Int(n - PASSES_KEPT), Arg::Text(&kept)]).map(drop)
}
