//! What a run sees of its event, and whether a person has cancelled it: read behind the claim, which locks nothing of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hookonce_core::claim::Claimed;
use hookonce_core::lease::Lease;
use hookonce_core::settle::{self, Ending};

use super::conn::Conn;
use super::sets::{Column, Sets};
use super::store::Base;
use crate::sql::postgres as sql;
use crate::sql::stored;
use crate::store::{Run, StoreError};

/// What was claimed, with its bodies. What has none any more is ended at once and does not come back; if they cannot be
/// read now, the leases are given back: a run that never began is no lost run.
pub async fn runs(base: &Base, claimed: Vec<Claimed>) -> Result<Vec<Run>, StoreError> {
    if claimed.is_empty() {
        return Ok(Vec::new());
    }
    let leases: Vec<Lease> = claimed.iter().map(|claimed| claimed.lease).collect();
    let read = async { look(&*base.work.get().await?, claimed).await };
    match read.await {
        Ok((runs, gone)) if gone.is_empty() => Ok(runs),
        Ok((runs, gone)) => {
            let endings: Vec<Ending> = gone.iter().map(settle::purged).collect();
            super::settle::settle(base, &endings, None).await?;
            Ok(runs)
        }
        Err(error) => {
            super::claim::release(&*base.work.get().await?, &base.identity, &leases).await?;
            Err(error)
        }
    }
}

/// The runs, and the rows whose event or payload is gone.
async fn look(conn: &Conn, claimed: Vec<Claimed>) -> Result<(Vec<Run>, Vec<Claimed>), StoreError> {
    let mut sets = Sets::default();
    sets.add(sql::CLAIM_BODIES, [Column::ints(&claimed, |c| c.event)]);
    let (lanes, seqs) = (Column::ints(&claimed, |c| c.lane), Column::ints(&claimed, |c| c.lease.seq));
    sets.add(sql::CLAIM_CANCELS, [lanes, seqs]);
    let mut answers = sets.run(conn).await?;
    let cancelled: BTreeSet<i64> = answers.firsts(sql::CLAIM_CANCELS)?.into_iter().collect();
    let mut events = BTreeMap::new();
    for mut row in answers.take(sql::CLAIM_BODIES) {
        let id = row.int(0)?;
        row.0.remove(0);
        events.insert(id, Arc::new(stored::event(id, row)?));
    }
    let (mut runs, mut gone) = (Vec::with_capacity(claimed.len()), Vec::new());
    for claimed in claimed {
        let claimed = Claimed { cancel: cancelled.contains(&claimed.lease.seq), ..claimed };
        match events.get(&claimed.event) {
            Some(event) => runs.push(Run { event: event.clone(), claimed }),
            None => gone.push(claimed),
        }
    }
    Ok((runs, gone))
}
