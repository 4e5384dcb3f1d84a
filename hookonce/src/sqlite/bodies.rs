//! What a run sees of its event: read on a connection of its own, so that no writer waits for a body.

use std::sync::Arc;

use hookonce_core::claim::Claimed;

use super::conn::Conn;
use crate::sql::call::{Arg, Row};
use crate::sql::sqlite as sql;
use crate::sql::stored;
use crate::store::{EventView, Run, StoreError};

/// The runs, and the rows whose event or payload is gone.
pub fn runs(inbox: &Conn, claimed: Vec<Claimed>) -> Result<(Vec<Run>, Vec<Claimed>), StoreError> {
    let (mut runs, mut gone) = (Vec::with_capacity(claimed.len()), Vec::new());
    inbox.reading(|| {
        for claimed in claimed {
            match inbox.row(sql::CLAIM_BODY, &[Arg::Int(claimed.event)])? {
                Some(row) => runs.push(Run { event: Arc::new(view(claimed.event, row)?), claimed }),
                None => gone.push(claimed),
            }
        }
        Ok(())
    })?;
    Ok((runs, gone))
}

fn view(id: i64, mut row: Row) -> Result<EventView, StoreError> {
    let span = stored::span(row.opt_int(10)?, row.opt_int(11)?);
    Ok(EventView {
        id,
        source: row.text(0)?,
        namespace: row.text(1)?,
        key_kind: row.text(2)?,
        key: row.blob(3)?,
        key_text: row.text(4)?,
        variant: row.int(5)?,
        kind: row.text(6)?,
        aggregate: row.opt_text(7)?,
        version: row.opt_text(8)?,
        received: row.int(9)?,
        headers: stored::headers(&row.blob(12)?)?,
        body: stored::part(row.blob(13)?.into(), span),
        part: span.is_some(),
    })
}
