//! What a pass writes, in one flight. Nothing of it waits for anybody: what could be somebody else's was locked before,
//! and the rest is new.

use hookonce_core::event::{EventNo, HoldReason};
use hookonce_core::planted;
use hookonce_core::route::{Moved, NewDelivery, Opened, PASSES_KEPT, Pass, PassRows};

use super::Memory;
use crate::postgres::conn::Conn;
use crate::postgres::sets::{Column, Sets};
use crate::sql::call::Arg;
use crate::sql::cursor::listed;
use crate::sql::postgres as sql;
use crate::store::{Identity, StoreError};

/// One in so many trims looks at all old passes again: others may have held some of them.
const TRIM_ALL: i64 = 1_000;

/// Answers whose lanes were asked for their next and had one; `None`: the pass has its number no more.
pub async fn write(
    conn: &Conn,
    identity: &Identity,
    memory: &mut Memory,
    opened: &Opened,
    rows: &PassRows,
) -> Result<Option<Vec<i64>>, StoreError> {
    let (consumers, kept) = (listed(&rows.pass.consumers), memory.cursors.kept());
    let mut sets = Sets::default();
    checks(&mut sets, rows);
    appends(&mut sets, &rows.deliveries);
    holds(&mut sets, rows);
    sets.add(sql::ROUTE_WRITE_DONE, [Column::Ints(rows.done.clone())]);
    log(&mut sets, opened);
    sets.add(sql::ROUTE_WRITE_PASS, pass(&rows.pass, &consumers, identity.instance));
    trim(&mut sets, memory, rows.pass.n - PASSES_KEPT, &kept);
    let mut answers = sets.run(conn).await?;
    let ours = !answers.take(sql::ROUTE_WRITE_PASS).is_empty();
    let woken = answers.firsts(sql::ROUTE_CHECK_NEXT)?;
    Ok(ours.then_some(woken))
}

/// First of all: what the appends put into a free lane has its work row from them.
fn checks(sets: &mut Sets<'_>, rows: &PassRows) {
    let (lanes, behind) = (Column::ints(&rows.headless, |c| c.lane), Column::ints(&rows.headless, |c| c.behind));
    sets.add(sql::ROUTE_CHECK_NEXT, [lanes, behind]);
    sets.add(sql::ROUTE_WRITE_CHECKED, [Column::Ints(rows.checked.clone())]);
    let (lanes, behind) = rows.unsure.iter().copied().unzip();
    sets.add(sql::ROUTE_WRITE_CHECKS, [Column::Ints(lanes), Column::Ints(behind)]);
}

fn appends(sets: &mut Sets<'_>, deliveries: &[NewDelivery]) {
    let new: Vec<&NewDelivery> = deliveries.iter().filter(|d| d.append.moved.is_none()).collect();
    sets.add(sql::ROUTE_WRITE_DELIVERIES, columns(&new));
    let moved: Vec<(&NewDelivery, &Moved)> =
        deliveries.iter().filter_map(|d| d.append.moved.as_ref().map(|moved| (d, moved))).collect();
    sets.add(
        sql::ROUTE_WRITE_MOVED,
        [
            Column::ints(&moved, |(_, before)| before.lane),
            Column::ints(&moved, |(_, before)| before.seq),
            Column::ints(&moved, |(d, _)| d.lane),
            Column::ints(&moved, |(d, _)| d.seq),
            Column::opt_ints(&moved, |(d, _)| d.append.decided),
        ],
    );
    sets.add(sql::ROUTE_UNHALT, [Column::ints(&moved, |(_, before)| before.halted)]);
    let runnable = |d: &&NewDelivery| d.runnable || planted!("lane-unordered");
    let runnable: Vec<&NewDelivery> = deliveries.iter().filter(runnable).collect();
    let mut work = columns(&runnable);
    work.push(Column::ints(&runnable, |d| d.epoch()));
    sets.add(sql::ROUTE_WRITE_WORK, work);
}

/// What a delivery row and its work row share.
fn columns(rows: &[&NewDelivery]) -> Vec<Column<'static>> {
    vec![
        Column::ints(rows, |d| d.seq),
        Column::ints(rows, |d| d.lane),
        Column::ints(rows, |d| d.id),
        Column::ints(rows, |d| d.append.consumer),
        Column::ints(rows, |d| d.append.event),
        Column::ints(rows, |d| d.append.generation),
        Column::opt_ints(rows, |d| d.append.decided),
    ]
}

fn holds(sets: &mut Sets<'_>, rows: &PassRows) {
    let again = rows.reopened.iter().map(|event| (*event, HoldReason::NoConsumer));
    let (events, reasons) = rows.holds.iter().copied().chain(again).map(|(event, why)| (event, why.name())).unzip();
    sets.add(sql::ROUTE_WRITE_HOLDS, [Column::Ints(events), Column::Texts(reasons)]);
    sets.add(sql::ROUTE_WRITE_CLOSED, [Column::Ints(rows.closed.clone())]);
}

/// A catching-up consumer's own pass goes over what is in the log already.
fn log(sets: &mut Sets<'_>, opened: &Opened) {
    if opened.own.is_none() {
        let events: Vec<EventNo> = opened.events.iter().map(|e| e.event).collect();
        sets.add(sql::ROUTE_WRITE_LOG, [Column::ints(&opened.events, |e| e.pos), Column::Ints(events.clone())]);
        sets.add(sql::ROUTE_WRITE_ARRIVED, [Column::Ints(events)]);
    }
}

fn pass<'a>(pass: &Pass, consumers: &'a str, node: i64) -> [Column<'a>; 7] {
    [
        Arg::Int(pass.n),
        Arg::Int(pass.pos),
        Arg::Int(pass.seq),
        Arg::Text(consumers),
        Arg::int(pass.own),
        Arg::Int(pass.config),
        Arg::Int(node),
    ]
    .map(Column::All)
}

/// From where the last trim ended: under somebody's old snapshot the index still has all that were trimmed before.
fn trim<'a>(sets: &mut Sets<'a>, memory: &mut Memory, oldest: i64, kept: &'a [i64]) {
    let from = if oldest % TRIM_ALL == 0 { 0 } else { memory.trimmed };
    if oldest > from {
        sets.add(sql::ROUTE_TRIM, [Arg::Int(from), Arg::Int(oldest), Arg::Ints(kept)].map(Column::All));
        memory.trimmed = oldest;
    }
}
