//! What a run sees of its event: read on a connection of its own, so that no writer waits for a body.

use std::sync::Arc;

use hookonce_core::claim::Claimed;

use super::conn::Conn;
use crate::sql::call::Arg;
use crate::sql::sqlite as sql;
use crate::sql::stored;
use crate::store::{Run, StoreError};

/// The runs, and the rows whose event or payload is gone.
pub fn runs(inbox: &Conn, claimed: Vec<Claimed>) -> Result<(Vec<Run>, Vec<Claimed>), StoreError> {
    let (mut runs, mut gone) = (Vec::with_capacity(claimed.len()), Vec::new());
    inbox.reading(|| {
        for claimed in claimed {
            match inbox.row(sql::CLAIM_BODY, &[Arg::Int(claimed.event)])? {
                Some(row) => runs.push(Run { event: Arc::new(stored::event(claimed.event, row)?), claimed }),
                None => gone.push(claimed),
            }
        }
        Ok(())
    })?;
    Ok((runs, gone))
}
