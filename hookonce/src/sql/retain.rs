//! An event as cleaning looks at it: the same columns in both dialects.

use hookonce_core::event::{Digest, EventNo};
use hookonce_core::retain::Aged;
use hookonce_core::time::Micros;

use super::call::Row;
use crate::store::StoreError;

#[derive(Clone, Debug)]
pub struct Looked {
    pub aged: Aged,
    pub payload: i64,
    /// It shares its bytes with others of its request.
    pub part: bool,
    pub namespace: String,
    pub event_time: Option<Micros>,
    pub digest: Digest,
    pub variant: i64,
    pub guard: Option<Digest>,
}

pub fn looked(mut row: Row) -> Result<Looked, StoreError> {
    Ok(Looked {
        aged: Aged {
            event: row.int(0)?,
            source: row.text(1)?,
            received: row.int(2)?,
            seen: row.int(5)?,
            needed: row.flag(6)?,
        },
        payload: row.int(3)?,
        part: row.flag(4)?,
        namespace: row.text(7)?,
        event_time: row.opt_int(8)?,
        digest: row.bytes(9)?,
        variant: row.int(10)?,
        guard: row.opt_bytes(11)?,
    })
}

/// What may be old enough, by what is known of it beside the work on it.
#[derive(Debug)]
pub struct Candidate {
    pub aged: Aged,
    /// The events whose end decides: itself, or all that share its bytes. None: it goes with a later one.
    pub of: Vec<EventNo>,
    /// Somebody has yet to decide about its bytes.
    pub undecided: bool,
}
