//! One HTTP call as it arrived. Nothing here parses the body: whoever looks into it has verified it first.

use bytes::Bytes;
use http::{HeaderName, HeaderValue};

use crate::time::Micros;

/// Headers in the order of arrival, repeats included. A map would lose both, and both are stored and forwarded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers(pub Vec<(HeaderName, HeaderValue)>);

impl Headers {
    /// The bytes of the first header of that name; names are compared without case.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.0.iter().find(|(n, _)| n.as_str().eq_ignore_ascii_case(name)).map(|(_, v)| v.as_bytes())
    }

    /// Every value of that name, in order.
    pub fn all<'s>(&'s self, name: &str) -> impl Iterator<Item = &'s [u8]> {
        self.0.iter().filter(move |(n, _)| n.as_str().eq_ignore_ascii_case(name)).map(|(_, v)| v.as_bytes())
    }

    /// The value of a header that must not be repeated: `Ok(None)` absent or empty, `Err` more than one.
    pub fn single(&self, name: &str) -> Result<Option<&[u8]>, Repeated> {
        if self.all(name).nth(1).is_some() {
            return Err(Repeated);
        }
        Ok(self.get(name).filter(|v| !v.is_empty()))
    }
}

/// A header that may stand once stands twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeated;

/// One HTTP call, complete. `body` is what was signed and what will be forwarded (the wire bytes, or the decoded ones
/// where the source says `signature_over = "decoded"`); `decoded` is what key, type and fingerprint are read from.
#[derive(Clone, Debug)]
pub struct Request {
    pub received: Micros,
    pub method: http::Method,
    /// Path and query exactly as they arrived, e.g. `/in/crm?x=1`.
    pub target: String,
    /// The URL as the provider has it (`public_url` of the source, else scheme + Host + target): some schemes sign it.
    pub url: String,
    pub headers: Headers,
    pub body: Bytes,
    pub decoded: Bytes,
}

impl Request {
    /// The query part of the target, without the question mark.
    pub fn query(&self) -> &str {
        self.target.split_once('?').map_or("", |(_, q)| q)
    }
}
