//! What a run sees of its event: read on a connection of its own, so that no writer waits for a body.

use std::sync::Arc;

use bytes::Bytes;
use hookonce_core::claim::Claimed;
use hookonce_core::coding;
use hookonce_core::request::Headers;

use super::conn::Conn;
use crate::sql::call::{Arg, Row};
use crate::sql::headers;
use crate::sql::sqlite as sql;
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
    let span = span(row.opt_int(10)?, row.opt_int(11)?);
    let headers = stored_headers(&row.blob(12)?)?;
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
        body: item(&headers, row.blob(13)?.into(), span)?,
        headers,
        part: span.is_some(),
    })
}

pub fn span(start: Option<i64>, end: Option<i64>) -> Option<(u64, u64)> {
    Some((u64::try_from(start?).ok()?, u64::try_from(end?).ok()?))
}

/// An item's own bytes. Wrong ones are never handed on.
pub fn item(headers: &Headers, body: Bytes, span: Option<(u64, u64)>) -> Result<Bytes, StoreError> {
    let bytes = coding::item(headers, &body, span);
    bytes.ok_or_else(|| StoreError::Failed("stored bytes are not those that an item was read from".into()))
}

pub fn stored_headers(bytes: &[u8]) -> Result<Headers, StoreError> {
    headers::decode(bytes).ok_or_else(|| StoreError::Failed("stored headers are not as they were written".into()))
}
