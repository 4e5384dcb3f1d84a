//! Content codings: gzip and deflate, undone under a cap of size and ratio. A few kilobytes can say fifty megabytes of
//! zeros, so the output is counted while it is made, and against the buffers of all.

use std::io::{self, Read};

use bytes::Bytes;
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use hookonce_core::request::Headers;
use http::{HeaderMap, header};

use crate::answer::Declined;
use crate::budget::{Budget, Held};
use crate::limits::{MAX_RATIO, RATIO_FLOOR};

/// A stored body without its coding, for whoever maps it again. It came through the same caps when it was stored.
pub fn decoded(headers: &Headers, wire: &Bytes) -> Option<Bytes> {
    let map: HeaderMap = headers.0.iter().cloned().collect();
    let all = Budget::new(usize::MAX);
    let mut held = Held::new(&all, &all);
    Coding::of(&map).and_then(|coding| coding.decode(wire, usize::MAX, &mut held)).ok()
}

/// Decoded at a time.
const STEP: usize = 16 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    Identity,
    Gzip,
    Deflate,
}

impl Coding {
    /// One coding, whatever its letters' case and the blanks around it. A list is not known to any sender we know.
    pub fn of(headers: &HeaderMap) -> Result<Coding, Declined> {
        let mut values = headers.get_all(header::CONTENT_ENCODING).iter();
        let (Some(value), None) = (values.next(), values.next()) else {
            return if headers.contains_key(header::CONTENT_ENCODING) {
                Err(Declined::UnknownCoding)
            } else {
                Ok(Coding::Identity)
            };
        };
        let name = value.as_bytes().trim_ascii();
        let is = |wanted: &str| name.eq_ignore_ascii_case(wanted.as_bytes());
        if name.is_empty() || is("identity") {
            Ok(Coding::Identity)
        } else if is("gzip") || is("x-gzip") {
            Ok(Coding::Gzip)
        } else if is("deflate") {
            Ok(Coding::Deflate)
        } else {
            Err(Declined::UnknownCoding)
        }
    }

    /// The decoded bytes, at most `max` of them.
    pub fn decode(self, wire: &Bytes, max: usize, held: &mut Held) -> Result<Bytes, Declined> {
        let max = max.min(wire.len().saturating_mul(MAX_RATIO).max(RATIO_FLOOR));
        match self {
            Coding::Identity => Ok(wire.clone()),
            // A request without a body has nothing that could be broken.
            _ if wire.is_empty() => Ok(Bytes::new()),
            Coding::Gzip => inflate(&mut MultiGzDecoder::new(&wire[..]), max, held),
            Coding::Deflate => {
                let mut decoder = ZlibDecoder::new(&wire[..]);
                let decoded = inflate(&mut decoder, max, held)?;
                let rest = wire.len() as u64 - decoder.total_in().min(wire.len() as u64);
                if rest == 0 { Ok(decoded) } else { Err(Declined::BrokenCoding) }
            }
        }
    }
}

fn inflate(decoder: &mut impl Read, max: usize, held: &mut Held) -> Result<Bytes, Declined> {
    let mut decoded = Vec::new();
    let mut step = [0; STEP];
    loop {
        let read = match decoder.read(&mut step) {
            Ok(0) => return Ok(decoded.into()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return Err(Declined::BrokenCoding),
        };
        if decoded.len() + read > max {
            return Err(Declined::TooLarge);
        }
        if !held.grow(read) {
            return Err(Declined::Full);
        }
        decoded.extend_from_slice(step.get(..read).unwrap_or_default());
    }
}
