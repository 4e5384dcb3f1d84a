//! Settling: the ending was decided before; the statements only test the fence and write it. Settle and the next claim
//! are one flight and one commit.

use hookonce_core::claim::{Ask, Claimed};
use hookonce_core::lease::Lease;
use hookonce_core::settle::{ATTEMPT_ROWS, Ending, How, Settled, receipt};
use hookonce_core::{kill_point, planted};

use super::claim::{self, Marks, fence};
use super::conn::Conn;
use super::sets::{Column, Sets};
use super::store::Base;
use crate::sql::call::Arg;
use crate::sql::postgres as sql;
use crate::store::{Identity, StoreError};

pub async fn settle(
    base: &Base,
    endings: &[Ending],
    next: Option<&Ask>,
) -> Result<(Vec<Settled>, Vec<Claimed>), StoreError> {
    let run = |conn: Conn| async move { whole(&conn, &base.identity, &base.marks, endings, next).await };
    let answer = base.work.tx(run).await?;
    kill_point!("settled");
    Ok(answer)
}

async fn whole(
    conn: &Conn,
    identity: &Identity,
    marks: &Marks,
    endings: &[Ending],
    next: Option<&Ask>,
) -> Result<(Vec<Settled>, Vec<Claimed>), StoreError> {
    let unfenced = if planted!("settle-unfenced") { Some(whatever(conn, endings).await?) } else { None };
    let endings = unfenced.as_deref().unwrap_or(endings);
    let mut sets = Sets::default();
    statements(&mut sets, identity, endings);
    let next = next.filter(|ask| !ask.tokens.is_empty()).map(|ask| (ask, claim::columns(ask, marks)));
    let asked = next.map(|(ask, (stmt, columns))| {
        sets.add(stmt, columns);
        (ask, stmt)
    });
    let mut answers = sets.run(conn).await?;
    kill_point!("settling");
    let mut kept = answers.firsts(sql::SETTLE_END)?;
    kept.extend(answers.firsts(sql::SETTLE_LATER)?);
    let claimed = match asked {
        Some((ask, stmt)) => claim::claimed(answers.take(stmt), identity, marks, ask)?,
        None => Vec::new(),
    };
    Ok((receipt(endings, &kept), claimed))
}

/// Planted bug: the leases that are on the rows, whoever's they are.
async fn whatever(conn: &Conn, endings: &[Ending]) -> Result<Vec<Ending>, StoreError> {
    let seqs: Vec<i64> = endings.iter().map(|ending| ending.lease.seq).collect();
    let mut endings = endings.to_vec();
    for mut row in conn.rows(sql::PLANTED_LEASE, &[Arg::Ints(&seqs)]).await? {
        let (seq, epoch, token) = (row.int(0)?, row.int(1)?, row.bytes(2)?);
        for ending in endings.iter_mut().filter(|ending| ending.lease.seq == seq) {
            ending.lease = Lease { epoch, token, ..ending.lease };
        }
    }
    Ok(endings)
}

/// Locks first: work rows by `seq`, then the deliveries that leave their lanes; who is next is read behind them.
pub fn statements<'a>(sets: &mut Sets<'a>, identity: &Identity, endings: &'a [Ending]) {
    let (later, ended): (Vec<&Ending>, Vec<&Ending>) =
        endings.iter().partition(|ending| matches!(ending.how, How::Later { .. }));
    let of = |endings: &[&'a Ending]| fence(&endings.iter().map(|e| &e.lease).collect::<Vec<&Lease>>(), identity);
    sets.add(sql::SETTLE_LOCK, of(&endings.iter().collect::<Vec<_>>()));
    let leaving: Vec<&Ending> = ended.iter().copied().filter(|ending| leaves(ending)).collect();
    let (lanes, seqs) = (Column::ints(&leaving, |e| e.lane), Column::ints(&leaving, |e| e.lease.seq));
    sets.add(sql::SETTLE_LANE, [lanes, seqs]);
    sets.add(sql::SETTLE_END, [of(&ended), ends(&ended), tried(&ended)].concat());
    sets.add(sql::SETTLE_LATER, [of(&later), again(&later), tried(&later)].concat());
}

/// A delivery without a lane has nobody behind it.
fn leaves(ending: &Ending) -> bool {
    ending.lane < 0 && !holds(ending)
}

fn holds(ending: &Ending) -> bool {
    matches!(ending.how, How::Halted { holds_lane: true, .. })
}

fn ends<'a>(endings: &[&'a Ending]) -> Vec<Column<'a>> {
    let state = |how: &How| match how {
        How::Closed(state) => state.name(),
        How::Halted { kind, .. } => kind.state().name(),
        How::Later { .. } => "",
    };
    let halted = |how: &'a How| match how {
        How::Halted { kind, reason, .. } => (Some(kind.name()), Some(reason.as_str())),
        _ => (None, None),
    };
    let (kinds, reasons) = endings.iter().map(|e| halted(&e.how)).unzip();
    vec![
        Column::Bools(endings.iter().map(|e| holds(e)).collect()),
        Column::Texts(endings.iter().map(|e| state(&e.how)).collect()),
        Column::ints(endings, |e| e.attempts),
        Column::OptTexts(kinds),
        Column::OptTexts(reasons),
    ]
}

fn again<'a>(endings: &[&'a Ending]) -> Vec<Column<'a>> {
    let (delays, counted) = endings
        .iter()
        .filter_map(|e| match e.how {
            How::Later { delay, counted } => Some((delay, counted)),
            _ => None,
        })
        .unzip();
    vec![Column::Ints(delays), Column::Bools(counted), Column::ints(endings, |e| e.attempts)]
}

fn tried<'a>(endings: &[&'a Ending]) -> Vec<Column<'a>> {
    vec![
        Column::ints(endings, |e| e.attempt.started),
        Column::ints(endings, |e| e.attempt.started.saturating_add(e.attempt.took)),
        Column::Texts(endings.iter().map(|e| e.attempt.outcome).collect()),
        Column::Texts(endings.iter().map(|e| e.attempt.detail.as_str()).collect()),
        Column::All(Arg::Int(ATTEMPT_ROWS)),
    ]
}
