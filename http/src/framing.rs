//! What the HTTP library lets pass and two readers of one connection could understand differently.
//!
//! It refuses by itself (tested on a raw socket): two lengths, `4, 4`, `+4`, blanks before a colon, folded lines, NUL,
//! chunked in HTTP/1.0, chunked that is not last, broken chunks; and it closes behind a request with length and chunked.

use http::request::Parts;
use http::{HeaderMap, Version, header};

use crate::answer::Declined;
use crate::limits::MAX_HEADERS;

pub fn check(head: &Parts) -> Result<(), Declined> {
    if head.headers.len() > MAX_HEADERS {
        return Err(Declined::TooManyHeaders);
    }
    check_host(head)?;
    check_transfer_coding(&head.headers)
}

/// Exactly one Host (S16): behind a proxy that reads the other one, a request could reach a source that was not meant.
fn check_host(head: &Parts) -> Result<(), Declined> {
    let mut hosts = head.headers.get_all(header::HOST).iter();
    match (hosts.next(), hosts.next()) {
        (Some(host), None) if is_host(host.as_bytes()) => Ok(()),
        (None, None) if head.version >= Version::HTTP_2 && head.uri.authority().is_some() => Ok(()),
        _ => Err(Declined::Malformed("malformed_host")),
    }
}

fn is_host(host: &[u8]) -> bool {
    let allowed = |b: &u8| b.is_ascii_alphanumeric() || b"-._~:[]%!$&'()*+;=".contains(b) || *b >= 0x80;
    !host.is_empty() && host.iter().all(allowed)
}

/// Chunked, once, alone: a coding in front of it would be the body's, and nobody here would undo it.
fn check_transfer_coding(headers: &HeaderMap) -> Result<(), Declined> {
    let mut codings = headers.get_all(header::TRANSFER_ENCODING).iter();
    match (codings.next(), codings.next()) {
        (None, _) => Ok(()),
        (Some(coding), None) if coding.as_bytes().trim_ascii().eq_ignore_ascii_case(b"chunked") => Ok(()),
        _ => Err(Declined::Malformed("malformed_transfer_coding")),
    }
}
