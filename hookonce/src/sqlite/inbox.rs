//! The inbox file's writer: what an ack waits for. No user code, no delivery, nothing that another file could hold up.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use hookonce_core::admit::Admission;
use hookonce_core::group;
use hookonce_core::kill_point;
use hookonce_core::time::Micros;

use super::admit;
use super::conn::Conn;
use super::job::{InboxAsk, InboxJob, InboxReply, Part};
use super::purge::delete;
use super::writer::{Failure, Instruments, Writer};
use super::{Options, command, open, refused};
use crate::clock::Clock;
use crate::sql::call::Arg;
use crate::sql::sqlite as sql;
use crate::sql::stored;
use crate::store::StoreError;

/// Tally rows before they are folded into one.
const TALLY_FOLD: u32 = 512;

#[derive(Debug)]
pub struct Inbox {
    pub conn: Conn,
    instruments: Instruments,
    clock: Arc<dyn Clock>,
    failure: Failure,
    lock_wait: Duration,
    patience: Duration,
    /// As of the last commit; a group counts on in `group`.
    counters: Counters,
    tallied: u32,
    pub group: Group,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub event: i64,
    pub payload: i64,
    pub request: i64,
}

impl Counters {
    fn read(conn: &Conn) -> Result<Counters, StoreError> {
        Ok(Counters {
            event: open::number(conn, "event_counter")?,
            payload: open::number(conn, "payload_counter")?,
            request: open::number(conn, "request_counter")?,
        })
    }
}

/// What one try of a group has counted so far.
#[derive(Debug, Default)]
pub struct Group {
    pub now: Micros,
    pub counters: Counters,
    pub tally: BTreeMap<(Arc<str>, Cow<'static, str>), u64>,
    /// Some namespace has a floor: new keys must be asked for it.
    pub floors: bool,
}

impl Group {
    pub fn count(&mut self, source: &Arc<str>, verdict: impl Into<Cow<'static, str>>, by: u64) {
        *self.tally.entry((source.clone(), verdict.into())).or_default() += by;
    }

    pub fn next_event(&mut self) -> i64 {
        self.counters.event += 1;
        self.counters.event
    }

    pub fn next_payload(&mut self) -> i64 {
        self.counters.payload += 1;
        self.counters.payload
    }

    pub fn next_request(&mut self) -> i64 {
        self.counters.request += 1;
        self.counters.request
    }
}

impl Inbox {
    pub fn new(conn: Conn, options: &Options, failure: Failure) -> Result<Inbox, StoreError> {
        let counters = Counters::read(&conn)?;
        Ok(Inbox {
            conn,
            instruments: Instruments::new("inbox"),
            clock: options.clock.clone(),
            failure,
            lock_wait: options.lock_wait,
            patience: options.ack_patience,
            counters,
            tallied: 0,
            group: Group::default(),
        })
    }

    /// As many of the waiting as one commit may hold, in their order.
    pub fn choose(waiting: &mut VecDeque<InboxJob>) -> Vec<InboxJob> {
        let taken = group::cut(waiting.iter().map(|job| Inbox::items(&job.ask).max(1)));
        waiting.drain(..taken).collect()
    }

    /// Counts of the group and, every few hundred groups, one row for all of them.
    fn tally(&mut self) -> Result<(), StoreError> {
        if self.group.tally.is_empty() {
            return Ok(());
        }
        if self.tallied >= TALLY_FOLD {
            for (source, verdict, count) in read_tally(&self.conn)? {
                self.group.count(&source.into(), verdict, count);
            }
            self.conn.exec(sql::TALLY_CLEAR, &[])?;
        }
        let counts: Vec<_> = self.group.tally.iter().map(|((source, verdict), n)| (&**source, verdict, n)).collect();
        let counts = serde_json::to_string(&counts).map_err(|e| StoreError::Refused(e.to_string()))?;
        self.conn.exec(sql::TALLY_PUT, &[Arg::Int(self.group.now), Arg::Text(&counts)]).map(drop)
    }

    fn counters(&self) -> Result<(), StoreError> {
        let (new, old) = (self.group.counters, self.counters);
        let counters = [
            ("event_counter", new.event, old.event),
            ("payload_counter", new.payload, old.payload),
            ("request_counter", new.request, old.request),
        ];
        let changed = counters.iter().filter(|(_, new, old)| new != old);
        changed.into_iter().try_for_each(|(name, new, _)| open::put(&self.conn, name, &new.to_string()))
    }
}

/// (source, verdict, how many) of every row, unsummed.
fn read_tally(conn: &Conn) -> Result<Vec<(String, String, u64)>, StoreError> {
    let mut all = Vec::new();
    for mut row in conn.rows(sql::TALLY_ALL, &[])? {
        all.extend(stored::counts(&row.text(0)?)?);
    }
    Ok(all)
}

impl Writer for Inbox {
    type Ask = InboxAsk;
    type Reply = InboxReply;

    fn conn(&self) -> &Conn {
        &self.conn
    }

    fn instruments(&self) -> &Instruments {
        &self.instruments
    }

    fn items(ask: &InboxAsk) -> usize {
        match ask {
            InboxAsk::Admit(submission) => submission.mapped.len(),
            _ => 0,
        }
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
        self.counters = Counters::read(&self.conn)?;
        Ok(())
    }

    fn start(&mut self) -> Result<(), StoreError> {
        kill_point!("begun");
        let floors = self.conn.row(sql::ADMIT_FLOORS, &[])?.unwrap_or_default().flag(0)?;
        self.group = Group { now: self.clock.now(), counters: self.counters, tally: BTreeMap::new(), floors };
        Ok(())
    }

    fn one(&mut self, ask: &InboxAsk) -> Result<InboxReply, StoreError> {
        match ask {
            InboxAsk::Admit(submission) => {
                admit::request(&self.conn, &mut self.group, submission).map(InboxReply::Admitted)
            }
            InboxAsk::Refused(refusals) => {
                refused::write(&self.conn, &mut self.group, refusals).map(|()| InboxReply::Done)
            }
            InboxAsk::Rule { source, definition } => {
                command::rule(&self.conn, self.group.now, source, definition).map(InboxReply::Number)
            }
            InboxAsk::Command(what, who) => {
                command::inbox(&self.conn, self.group.now, what, who).map(InboxReply::Decided)
            }
            InboxAsk::Purge(_, Part::Payloads(ids)) => {
                delete::payloads(&self.conn, ids).map(|()| InboxReply::Survived(Vec::new()))
            }
            InboxAsk::Purge(retention, Part::Events(ids)) => {
                delete::events(&self.conn, retention, ids, self.group.now).map(InboxReply::Survived)
            }
            InboxAsk::Aged(retention) => delete::aged(&self.conn, retention, self.group.now).map(InboxReply::Aged),
            InboxAsk::Ready => Ok(InboxReply::Done),
        }
    }

    fn finish(&mut self) -> Result<(), StoreError> {
        kill_point!("inserted");
        self.tally()?;
        self.counters()?;
        kill_point!("committing");
        Ok(())
    }

    fn committed(&mut self) {
        kill_point!("committed");
        self.counters = self.group.counters;
        if !self.group.tally.is_empty() {
            self.tallied = if self.tallied >= TALLY_FOLD { 1 } else { self.tallied + 1 };
        }
    }

    /// The bytes of a request that cannot be stored as what it says are kept as unmapped; what a person admits is
    /// unmapped already.
    fn instead(&mut self, ask: &InboxAsk, why: &StoreError) -> Option<Result<InboxReply, StoreError>> {
        let InboxAsk::Admit(submission) = ask else { return None };
        let kept = admit::culprit(&self.conn, &mut self.group, submission, why)?;
        Some(kept.map(|verdict| InboxReply::Admitted(Ok(Admission { verdicts: vec![verdict] }))))
    }
}
