//! The work file's writer: settles, passes, claims, commands. It may lag behind the inbox file, and nothing here is
//! waited for by an ack.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use hookonce_core::kill_point;
use hookonce_core::retain::{STEP_AGAIN, STEP_NEW};
use hookonce_core::time::Micros;

use super::conn::Conn;
use super::job::{WorkAsk, WorkJob, WorkReply};
use super::purge::{forget, say};
use super::writer::{Failure, Instruments, Writer};
use super::{Options, claim, command, configure, route, settle, sweep};
use crate::clock::Clock;
use crate::sql::cursor::Cursors;
use crate::sql::sqlite as sql;
use crate::store::{Identity, StoreError};

/// Jobs in one commit.
const GROUP_JOBS: usize = 256;
/// Work rows that the jobs of one commit touch together, so that nobody waits long behind a crowd.
const GROUP_ROWS: usize = 4_096;
/// Passes in one commit: a pass is many rows, and settles wait behind it.
const GROUP_PASSES: usize = 1;

#[derive(Debug)]
pub struct Work {
    pub conn: Conn,
    instruments: Instruments,
    /// A separate connection to the inbox file that only reads. Never attached: `begin immediate` would lock both.
    pub inbox: Conn,
    clock: Arc<dyn Clock>,
    failure: Failure,
    lock_wait: Duration,
    patience: Duration,
    pub identity: Identity,
    /// As of the last commit.
    cursors: Cursors,
    pub group: Group,
}

/// What one try of a group stands on.
#[derive(Debug, Default)]
pub struct Group {
    pub now: Micros,
    pub cursors: Cursors,
    /// For the kill points after the commit.
    marks: Marks,
}

#[derive(Clone, Copy, Debug, Default)]
struct Marks {
    settled: bool,
    claimed: bool,
    passed: bool,
}

fn cursors(conn: &Conn) -> Result<Cursors, StoreError> {
    Cursors::of_rows(conn.rows(sql::ROUTE_BEGINS, &[])?, conn.rows(sql::ROUTE_PASSES, &[])?)
}

impl Work {
    pub fn new(
        conn: Conn,
        inbox: Conn,
        identity: Identity,
        options: &Options,
        failure: Failure,
    ) -> Result<Work, StoreError> {
        let cursors = cursors(&conn)?;
        Ok(Work {
            conn,
            instruments: Instruments::new("work"),
            inbox,
            clock: options.clock.clone(),
            failure,
            lock_wait: options.lock_wait,
            patience: options.lock_wait,
            identity,
            cursors,
            group: Group::default(),
        })
    }

    /// Settles and renewals first, then a pass, then claims, then commands; within a class in their order.
    pub fn choose(waiting: &mut VecDeque<WorkJob>) -> Vec<WorkJob> {
        let mut all: Vec<WorkJob> = waiting.drain(..).collect();
        all.sort_by_key(|job| class(&job.ask));
        let (mut passes, mut rows) = (0, 0);
        let mut taken = Vec::new();
        for job in all {
            let is_pass = matches!(job.ask, WorkAsk::Route(_));
            let fits = rows == 0 || rows + weight(&job.ask) <= GROUP_ROWS;
            if taken.len() < GROUP_JOBS && fits && (!is_pass || passes < GROUP_PASSES) {
                passes += usize::from(is_pass);
                rows += weight(&job.ask);
                taken.push(job);
            } else {
                waiting.push_back(job);
            }
        }
        taken
    }
}

/// Work rows that a job touches.
fn weight(ask: &WorkAsk) -> usize {
    match ask {
        WorkAsk::Settle(endings, next) => endings.len() + next.as_ref().map_or(0, |ask| ask.tokens.len()),
        WorkAsk::Renew(leases, _) | WorkAsk::Release(leases) => leases.len(),
        WorkAsk::Claim(ask) => ask.tokens.len(),
        WorkAsk::Sweep(heads) => heads.len(),
        WorkAsk::PurgeSay(_, ripe) => ripe.iter().map(|ripe| ripe.new.len() + ripe.again.len()).sum(),
        WorkAsk::PurgeForget(_) => STEP_NEW + STEP_AGAIN,
        WorkAsk::Route(..) | WorkAsk::Configure(..) | WorkAsk::Command(..) => 1,
    }
}

fn class(ask: &WorkAsk) -> u8 {
    match ask {
        WorkAsk::Settle(..) | WorkAsk::Renew(..) | WorkAsk::Release(..) => 0,
        WorkAsk::Route(..) => 1,
        WorkAsk::Claim(..) => 2,
        WorkAsk::Configure(..) | WorkAsk::Command(..) | WorkAsk::Sweep(..) => 3,
        WorkAsk::PurgeSay(..) | WorkAsk::PurgeForget(..) => 4,
    }
}

impl Writer for Work {
    type Ask = WorkAsk;
    type Reply = WorkReply;

    fn conn(&self) -> &Conn {
        &self.conn
    }

    fn instruments(&self) -> &Instruments {
        &self.instruments
    }

    fn items(_: &WorkAsk) -> usize {
        0
    }

    fn failure(&self) -> &Failure {
        &self.failure
    }

    fn lock_wait(&self) -> Duration {
        self.lock_wait
    }

    fn patience(&self) -> Duration {
        self.patience
    }

    fn doubt(&mut self) -> Result<(), StoreError> {
        self.cursors = cursors(&self.conn)?;
        Ok(())
    }

    fn start(&mut self) -> Result<(), StoreError> {
        let (now, cursors) = (self.clock.now(), self.cursors.clone());
        self.group = Group { now, cursors, marks: Marks::default() };
        Ok(())
    }

    fn one(&mut self, ask: &WorkAsk) -> Result<WorkReply, StoreError> {
        let now = self.group.now;
        match ask {
            WorkAsk::Settle(endings, next) => {
                self.group.marks.settled |= !endings.is_empty();
                let settled = settle::settle(&self.conn, &self.identity, endings, now)?;
                let claimed =
                    next.as_ref().map(|ask| claim::claim(&self.conn, &self.identity, ask, now)).transpose()?;
                Ok(WorkReply::Settled(settled, claimed.unwrap_or_default()))
            }
            WorkAsk::Renew(leases, by) => {
                claim::renew(&self.conn, &self.identity, leases, *by, now).map(WorkReply::Lost)
            }
            WorkAsk::Release(leases) => {
                claim::release(&self.conn, &self.identity, leases, now).map(|()| WorkReply::Done)
            }
            WorkAsk::Route(routing) => {
                self.group.marks.passed = true;
                route::route(self, routing).map(WorkReply::Passed)
            }
            WorkAsk::Claim(ask) => {
                self.group.marks.claimed = true;
                claim::claim(&self.conn, &self.identity, ask, now).map(WorkReply::Claimed)
            }
            WorkAsk::Configure(consumers) => configure::configure(self, consumers).map(WorkReply::Configured),
            WorkAsk::Command(what, who) => command::work(&self.conn, now, what, who).map(WorkReply::Decided),
            WorkAsk::Sweep(heads) => sweep::mend(&self.conn, now, heads).map(WorkReply::Swept),
            WorkAsk::PurgeSay(retention, ripe) => say::say(self, retention, ripe).map(|()| WorkReply::Done),
            WorkAsk::PurgeForget(survivors) => forget::forget(&self.conn, survivors).map(|()| WorkReply::Done),
        }
    }

    fn finish(&mut self) -> Result<(), StoreError> {
        if self.group.marks.settled {
            kill_point!("settling");
        }
        Ok(())
    }

    fn committed(&mut self) {
        std::mem::swap(&mut self.cursors, &mut self.group.cursors);
        if self.group.marks.settled {
            kill_point!("settled");
        }
        if self.group.marks.passed {
            kill_point!("pass_committed");
        }
        if self.group.marks.claimed {
            kill_point!("claimed");
        }
    }

    /// Nothing of a work job can be kept in another form: whoever asked hears of it.
    fn instead(&mut self, _: &WorkAsk, _: &StoreError) -> Option<Result<WorkReply, StoreError>> {
        None
    }
}
