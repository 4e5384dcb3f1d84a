//! Claims, renewals, releases. A claim gives a lease; whoever shows it again is believed, nobody else.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use hookonce_core::claim::{Ask, Claimed, LOST_QUIET};
use hookonce_core::lease::Lease;
use hookonce_core::settle::ATTEMPT_ROWS;
use hookonce_core::time::{Micros, SECOND};

use super::conn::Conn;
use super::sets::{Column, Sets};
use crate::sql::call::{Arg, Row, Stmt};
use crate::sql::postgres as sql;
use crate::store::{Identity, StoreError};

/// How far behind the newest claimed row a claim still looks, and how long that mark is believed.
const MARK: Micros = SECOND;

/// Where the claims of this process begin to look, for each consumer. Whatever it hides is found when the mark is taken
/// back: once a second, and as soon as a claim finds less than it asked for.
#[derive(Debug, Default)]
pub struct Marks(Mutex<BTreeMap<i64, Mark>>);

#[derive(Clone, Copy, Debug)]
struct Mark {
    above: Micros,
    since: Micros,
}

impl Marks {
    fn above(&self, ask: &Ask) -> Micros {
        let marks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        marks.get(&ask.consumer).filter(|_| !ask.quiet).map_or(Micros::MIN, |mark| mark.above)
    }

    fn see(&self, ask: &Ask, claimed: &[(Micros, Claimed)]) {
        let mut marks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let full = claimed.last().filter(|_| claimed.len() == ask.tokens.len() && !ask.quiet);
        let Some((due, last)) = full else {
            if !ask.quiet {
                marks.remove(&ask.consumer);
            }
            return;
        };
        let above = due.saturating_sub(MARK);
        let mark = marks.entry(ask.consumer).or_insert(Mark { above, since: last.now });
        match last.now.saturating_sub(mark.since) {
            0..MARK => mark.above = mark.above.max(above),
            _ => drop(marks.remove(&ask.consumer)),
        }
    }
}

/// The arguments of a claim, made to live as long as its call.
pub fn columns<'a>(ask: &'a Ask, marks: &Marks) -> (&'static Stmt, Vec<Column<'a>>) {
    let (stmt, limit) = if ask.quiet { (sql::CLAIM_QUIET, 1) } else { (sql::CLAIM, ask.tokens.len() as i64) };
    let columns = vec![
        Column::All(Arg::Int(ask.consumer)),
        Column::Blobs(ask.tokens.iter().map(|token| &token[..]).collect()),
        Column::All(Arg::Int(marks.above(ask))),
        Column::All(Arg::Int(LOST_QUIET)),
        Column::All(Arg::Int(limit)),
        Column::All(Arg::Int(ask.lease)),
        Column::All(Arg::Int(ask.owner)),
        Column::All(Arg::Int(ATTEMPT_ROWS)),
    ];
    (stmt, columns)
}

/// One statement, which commits by itself.
pub async fn claim(conn: &Conn, identity: &Identity, marks: &Marks, ask: &Ask) -> Result<Vec<Claimed>, StoreError> {
    if ask.tokens.is_empty() {
        return Ok(Vec::new());
    }
    let mut sets = Sets::default();
    let (stmt, columns) = columns(ask, marks);
    sets.add(stmt, columns);
    let rows = sets.run(conn).await?.take(stmt);
    claimed(rows, identity, marks, ask)
}

/// What the claim answered, oldest first, as it took them.
pub fn claimed(rows: Vec<Row>, identity: &Identity, marks: &Marks, ask: &Ask) -> Result<Vec<Claimed>, StoreError> {
    let one = |row| one(row, identity, ask.consumer);
    let mut claimed: Vec<(Micros, Claimed)> = rows.into_iter().map(one).collect::<Result<_, _>>()?;
    claimed.sort_by_key(|(due, claimed)| (*due, claimed.lease.seq));
    marks.see(ask, &claimed);
    Ok(claimed.into_iter().map(|(_, claimed)| claimed).collect())
}

/// When it had been due, and what was made of it. Whether it is cancelled is read behind the claim.
fn one(mut row: Row, identity: &Identity, consumer: i64) -> Result<(Micros, Claimed), StoreError> {
    let claimed = Claimed {
        lease: Lease { seq: row.int(0)?, epoch: row.int(10)?, token: row.bytes(2)?, store: identity.generation },
        id: row.int(1)?,
        lane: row.int(3)?,
        event: row.int(4)?,
        consumer,
        generation: row.int(5)?,
        attempts: row.int(6)?,
        lost: row.int(7)?,
        since: row.opt_int(8)?,
        decided: row.opt_int(9)?,
        cancel: false,
        now: row.int(12)?,
    };
    Ok((row.int(11)?, claimed))
}

/// The fence, as every statement that shows leases begins its arguments.
pub fn fence<'a>(leases: &[&'a Lease], identity: &Identity) -> Vec<Column<'a>> {
    vec![
        Column::ints(leases, |lease| lease.seq),
        Column::ints(leases, |lease| lease.epoch),
        Column::Blobs(leases.iter().map(|lease| &lease.token[..]).collect()),
        Column::ints(leases, |lease| lease.store),
        Column::All(Arg::Int(identity.generation)),
    ]
}

/// The leases that do not hold any more.
pub async fn renew(conn: &Conn, identity: &Identity, leases: &[Lease], by: Micros) -> Result<Vec<Lease>, StoreError> {
    let mut args = fence(&leases.iter().collect::<Vec<_>>(), identity);
    args.push(Column::All(Arg::Int(by)));
    let mut sets = Sets::default();
    sets.add(sql::RENEW, args);
    let kept = sets.run(conn).await?.take(sql::RENEW);
    let kept: Vec<(i64, i64)> =
        kept.iter().map(|row| Ok((row.int(0)?, row.int(1)?))).collect::<Result<_, StoreError>>()?;
    // By its epoch, too: whoever was overtaken by himself shows both.
    Ok(leases.iter().filter(|lease| !kept.contains(&(lease.seq, lease.epoch))).copied().collect())
}

pub async fn release(conn: &Conn, identity: &Identity, leases: &[Lease]) -> Result<(), StoreError> {
    let mut sets = Sets::default();
    sets.add(sql::RELEASE, fence(&leases.iter().collect::<Vec<_>>(), identity));
    sets.run(conn).await.map(drop)
}

/// When something of that consumer falls due, and the clock that this is told by.
pub async fn next_due(conn: &Conn, consumer: i64) -> Result<(Option<Micros>, Micros), StoreError> {
    let row = conn.row(sql::NEXT_DUE, &[Arg::Int(consumer)]).await?.unwrap_or_default();
    Ok((row.opt_int(0)?, row.int(1)?))
}
