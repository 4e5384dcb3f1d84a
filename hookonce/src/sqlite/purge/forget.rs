//! The work writer's last part: what is gone from the inbox leaves nothing behind.

use hookonce_core::event::EventNo;
use hookonce_core::retain::What;

use super::say::keep;
use super::{Survivors, marks};
use crate::sql::call::{Arg, Row};
use crate::sql::sqlite as sql;
use crate::sqlite::conn::Conn;
use crate::sqlite::open::{number, put};
use crate::store::StoreError;

pub fn forget(conn: &Conn, survivors: &Survivors) -> Result<(), StoreError> {
    for (event, due) in survivors {
        keep(conn, *event, What::Event, Some(*due))?;
    }
    What::ALL.into_iter().try_for_each(|what| one(conn, what))
}

fn one(conn: &Conn, what: What) -> Result<(), StoreError> {
    let (said, done) = (number(conn, marks(what).0)?, number(conn, marks(what).1)?);
    for row in conn.rows(sql::PURGE_GOING, &[Arg::Text(what.name())])? {
        let event = row.int(0)?;
        conn.exec(sql::PURGE_GONE, &[Arg::Int(event), Arg::Text(what.name())])?;
        rest(conn, what, event - 1, event)?;
    }
    if done < said {
        rest(conn, what, done, said)?;
        put(conn, marks(what).1, &said.to_string())?;
    }
    Ok(())
}

/// Of a stretch without what is kept.
fn rest(conn: &Conn, what: What, from: EventNo, to: EventNo) -> Result<(), StoreError> {
    if what == What::Payload {
        return Ok(());
    }
    let stretch = [Arg::Int(from), Arg::Int(to)];
    let stmts = [sql::PURGE_ATTEMPTS, sql::PURGE_DELIVERIES, sql::PURGE_HOLDS];
    stmts.into_iter().try_for_each(|stmt| conn.exec(stmt, &stretch).map(drop))
}

/// Whether an event is going, as a pass that reads the past must know: up to there all but these are.
pub fn said(conn: &Conn, from: EventNo, to: EventNo) -> Result<(EventNo, Vec<EventNo>), StoreError> {
    let said = number(conn, marks(What::Event).0)?;
    if said <= from {
        return Ok((said, Vec::new()));
    }
    let args = [Arg::Text(What::Event.name()), Arg::Int(from), Arg::Int(to)];
    let kept = conn.rows(sql::PURGE_KEPT, &args)?;
    Ok((said, kept.iter().map(|row: &Row| row.int(0)).collect::<Result<_, _>>()?))
}
