//! The verb: finds, says, deletes, forgets, each a job of whose thread it is.

use std::sync::Arc;

use hookonce_core::kill_point;
use hookonce_core::retain::{Retention, STEP_AGAIN, STEP_NEW};

use super::{Going, Survivors};
use crate::sqlite::job::{InboxAsk, InboxReply, Part, WorkAsk};
use crate::sqlite::reader::{ReadAsk, ReadReply};
use crate::sqlite::store::{SqliteStore, mixed};
use crate::store::{Purged, StoreError};

/// Rows that one commit of the inbox file deletes: acks wait behind it.
const PART: usize = 100;

impl SqliteStore {
    pub async fn step(&self, retention: Arc<Retention>) -> Result<Purged, StoreError> {
        let mut purged = self.finish(&retention).await?;
        let ReadReply::Ripe(ripe) = self.pages.ask(ReadAsk::Ripe(retention.clone())).await? else {
            return Err(mixed());
        };
        purged.more |= ripe.iter().any(|ripe| ripe.new.len() == STEP_NEW || ripe.again.len() == STEP_AGAIN);
        if ripe.iter().any(|ripe| !ripe.new.is_empty() || !ripe.again.is_empty()) {
            self.work.ask(WorkAsk::PurgeSay(retention.clone(), ripe)).await?;
            kill_point!("purge_said");
            let now = self.finish(&retention).await?;
            purged.payloads += now.payloads;
            purged.events += now.events;
        }
        match self.inbox.ask(InboxAsk::Aged(retention)).await? {
            InboxReply::Aged(more) => Ok(Purged { more: purged.more | more, ..purged }),
            _ => Err(mixed()),
        }
    }

    /// Ends what was said, by whichever process.
    async fn finish(&self, retention: &Arc<Retention>) -> Result<Purged, StoreError> {
        let ReadReply::Going(going) = self.pages.ask(ReadAsk::Going).await? else { return Err(mixed()) };
        if !going.said {
            return Ok(Purged::default());
        }
        let (payloads, events) = (going.payloads.len(), going.events.len());
        let survivors = self.delete(retention, going).await?;
        kill_point!("purge_deleted");
        let survived = survivors.len();
        self.work.ask(WorkAsk::PurgeForget(survivors)).await?;
        Ok(Purged { payloads, events: events.saturating_sub(survived), more: false })
    }

    async fn delete(&self, retention: &Arc<Retention>, going: Going) -> Result<Survivors, StoreError> {
        let payloads = going.payloads.chunks(PART).map(|ids| Part::Payloads(ids.to_vec()));
        let events = going.events.chunks(PART).map(|ids| Part::Events(ids.to_vec()));
        let mut survivors = Survivors::new();
        for part in payloads.chain(events) {
            match self.inbox.ask(InboxAsk::Purge(retention.clone(), part)).await? {
                InboxReply::Survived(more) => survivors.extend(more),
                _ => return Err(mixed()),
            }
        }
        Ok(survivors)
    }
}
