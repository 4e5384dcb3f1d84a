//! How both dialects store what is not one plain value: the headers and the bytes of an item, the counts of a tally row.

use bytes::Bytes;
use hookonce_core::coding;
use hookonce_core::request::Headers;

use super::call::Row;
use super::headers;
use crate::store::{EventView, StoreError};

pub fn span(start: Option<i64>, end: Option<i64>) -> Option<(u64, u64)> {
    Some((u64::try_from(start?).ok()?, u64::try_from(end?).ok()?))
}

/// An item's own bytes. Wrong ones are never handed on.
pub fn item(headers: &Headers, body: Bytes, span: Option<(u64, u64)>) -> Result<Bytes, StoreError> {
    let bytes = coding::item(headers, &body, span);
    bytes.ok_or_else(|| StoreError::Failed("stored bytes are not those that an item was read from".into()))
}

pub fn headers(bytes: &[u8]) -> Result<Headers, StoreError> {
    headers::decode(bytes).ok_or_else(|| StoreError::Failed("stored headers are not as they were written".into()))
}

/// (source, verdict, how many) of a tally row.
pub fn counts(text: &str) -> Result<Vec<(String, String, u64)>, StoreError> {
    serde_json::from_str(text).map_err(|e| StoreError::Failed(format!("a tally row is no list: {e}")))
}

/// What a run sees of its event.
pub fn event(id: i64, mut row: Row) -> Result<EventView, StoreError> {
    let span = span(row.opt_int(10)?, row.opt_int(11)?);
    let headers = headers(&row.blob(12)?)?;
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
