//! A reader's part: what is ripe, and what is going.

use hookonce_core::event::EventNo;
use hookonce_core::retain::{Retention, STEP_AGAIN, STEP_NEW, What};
use hookonce_core::time::Micros;

use super::{Going, Ripe, marks};
use crate::sql::call::Arg;
use crate::sql::retain::{Candidate, Looked, looked};
use crate::sql::sqlite as sql;
use crate::sqlite::conn::Conn;
use crate::sqlite::open::number;
use crate::store::StoreError;

pub fn ripe(inbox: &Conn, work: &Conn, retention: &Retention, now: Micros) -> Result<Vec<Ripe>, StoreError> {
    let mut all = Vec::new();
    for what in What::ALL {
        let from = number(work, marks(what).1)?;
        // A key never goes before its bytes have been asked about.
        let to = if what == What::Event { number(work, marks(What::Payload).1)? } else { EventNo::MAX };
        let new = stretch(inbox, from, to, STEP_NEW)?;
        let new = new.into_iter().take_while(|one| retention.ripe(what, one.aged.received, now));
        let new = new.map(|one| candidate(inbox, what, one)).collect::<Result<_, _>>()?;
        let args = [Arg::Text(what.name()), Arg::Int(now), Arg::Int(STEP_AGAIN as i64)];
        let mut again = Vec::new();
        for event in firsts(work, sql::PURGE_AGAIN, &args)? {
            for one in stretch(inbox, event - 1, event, 1)? {
                again.push(candidate(inbox, what, one)?);
            }
        }
        all.push(Ripe { what, from, new, again });
    }
    Ok(all)
}

fn candidate(inbox: &Conn, what: What, one: Looked) -> Result<Candidate, StoreError> {
    let (payload, event) = (Arg::Int(one.payload), one.aged.event);
    let alone = what == What::Event || !one.part;
    let of = match alone || is_last(inbox, &one)? {
        true if alone => vec![event],
        true => firsts(inbox, sql::PURGE_PARTS, &[payload])?,
        false => Vec::new(),
    };
    let asks = what == What::Payload && !of.is_empty();
    let undecided = asks && inbox.row(sql::PURGE_UNDECIDED, &[payload])?.unwrap_or_default().flag(0)?;
    Ok(Candidate { aged: one.aged, of, undecided })
}

fn is_last(inbox: &Conn, one: &Looked) -> Result<bool, StoreError> {
    let last = inbox.row(sql::PURGE_LAST, &[Arg::Int(one.payload)])?.unwrap_or_default().opt_int(0)?;
    Ok(last == Some(one.aged.event))
}

pub fn stretch(inbox: &Conn, from: EventNo, to: EventNo, limit: usize) -> Result<Vec<Looked>, StoreError> {
    let args = [Arg::Int(from), Arg::Int(to), Arg::Int(limit as i64)];
    inbox.rows(sql::PURGE_LOOK, &args)?.into_iter().map(looked).collect()
}

fn firsts(conn: &Conn, stmt: &'static crate::sql::call::Stmt, args: &[Arg<'_>]) -> Result<Vec<i64>, StoreError> {
    conn.rows(stmt, args)?.iter().map(|row| row.int(0)).collect()
}

/// Read off what is written down, so that it is the same after a crash.
pub fn going(inbox: &Conn, work: &Conn) -> Result<Going, StoreError> {
    let mut going = Going::default();
    for what in What::ALL {
        let (said, done) = (number(work, marks(what).0)?, number(work, marks(what).1)?);
        let mut events = firsts(work, sql::PURGE_GOING, &[Arg::Text(what.name())])?;
        going.said |= done < said || !events.is_empty();
        let stretch = stretch(inbox, done, said.max(done), STEP_NEW)?;
        let kept = [Arg::Text(what.name()), Arg::Int(done), Arg::Int(said)];
        let kept = firsts(work, sql::PURGE_KEPT, &kept)?;
        events.extend(stretch.iter().map(|one| one.aged.event).filter(|event| !kept.contains(event)));
        match what {
            What::Payload => going.payloads = payloads(inbox, &events)?,
            What::Event => going.events = events,
        }
    }
    Ok(going)
}

fn payloads(inbox: &Conn, events: &[EventNo]) -> Result<Vec<i64>, StoreError> {
    let mut payloads = Vec::new();
    for event in events {
        for one in stretch(inbox, event - 1, *event, 1)? {
            if !one.part || is_last(inbox, &one)? {
                payloads.push(one.payload);
            }
        }
    }
    Ok(payloads)
}
