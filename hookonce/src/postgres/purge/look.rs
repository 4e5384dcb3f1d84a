//! What is ripe, and the verdicts on it.

use std::collections::{BTreeMap, BTreeSet};

use hookonce_core::event::EventNo;
use hookonce_core::retain::{self, Done, STEP_AGAIN, STEP_NEW, Verdict, What};
use hookonce_core::route::Position;

use super::Step;
use crate::sql::call::{Arg, Row};
use crate::sql::postgres as sql;
use crate::sql::retain::{Candidate, Looked, looked};
use crate::store::StoreError;

type Judged = Vec<(EventNo, Option<Verdict>)>;
/// With its place in the log; none: the router has not met it.
type Placed = (Looked, Option<Position>);

impl Step<'_> {
    /// Numbers behind the last ones, as far as they are old enough to be asked about.
    pub(super) async fn ripe(&self, what: What, from: EventNo, to: EventNo) -> Result<Vec<EventNo>, StoreError> {
        let args = [Arg::Int(from), Arg::Int(to), Arg::Int(STEP_NEW as i64)];
        let mut ripe = Vec::new();
        for row in self.conn.rows(sql::PURGE_IDS, &args).await? {
            if !self.retention.ripe(what, row.int(1)?, self.now) {
                break;
            }
            ripe.push(row.int(0)?);
        }
        Ok(ripe)
    }

    pub(super) async fn due(&self, what: What) -> Result<Vec<EventNo>, StoreError> {
        let args = [Arg::Text(what.name()), Arg::Int(self.now), Arg::Int(STEP_AGAIN as i64)];
        self.conn.rows(sql::PURGE_AGAIN, &args).await?.iter().map(|row| row.int(0)).collect()
    }

    /// New ones in the order of their numbers, up to the first that somebody has yet to read.
    pub(super) async fn first(&self, what: What, events: &[EventNo]) -> Result<Judged, StoreError> {
        let looked = self.look(events).await?;
        self.judged(what, looked.into_iter().take_while(|(_, pos)| self.is_read(*pos))).await
    }

    /// Those that stayed, but for what somebody has yet to read.
    pub(super) async fn second(&self, what: What, events: &[EventNo]) -> Result<Judged, StoreError> {
        let looked = self.look(events).await?;
        self.judged(what, looked.into_iter().filter(|(_, pos)| self.is_read(*pos))).await
    }

    fn is_read(&self, pos: Option<Position>) -> bool {
        pos.is_some_and(|pos| pos <= self.bound)
    }

    async fn judged(&self, what: What, read: impl Iterator<Item = Placed>) -> Result<Judged, StoreError> {
        let candidates = self.candidates(what, read.map(|(one, _)| one).collect()).await?;
        let of: BTreeSet<EventNo> = candidates.iter().flat_map(|one| one.of.iter().copied()).collect();
        let facts = self.facts(&of.into_iter().collect::<Vec<_>>()).await?;
        let done = |one: &Candidate| {
            let all = one.of.iter().map(|event| facts.get(event).copied().unwrap_or_default());
            all.fold(Done { open: one.undecided, ended: None }, Done::and)
        };
        let verdict = |one: &Candidate| retain::may_go(self.retention, what, &one.aged, done(one), self.now);
        Ok(candidates.iter().map(|one| (one.aged.event, (!one.of.is_empty()).then(|| verdict(one)))).collect())
    }

    pub(super) async fn look(&self, events: &[EventNo]) -> Result<Vec<Placed>, StoreError> {
        if events.is_empty() {
            return Ok(Vec::new());
        }
        let found = self.conn.rows(sql::PURGE_LOOK, &[Arg::Ints(events)]).await?;
        found.into_iter().map(|row| placed((row.opt_int(12)?, row))).collect()
    }

    async fn facts(&self, events: &[EventNo]) -> Result<BTreeMap<EventNo, Done>, StoreError> {
        if events.is_empty() {
            return Ok(BTreeMap::new());
        }
        let found = self.conn.rows(sql::PURGE_FACTS, &[Arg::Ints(events)]).await?;
        let fact = |row: Row| Ok((row.int(0)?, Done { open: row.flag(1)?, ended: row.opt_int(2)? }));
        found.into_iter().map(fact).collect()
    }

    async fn candidates(&self, what: What, found: Vec<Looked>) -> Result<Vec<Candidate>, StoreError> {
        if what == What::Event {
            let one = |one: Looked| Candidate { of: vec![one.aged.event], aged: one.aged, undecided: false };
            return Ok(found.into_iter().map(one).collect());
        }
        let bytes = self.bytes(&found).await?;
        let last: Vec<i64> = found.iter().filter(|one| bytes.is_last(one)).map(|one| one.payload).collect();
        let parts = self.parts(&last).await?;
        let one = |one: Looked| {
            let alone = if one.part { Vec::new() } else { vec![one.aged.event] };
            let shared = parts.get(&one.payload).filter(|_| bytes.is_last(&one)).cloned();
            Candidate { of: shared.unwrap_or(alone), undecided: bytes.undecided.contains(&one.payload), aged: one.aged }
        };
        Ok(found.into_iter().map(one).collect())
    }

    pub(super) async fn bytes(&self, found: &[Looked]) -> Result<Bytes, StoreError> {
        let mut bytes = Bytes::default();
        let ids: BTreeSet<i64> = found.iter().map(|one| one.payload).collect();
        let ids: Vec<i64> = ids.into_iter().collect();
        if ids.is_empty() {
            return Ok(bytes);
        }
        for row in self.conn.rows(sql::PURGE_BYTES, &[Arg::Ints(&ids)]).await? {
            let id = row.int(0)?;
            bytes.last.extend(row.opt_int(1)?);
            if row.flag(2)? {
                bytes.undecided.insert(id);
            }
        }
        Ok(bytes)
    }

    async fn parts(&self, payloads: &[i64]) -> Result<BTreeMap<i64, Vec<EventNo>>, StoreError> {
        let mut parts: BTreeMap<i64, Vec<EventNo>> = BTreeMap::new();
        if payloads.is_empty() {
            return Ok(parts);
        }
        for row in self.conn.rows(sql::PURGE_PARTS, &[Arg::Ints(payloads)]).await? {
            parts.entry(row.int(0)?).or_default().push(row.int(1)?);
        }
        Ok(parts)
    }
}

fn placed((pos, row): (Option<Position>, Row)) -> Result<Placed, StoreError> {
    Ok((looked(row)?, pos))
}

/// Bytes that events of one request share.
#[derive(Debug, Default)]
pub(super) struct Bytes {
    last: BTreeSet<EventNo>,
    undecided: BTreeSet<i64>,
}

impl Bytes {
    /// They go with the last of these.
    pub fn is_last(&self, one: &Looked) -> bool {
        one.part && self.last.contains(&one.aged.event)
    }
}
