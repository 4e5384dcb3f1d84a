//! What goes, as sets.

use hookonce_core::event::EventNo;
use hookonce_core::retain::{self, Done, SAMPLES, STEP_ROWS, Verdict, What};
use hookonce_core::time::Micros;

use super::{Said, Step, mark};
use crate::sql::call::{Arg, Call};
use crate::sql::postgres as sql;
use crate::sql::retain::Looked;
use crate::store::StoreError;

/// Where the walk over requests stands.
const REQUESTS: &str = "purged_request";

impl Step<'_> {
    pub(super) async fn payloads(&self, said: &Said) -> Result<usize, StoreError> {
        let going: Vec<Looked> = self.look(&said.all()).await?.into_iter().map(|(one, _)| one).collect();
        let bytes = self.bytes(&going).await?;
        let ids: Vec<i64> = going.iter().filter(|one| !one.part || bytes.is_last(one)).map(|one| one.payload).collect();
        if !ids.is_empty() {
            self.conn.exec(sql::PURGE_PAYLOADS, &[Arg::Ints(&ids)]).await?;
        }
        self.passed(said).await?;
        Ok(ids.len())
    }

    /// Locks the keys, and asks once more what has come under them until then.
    pub(super) async fn events(&self, said: &Said) -> Result<usize, StoreError> {
        let going = self.locked(&said.all()).await?;
        let (mut go, mut stay) = (Vec::new(), Vec::new());
        for one in going {
            match retain::may_go(self.retention, What::Event, &one.aged, Done::default(), self.now) {
                Verdict::Goes => go.push(one),
                other => stay.extend(retain::again(other, self.now).map(|due| (one.aged.event, due))),
            }
        }
        self.passed(said).await?;
        self.keep(What::Event, &stay).await?;
        self.forget(&go).await?;
        Ok(go.len())
    }

    /// Keys first, then guards, as admissions do.
    async fn locked(&self, events: &[EventNo]) -> Result<Vec<Looked>, StoreError> {
        let found = self.look(events).await?;
        let keys: Vec<&[u8]> = found.iter().map(|(one, _)| &one.digest[..]).collect();
        let guards: Vec<&[u8]> = found.iter().filter_map(|(one, _)| Some(&one.guard.as_ref()?[..])).collect();
        for digests in [keys, guards] {
            if !digests.is_empty() {
                self.conn.rows(sql::PURGE_LOCK, &[Arg::Blobs(&digests)]).await?;
            }
        }
        Ok(self.look(events).await?.into_iter().map(|(one, _)| one).collect())
    }

    async fn forget(&self, go: &[Looked]) -> Result<(), StoreError> {
        if go.is_empty() {
            return Ok(());
        }
        let floors = go.iter().filter_map(|one| Some((&*one.namespace, floor(one)?)));
        let (names, floors): (Vec<&str>, Vec<Micros>) = floors.unzip();
        let own = go.iter().map(|one| (&one.digest[..], one.aged.event, one.variant == 0));
        let (firsts, variants): (Vec<_>, Vec<_>) = own.partition(|(.., first)| *first);
        let guards = go.iter().filter_map(|one| Some((&one.guard.as_ref()?[..], one.aged.event)));
        let keys = firsts.iter().map(|(digest, event, _)| (*digest, *event)).chain(guards);
        let (keys, of): (Vec<&[u8]>, Vec<i64>) = keys.unzip();
        let digests: Vec<&[u8]> = firsts.iter().map(|(digest, ..)| *digest).collect();
        let (contents, variants): (Vec<&[u8]>, Vec<i64>) = variants.iter().map(|(d, event, _)| (*d, *event)).unzip();
        let ids: Vec<i64> = go.iter().map(|one| one.aged.event).collect();
        let ids = [Arg::Ints(&ids)];
        let mut calls = Vec::new();
        let floors = [Arg::Texts(&names), Arg::Ints(&floors)];
        let (keys, digests) = ([Arg::Blobs(&keys), Arg::Ints(&of)], [Arg::Blobs(&digests)]);
        let variants = [Arg::Blobs(&contents), Arg::Ints(&variants)];
        calls.push(Call::new(sql::PURGE_FLOORS, &floors));
        calls.push(Call::new(sql::PURGE_CONFLICTS, &digests));
        calls.push(Call::new(sql::PURGE_VARIANTS, &variants));
        calls.push(Call::new(sql::PURGE_LEDGER, &keys));
        calls.extend(OF_EVENTS.iter().map(|stmt| Call::new(stmt, &ids)));
        self.conn.run(&calls).await.map(drop)
    }

    /// What was kept and goes is looked at no more.
    async fn passed(&self, said: &Said) -> Result<(), StoreError> {
        if !said.again.is_empty() {
            let args = [Arg::Ints(&said.again), Arg::Text(said.what.name())];
            self.conn.exec(sql::PURGE_GONE, &args).await?;
        }
        if said.upto > said.from { self.put(mark(said.what), said.upto).await } else { Ok(()) }
    }

    /// History, decided bytes and samples, by their age alone. Answers whether there may be more.
    pub(super) async fn aged(&self) -> Result<bool, StoreError> {
        let before = self.now.saturating_sub(self.retention.requests());
        let limit = Arg::Int(STEP_ROWS as i64);
        let from = self.number(REQUESTS).await?;
        let found = self.conn.rows(sql::PURGE_REQUESTS, &[Arg::Int(from), Arg::Int(before), limit]).await?;
        let mut ids = Vec::new();
        for row in &found {
            // The row of an unmapped one goes with that one.
            if !row.flag(1)? {
                ids.push(row.int(0)?);
            }
        }
        if let Some(last) = found.last() {
            self.put(REQUESTS, last.int(0)?).await?;
        }
        let decided = self.conn.rows(sql::PURGE_UNMAPPED, &[Arg::Int(before), limit]).await?;
        let mut payloads = Vec::new();
        for row in &decided {
            ids.push(row.int(0)?);
            payloads.push(row.int(1)?);
        }
        for (stmt, ids) in [(sql::PURGE_REQUEST, &ids), (sql::PURGE_UNMAPPED_PAYLOADS, &payloads)] {
            if !ids.is_empty() {
                self.conn.exec(stmt, &[Arg::Ints(ids)]).await?;
            }
        }
        let samples = [Arg::Int(self.now.saturating_sub(SAMPLES)), limit];
        self.conn.exec(sql::PURGE_SAMPLES, &samples).await?;
        Ok(found.len() == STEP_ROWS || decided.len() == STEP_ROWS)
    }
}

fn floor(one: &Looked) -> Option<Micros> {
    retain::floor(one.event_time, one.aged.received)
}

/// Behind the keys; attempts before the deliveries that they are found by.
const OF_EVENTS: [&crate::sql::call::Stmt; 6] = [
    sql::PURGE_ATTEMPTS,
    sql::PURGE_DELIVERIES,
    sql::PURGE_HOLDS,
    sql::PURGE_LOG,
    sql::PURGE_EVENT_REQUESTS,
    sql::PURGE_EVENTS,
];

impl Said {
    fn all(&self) -> Vec<EventNo> {
        let mut all = [&self.go[..], &self.again].concat();
        all.sort_unstable();
        all
    }
}
