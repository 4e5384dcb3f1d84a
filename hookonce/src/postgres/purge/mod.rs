//! Cleaning: a bounded step is one transaction, by whichever node. It holds the router's lock, so no pass hands on what
//! goes, and no second step runs beside it; nobody waits for it but a node that configures.
//!
//! What is ripe is read first ([`look`]) and judged in core. Keys are locked before they are judged once more, then all
//! goes at once ([`delete`]).

mod delete;
mod look;

use hookonce_core::consumer::Standing;
use hookonce_core::event::EventNo;
use hookonce_core::retain::{self, Retention, STEP_AGAIN, STEP_NEW, What};
use hookonce_core::route::Position;
use hookonce_core::time::Micros;

use super::conn::Conn;
use super::open::setting;
use super::route;
use super::store::Base;
use crate::sql::call::Arg;
use crate::sql::postgres as sql;
use crate::store::{Purged, StoreError};

/// What one transaction works with.
struct Step<'a> {
    conn: &'a Conn,
    retention: &'a Retention,
    now: Micros,
    /// Up to where everybody who is listed has read.
    bound: Position,
}

/// What goes of the new ones and of those that were kept, and how far the walk got.
struct Said {
    what: What,
    from: EventNo,
    upto: EventNo,
    go: Vec<EventNo>,
    again: Vec<EventNo>,
    full: bool,
}

pub async fn purge(base: &Base, retention: &Retention) -> Result<Purged, StoreError> {
    base.work.tx(|conn| async move { within(base, &conn, retention).await }).await
}

async fn within(base: &Base, conn: &Conn, retention: &Retention) -> Result<Purged, StoreError> {
    let listed = listed(conn).await?;
    let still = route::stand_still(conn, &mut *base.router.lock().await, &listed).await?;
    let Some(bound) = still else { return Ok(Purged { more: true, ..Purged::default() }) };
    let now = conn.row(sql::NOW, &[]).await?.unwrap_or_default().int(0)?;
    let step = Step { conn, retention, now, bound };
    // Both are judged before anything goes: bytes that go now keep their event until the next step.
    let (payloads, events) = (step.say(What::Payload).await?, step.say(What::Event).await?);
    let mut purged = Purged { more: payloads.full || events.full, ..Purged::default() };
    purged.payloads = step.payloads(&payloads).await?;
    purged.events = step.events(&events).await?;
    purged.more |= step.aged().await?;
    Ok(purged)
}

async fn listed(conn: &Conn) -> Result<Vec<i64>, StoreError> {
    let mut listed = Vec::new();
    for mut row in conn.rows(sql::READ_CONSUMERS, &[]).await? {
        if Standing::parse(&row.text(2)?).is_some_and(|standing| standing.listed) {
            listed.push(row.int(0)?);
        }
    }
    Ok(listed)
}

/// The setting that says how far the walk has got.
fn mark(what: What) -> &'static str {
    match what {
        What::Payload => "purged_payload",
        What::Event => "purged_event",
    }
}

impl Step<'_> {
    async fn say(&self, what: What) -> Result<Said, StoreError> {
        let from = self.number(mark(what)).await?;
        // A key never goes before its bytes have been asked about.
        let to = if what == What::Event { self.number(mark(What::Payload)).await? } else { EventNo::MAX };
        let (new, again) = (self.ripe(what, from, to).await?, self.due(what).await?);
        let full = new.len() == STEP_NEW || again.len() == STEP_AGAIN;
        let walked = retain::walk(from, self.first(what, &new).await?);
        let mut stay = walked.stay;
        let mut go = Vec::new();
        for (event, verdict) in self.second(what, &again).await? {
            match verdict.and_then(|verdict| retain::again(verdict, self.now)) {
                Some(due) => stay.push((event, due)),
                None => go.push(event),
            }
        }
        self.keep(what, &stay).await?;
        Ok(Said { what, from, upto: walked.upto, go: walked.go, again: go, full })
    }

    async fn keep(&self, what: What, stay: &[(EventNo, Micros)]) -> Result<(), StoreError> {
        if stay.is_empty() {
            return Ok(());
        }
        let (events, dues): (Vec<i64>, Vec<i64>) = stay.iter().copied().unzip();
        let args = [Arg::Ints(&events), Arg::Ints(&dues), Arg::Text(what.name())];
        self.conn.exec(sql::PURGE_KEEP, &args).await.map(drop)
    }

    /// 0 where it is not set.
    async fn number(&self, name: &str) -> Result<i64, StoreError> {
        let text = setting(self.conn, name).await?;
        let number = text.map_or(Some(0), |text| text.parse().ok());
        number.ok_or_else(|| StoreError::Failed(format!("the setting `{name}` is no number")))
    }

    async fn put(&self, name: &str, number: i64) -> Result<(), StoreError> {
        let value = number.to_string();
        self.conn.exec(sql::SETTING_PUT, &[Arg::Text(name), Arg::Blob(value.as_bytes())]).await.map(drop)
    }
}
