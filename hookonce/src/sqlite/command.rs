//! What a person decides: its change and its audit row in one commit, in the file that it changes.

use hookonce_core::command::{self, Back, Command, Refused, Who};
use hookonce_core::delivery::HaltKind;
use hookonce_core::time::Micros;

use super::audit;
use super::claim;
use super::conn::Conn;
use crate::sql::audit::Decision;
use crate::sql::call::{Arg, Row};
use crate::sql::sqlite as sql;
use crate::store::StoreError;

type Decided = Result<Result<i64, Refused>, StoreError>;

/// Commands on the inbox file.
pub fn inbox(conn: &Conn, now: Micros, what: &Command, who: &Who) -> Decided {
    match what {
        Command::UnmappedDrop { id } => unmapped_drop(conn, now, *id, what, who),
        _ => Ok(Err(Refused::NotFound)),
    }
}

/// Commands on the work file.
pub fn work(conn: &Conn, now: Micros, what: &Command, who: &Who) -> Decided {
    match what {
        Command::DeadRetry { delivery } => dead_retry(conn, now, *delivery, what, who),
        Command::HeldRelease { event } => held(conn, now, *event, true, what, who),
        Command::HeldDrop { event } => held(conn, now, *event, false, what, who),
        Command::ConsumerPause { consumer } => stand(conn, now, *consumer, true, what, who),
        Command::ConsumerResume { consumer } => stand(conn, now, *consumer, false, what, who),
        Command::UnmappedDrop { .. } => Ok(Err(Refused::NotFound)),
    }
}

fn said(conn: &Conn, now: Micros, what: &Command, who: &Who, target: i64) -> Result<i64, StoreError> {
    let target = target.to_string();
    let decision =
        Decision { actor: &who.actor, action: what.name(), target: &target, reason: &who.reason, detail: "" };
    audit::write(conn, now, &decision)
}

fn unmapped_drop(conn: &Conn, now: Micros, id: i64, what: &Command, who: &Who) -> Decided {
    let mark = format!("dropped by {}", who.actor);
    if conn.exec(sql::UNMAPPED_DECIDE, &[Arg::Int(id), Arg::Text(&mark)])? == 0 {
        let there = conn.row(sql::UNMAPPED_FIND, &[Arg::Int(id)])?.is_some();
        return Ok(Err(if there { Refused::State } else { Refused::NotFound }));
    }
    said(conn, now, what, who, id).map(Ok)
}

fn dead_retry(conn: &Conn, now: Micros, delivery: i64, what: &Command, who: &Who) -> Decided {
    let mut found = conn.row(sql::COMMAND_HALTED, &[Arg::Int(delivery)])?;
    let kind = found.as_mut().map(|row| row.text(0)).transpose()?.and_then(|kind| HaltKind::parse(&kind));
    let open = found.as_ref().map_or(Ok(false), |row| row.flag(1))?;
    let back = match (command::retry(kind, open), found) {
        (Ok(back), Some(row)) => (back, row),
        (Err(refused), _) => return Ok(Err(refused)),
        (Ok(_), None) => return Ok(Err(Refused::NotFound)),
    };
    let audit = said(conn, now, what, who, delivery)?;
    match back {
        (Back::InPlace, row) => in_place(conn, &row, delivery, audit, now)?,
        (Back::Tail, row) => requeue(conn, "move", row.int(3)?, Some((&row, delivery)), audit)?,
    }
    Ok(Ok(audit))
}

/// What holds its lane comes back where it stands, from the beginning of its patience.
fn in_place(conn: &Conn, halted: &Row, delivery: i64, audit: i64, now: Micros) -> Result<(), StoreError> {
    let seq = halted.int(2)?;
    let epoch = conn.row(sql::ROUTE_UNHALT, &[Arg::Int(delivery)])?.unwrap_or_default().int(0)?;
    conn.exec(sql::COMMAND_REOPEN, &[Arg::Int(seq), Arg::Int(audit)])?;
    conn.exec(sql::COMMAND_WORK, &[Arg::Int(seq), Arg::Int(now), Arg::Int(epoch)]).map(drop)
}

fn requeue(conn: &Conn, kind: &str, event: i64, moved: Option<(&Row, i64)>, audit: i64) -> Result<(), StoreError> {
    let (consumer, generation, delivery) = match moved {
        Some((row, delivery)) => (Some(row.int(4)?), row.int(5)?, Some(delivery)),
        None => (None, 0, None),
    };
    let args = [
        Arg::Text(kind),
        Arg::Int(event),
        Arg::int(consumer),
        Arg::Int(generation),
        Arg::Int(audit),
        Arg::int(delivery),
    ];
    conn.exec(sql::COMMAND_REQUEUE, &args).map(drop)
}

fn held(conn: &Conn, now: Micros, event: i64, release: bool, what: &Command, who: &Who) -> Decided {
    let found = conn.row(sql::COMMAND_HOLD, &[Arg::Int(event)])?;
    let found = found.map(|row| row.opt_int(0)).transpose()?.map(|released| released.map(|r| r != 0));
    if let Err(refused) = command::hold(found) {
        return Ok(Err(refused));
    }
    let audit = said(conn, now, what, who, event)?;
    conn.exec(sql::COMMAND_DECIDE, &[Arg::Int(event), Arg::Int(audit), Arg::Int(release.into())])?;
    if release {
        requeue(conn, "release", event, None, audit)?;
    }
    Ok(Ok(audit))
}

fn stand(conn: &Conn, now: Micros, consumer: i64, paused: bool, what: &Command, who: &Who) -> Decided {
    let to = match command::stand(claim::standing(conn, consumer)?, paused) {
        Ok(to) => to,
        Err(refused) => return Ok(Err(refused)),
    };
    conn.exec(sql::COMMAND_STATE, &[Arg::Int(consumer), Arg::Text(to.name())])?;
    said(conn, now, what, who, consumer).map(Ok)
}

/// The number of an identity rule: equal definitions share it.
pub fn rule(conn: &Conn, now: Micros, source: &str, definition: &str) -> Result<i64, StoreError> {
    if let Some(row) = conn.row(sql::RULE_FIND, &[Arg::Text(definition)])? {
        let number = row.int(0)?;
        conn.exec(sql::RULE_USED, &[Arg::Int(number), Arg::Int(now)])?;
        return Ok(number);
    }
    let args = [Arg::Text(source), Arg::Text(definition), Arg::Int(now)];
    conn.row(sql::RULE_PUT, &args)?.unwrap_or_default().int(0)
}
