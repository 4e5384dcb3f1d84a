//! What a person decides: its change and its audit row in one commit. What it is about is locked first; whoever decides
//! about the same waits, and finds what was decided.

use hookonce_core::command::{self, Back, Command, Refused, Who};
use hookonce_core::consumer::Standing;
use hookonce_core::delivery::HaltKind;

use super::audit::{self, Chain};
use super::conn::{Conn, Pool};
use crate::sql::audit::Decision;
use crate::sql::call::{Arg, Row};
use crate::sql::postgres as sql;
use crate::store::StoreError;

/// Decisions that take each other's number in the chain, before this one is given up.
const TRIES: usize = 20;

/// The audit row's number, or why nothing was changed; `None`: the number was taken, and all of it is asked again.
type Decided = Result<Option<Result<i64, Refused>>, StoreError>;

pub async fn command(pool: &Pool, what: &Command, who: &Who) -> Result<Result<i64, Refused>, StoreError> {
    for _ in 0..TRIES {
        let run = |conn: Conn| async move {
            let decided = Said { conn: &conn, what, who }.decide().await?;
            if !matches!(decided, Some(Ok(_))) {
                conn.leave_nothing();
            }
            Ok(decided)
        };
        if let Some(decided) = pool.tx(run).await? {
            return Ok(decided);
        }
    }
    Err(StoreError::Busy("too many decisions at the same moment".into()))
}

/// One decision in its transaction.
struct Said<'a> {
    conn: &'a Conn,
    what: &'a Command,
    who: &'a Who,
}

fn refused(why: Refused) -> Decided {
    Ok(Some(Err(why)))
}

impl Said<'_> {
    async fn decide(&self) -> Decided {
        match self.what {
            Command::DeadRetry { delivery } => self.dead_retry(*delivery).await,
            Command::HeldRelease { event } => self.held(*event, true).await,
            Command::HeldDrop { event } => self.held(*event, false).await,
            Command::UnmappedDrop { id } => self.unmapped_drop(*id).await,
            Command::ConsumerPause { consumer } => self.stand(*consumer, true).await,
            Command::ConsumerResume { consumer } => self.stand(*consumer, false).await,
        }
    }

    async fn audit(&self, chain: Chain, target: i64) -> Result<Option<i64>, StoreError> {
        let (target, who) = (target.to_string(), self.who);
        let decision =
            Decision { actor: &who.actor, action: self.what.name(), target: &target, reason: &who.reason, detail: "" };
        audit::write(self.conn, chain, &decision).await
    }

    async fn dead_retry(&self, delivery: i64) -> Decided {
        let mut found = self.conn.row(sql::COMMAND_HALTED, &[Arg::Int(delivery)]).await?;
        let kind = found.as_mut().map(|row| row.text(0)).transpose()?.and_then(|kind| HaltKind::parse(&kind));
        let open = found.as_ref().map_or(Ok(false), |row| row.flag(1))?;
        let (back, row) = match (command::retry(kind, open), found) {
            (Ok(back), Some(row)) => (back, row),
            (Err(why), _) => return refused(why),
            (Ok(_), None) => return refused(Refused::NotFound),
        };
        let Some(audit) = self.audit(Chain::Work, delivery).await? else { return Ok(None) };
        match back {
            Back::InPlace => self.in_place(&row, delivery, audit).await?,
            Back::Tail => self.requeue("move", row.int(3)?, Some((&row, delivery)), audit).await?,
        }
        Ok(Some(Ok(audit)))
    }

    /// What holds its lane comes back where it stands, from the beginning of its patience.
    async fn in_place(&self, halted: &Row, delivery: i64, audit: i64) -> Result<(), StoreError> {
        let (lane, seq) = (Arg::Int(halted.int(6)?), Arg::Int(halted.int(2)?));
        self.conn.exec(sql::ROUTE_UNHALT, &[Arg::Ints(&[delivery])]).await?;
        self.conn.exec(sql::COMMAND_REOPEN, &[lane, seq, Arg::Int(audit)]).await?;
        self.conn.exec(sql::COMMAND_WORK, &[lane, seq, Arg::Int(halted.int(7)?)]).await.map(drop)
    }

    async fn requeue(&self, kind: &str, event: i64, moved: Option<(&Row, i64)>, audit: i64) -> Result<(), StoreError> {
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
        self.conn.exec(sql::COMMAND_REQUEUE, &args).await.map(drop)
    }

    async fn held(&self, event: i64, release: bool) -> Decided {
        let found = self.conn.row(sql::COMMAND_HOLD, &[Arg::Int(event)]).await?;
        let found = found.map(|row| row.opt_int(0)).transpose()?.map(|released| released.map(|r| r != 0));
        if let Err(why) = command::hold(found) {
            return refused(why);
        }
        let Some(audit) = self.audit(Chain::Work, event).await? else { return Ok(None) };
        let args = [Arg::Int(event), Arg::Int(audit), Arg::Int(release.into())];
        self.conn.exec(sql::COMMAND_DECIDE, &args).await?;
        if release {
            self.requeue("release", event, None, audit).await?;
        }
        Ok(Some(Ok(audit)))
    }

    async fn unmapped_drop(&self, id: i64) -> Decided {
        let mark = format!("dropped by {}", self.who.actor);
        if self.conn.exec(sql::UNMAPPED_DECIDE, &[Arg::Int(id), Arg::Text(&mark)]).await? == 0 {
            let there = self.conn.row(sql::UNMAPPED_FIND, &[Arg::Int(id)]).await?.is_some();
            return refused(if there { Refused::State } else { Refused::NotFound });
        }
        Ok(self.audit(Chain::Inbox, id).await?.map(Ok))
    }

    async fn stand(&self, consumer: i64, paused: bool) -> Decided {
        let mut found = self.conn.row(sql::COMMAND_CONSUMER, &[Arg::Int(consumer)]).await?.unwrap_or_default();
        let standing = if found.0.is_empty() { None } else { Standing::parse(&found.text(0)?) };
        let to = match command::stand(standing, paused) {
            Ok(to) => to,
            Err(why) => return refused(why),
        };
        let args = [Arg::Int(consumer), Arg::Int(found.int(1)?), Arg::Text(to.name())];
        self.conn.exec(sql::COMMAND_STATE, &args).await?;
        Ok(self.audit(Chain::Work, consumer).await?.map(Ok))
    }
}
