//! Content codings at the door, undone under a cap of size and ratio. A few kilobytes can say fifty megabytes of zeros,
//! so the output is counted while it is made, and against the buffers of all.

use std::ops::ControlFlow;

use bytes::Bytes;
pub use hookonce_core::coding::Coding;
use hookonce_core::coding::Undecoded;
use http::{HeaderMap, header};

use crate::answer::Declined;
use crate::budget::Held;
use crate::limits::{MAX_RATIO, RATIO_FLOOR};

/// One coding: of two headers nobody knows the order in which they were applied.
pub fn of(headers: &HeaderMap) -> Result<Coding, Declined> {
    let mut values = headers.get_all(header::CONTENT_ENCODING).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(Coding::Identity),
        (Some(value), None) => Coding::named(value.as_bytes()).ok_or(Declined::UnknownCoding),
        _ => Err(Declined::UnknownCoding),
    }
}

/// The decoded bytes, at most `max` of them.
pub fn decode(coding: Coding, wire: &Bytes, max: usize, held: &mut Held) -> Result<Bytes, Declined> {
    if coding == Coding::Identity {
        return Ok(wire.clone());
    }
    let max = max.min(wire.len().saturating_mul(MAX_RATIO).max(RATIO_FLOOR));
    let mut decoded = Vec::new();
    let taken = coding.decode(wire, |step| {
        if decoded.len() + step.len() > max {
            return ControlFlow::Break(Declined::TooLarge);
        }
        if !held.grow(step.len()) {
            return ControlFlow::Break(Declined::Full);
        }
        decoded.extend_from_slice(step);
        ControlFlow::Continue(())
    });
    match taken {
        Ok(()) => Ok(decoded.into()),
        Err(Undecoded::Broken) => Err(Declined::BrokenCoding),
        Err(Undecoded::Ended(declined)) => Err(declined),
    }
}
