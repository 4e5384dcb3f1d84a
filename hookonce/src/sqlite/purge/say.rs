//! The work writer's first part: judges what is ripe and says what goes. From its commit on no pass hands on what it
//! names.

use hookonce_core::consumer::Standing;
use hookonce_core::event::EventNo;
use hookonce_core::retain::{self, Done, Retention, What};

use super::{Ripe, marks};
use crate::sql::call::Arg;
use crate::sql::retain::Candidate;
use crate::sql::sqlite as sql;
use crate::sqlite::conn::Conn;
use crate::sqlite::work::Work;
use crate::sqlite::{open, route};
use crate::store::StoreError;

pub fn say(work: &Work, retention: &Retention, ripe: &[Ripe]) -> Result<(), StoreError> {
    let bound = bound(work)?;
    ripe.iter().try_for_each(|ripe| one(work, retention, ripe, bound))
}

fn one(work: &Work, retention: &Retention, ripe: &Ripe, bound: EventNo) -> Result<(), StoreError> {
    let (conn, now, what) = (&work.conn, work.group.now, ripe.what);
    let judge = |one: &Candidate| {
        let done = done(conn, one)?;
        Ok::<_, StoreError>(retain::may_go(retention, what, &one.aged, done, now))
    };
    let mut judged = Vec::new();
    for one in ripe.new.iter().take_while(|one| one.aged.event <= bound) {
        let verdict = if one.of.is_empty() { None } else { Some(judge(one)?) };
        judged.push((one.aged.event, verdict));
    }
    let walked = retain::walk(ripe.from, judged);
    for (event, due) in &walked.stay {
        keep(conn, *event, what, Some(*due))?;
    }
    for one in ripe.again.iter().filter(|one| one.aged.event <= bound) {
        keep(conn, one.aged.event, what, retain::again(judge(one)?, now))?;
    }
    if walked.upto > ripe.from {
        open::put(conn, marks(what).0, &walked.upto.to_string())?;
    }
    Ok(())
}

pub fn keep(conn: &Conn, event: EventNo, what: What, due: Option<i64>) -> Result<(), StoreError> {
    conn.exec(sql::PURGE_KEEP, &[Arg::Int(event), Arg::Text(what.name()), Arg::int(due)]).map(drop)
}

fn done(conn: &Conn, one: &Candidate) -> Result<Done, StoreError> {
    let mut all = Done { open: one.undecided, ended: None };
    for event in &one.of {
        let row = conn.row(sql::PURGE_FACTS, &[Arg::Int(*event)])?.unwrap_or_default();
        all = all.and(Done { open: row.flag(0)?, ended: row.opt_int(1)? });
    }
    Ok(all)
}

/// What the router or a consumer that is listed has yet to read stays.
fn bound(work: &Work) -> Result<EventNo, StoreError> {
    let mut bound = route::last(&work.conn)?.map_or(0, |last| last.pos);
    for mut row in work.conn.rows(sql::READ_CONSUMERS, &[])? {
        if Standing::parse(&row.text(2)?).is_some_and(|standing| standing.listed) {
            bound = bound.min(work.group.cursors.at(row.int(0)?));
        }
    }
    Ok(bound)
}
