//! Fail-over: whether a connection leads to the history that we know. A standby that was promoted writes a timeline of its
//! own, and may lack what the old primary had confirmed last.
//!
//! Looked at once for each connection, before anything else runs on it: so nothing is admitted on a new timeline before
//! its generation, its first number and, where something may be missing, the floors are raised.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::SeqCst};

use metrics::gauge;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error};

use crate::alarm;
use crate::gauges::REPLICATED;
use crate::sql::postgres as sql;

/// What this process knows of the database behind its connections.
#[derive(Debug, Default)]
pub struct Timeline {
    /// 0: the store is not open yet.
    known: AtomicI64,
    generation: AtomicI64,
    replicated: AtomicBool,
}

/// Where what was answered 2xx is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acks {
    /// On the primary: what no standby has yet is lost with it.
    Local,
    /// On a standby, too.
    Replicated,
}

impl fmt::Display for Acks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Acks::Local => "local",
            Acks::Replicated => "replicated",
        })
    }
}

impl Timeline {
    pub fn generation(&self) -> i64 {
        self.generation.load(SeqCst)
    }

    pub fn acks(&self) -> Acks {
        if self.replicated.load(SeqCst) { Acks::Replicated } else { Acks::Local }
    }

    /// The first look of this process; the settings are there already.
    pub async fn open(&self, client: &Client) -> Result<(), Error> {
        self.look(client, true).await
    }

    /// What each connection begins with.
    pub async fn check(&self, client: &Client) -> Result<(), Error> {
        match self.known.load(SeqCst) {
            0 => Ok(()),
            _ => self.look(client, false).await,
        }
    }

    async fn look(&self, client: &Client, first: bool) -> Result<(), Error> {
        let row = client.query_typed_one(sql::TIMELINE.text, &[]).await?;
        let (found, replicated): (i64, bool) = (row.try_get(0)?, row.try_get(1)?);
        if first || found != self.known.load(SeqCst) {
            let to = found.to_string().into_bytes();
            let raised = client.query_typed_opt(sql::TIMELINE_RAISE.text, &[(&to, Type::BYTEA)]).await?;
            if let Some(raised) = raised {
                say(found, raised.try_get(0)?, raised.try_get(1)?);
            }
            let generation = client.query_typed_one(sql::SETTING_GET.text, &[(&"generation", Type::TEXT)]).await?;
            let generation: Vec<u8> = generation.try_get(0)?;
            let generation = String::from_utf8_lossy(&generation).parse().unwrap_or(0);
            self.generation.store(generation, SeqCst);
            self.known.store(found, SeqCst);
        }
        if self.replicated.swap(replicated, SeqCst) != replicated || first {
            let name = self.acks().to_string().into_bytes();
            client.execute_typed(sql::SETTING_PUT.text, &[(&"acks", Type::TEXT), (&name, Type::BYTEA)]).await?;
            gauge!(REPLICATED).set(f64::from(replicated));
        }
        Ok(())
    }
}

fn say(timeline: i64, generation: i64, floors: i64) {
    let held = match floors {
        0 => "its commits were on a standby, so nothing that was answered is missing".to_owned(),
        _ => format!(
            "what was answered last may be missing: redeliveries of events from before now are held in {floors} namespaces"
        ),
    };
    alarm::raise(
        "failed_over",
        &format!("the database is on timeline {timeline} now, the store's generation is {generation}: {held}"),
    );
}
