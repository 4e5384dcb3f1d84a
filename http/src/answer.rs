//! Answers. What a stranger is told says nothing about why; what a signed sender is told is final.

use std::sync::Arc;

use bytes::Bytes;
use hookonce_core::admit::{Admission, Verdict};
use hookonce_core::signature::{Refusal, handshake};
use hookonce_core::{id, respond};
use http::{HeaderValue, Response, StatusCode, Version, header};
use http_body_util::Full;

use crate::headers::{EVENT, VERDICT};
use crate::limits::RETRY_AFTER_SECONDS;
use crate::source::Door;

pub type Answer = Response<Full<Bytes>>;

/// A request that ends without an admission, by what its sender can do about it.
#[derive(Clone, Debug)]
pub enum Declined {
    Method,
    /// Framing that two readers could understand differently, or a body that broke off.
    Malformed(&'static str),
    TooManyHeaders,
    BrokenCoding,
    UnknownCoding,
    TooLarge,
    Slow,
    Refused(Refusal),
    /// A handshake that is answered no, with the status of its protocol.
    Challenge(handshake::Refused),
    /// Too many requests from one address.
    Limited,
    /// Too many bytes in memory.
    Full,
    /// The source cannot verify anything: its secret is missing, or the last one has expired.
    NoSecret,
    /// The commit goes on; its sender should not wait for it.
    Late,
    Unavailable(Arc<str>),
}

impl Declined {
    pub fn status(&self) -> StatusCode {
        match self {
            Declined::Method => StatusCode::METHOD_NOT_ALLOWED,
            Declined::Malformed(_) | Declined::BrokenCoding => StatusCode::BAD_REQUEST,
            Declined::TooManyHeaders => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Declined::UnknownCoding => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Declined::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Declined::Slow => StatusCode::REQUEST_TIMEOUT,
            Declined::Refused(_) => StatusCode::UNAUTHORIZED,
            Declined::Challenge(refused) => StatusCode::from_u16(refused.status).unwrap_or(StatusCode::FORBIDDEN),
            Declined::Limited | Declined::Full | Declined::NoSecret | Declined::Late | Declined::Unavailable(_) => {
                StatusCode::SERVICE_UNAVAILABLE
            }
        }
    }

    /// The reason as counted and kept beside a sample; `None`: our trouble, nothing was wrong with the request.
    pub fn reason(&self) -> Option<&'static str> {
        match self {
            Declined::Method => Some("method"),
            Declined::Malformed(what) => Some(what),
            Declined::TooManyHeaders => Some("too_many_headers"),
            Declined::BrokenCoding => Some("broken_coding"),
            Declined::UnknownCoding => Some("unknown_coding"),
            Declined::TooLarge => Some("too_large"),
            Declined::Slow => Some("slow_body"),
            Declined::Refused(refusal) => Some(refusal.name()),
            Declined::Challenge(refused) => Some(refused.reason.name()),
            Declined::Limited | Declined::Full | Declined::NoSecret | Declined::Late | Declined::Unavailable(_) => None,
        }
    }

    /// Somebody has to act: what its sender repeats cannot come in, or the trouble is ours.
    pub fn alarm(&self) -> Option<&'static str> {
        match self {
            Declined::TooLarge | Declined::UnknownCoding | Declined::TooManyHeaders => self.reason(),
            Declined::NoSecret => Some("secret_missing"),
            Declined::Full => Some("buffers_full"),
            Declined::Late => Some("ack_late"),
            Declined::Unavailable(_) => Some("store_unavailable"),
            _ => None,
        }
    }
}

/// A name that no source has. Nothing tells it from a name that could be one.
pub fn unknown_source() -> Answer {
    plain(StatusCode::NOT_FOUND)
}

pub fn declined(declined: &Declined, door: &Door, version: Version) -> Answer {
    let ours = declined.reason().is_none();
    let polite = matches!(declined, Declined::Limited | Declined::Full) && door.source.respond.retry_429;
    let status = if polite { StatusCode::TOO_MANY_REQUESTS } else { declined.status() };
    let mut answer = plain(status);
    if ours {
        answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(RETRY_AFTER_SECONDS));
    }
    if matches!(declined, Declined::Malformed(_)) && version < Version::HTTP_2 {
        // Where this request ends is in doubt, so nothing behind it is a request (S15). Streams end by themselves.
        answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    if status == StatusCode::METHOD_NOT_ALLOWED {
        answer.headers_mut().insert(header::ALLOW, door.allow.clone());
    }
    answer
}

/// The status in words and no more: one text for every reason (S10, S33).
fn plain(status: StatusCode) -> Answer {
    let text = status.canonical_reason().unwrap_or("refused");
    build(status, HeaderValue::from_static("text/plain"), Bytes::from_static(text.as_bytes()))
}

fn build(status: StatusCode, content_type: HeaderValue, body: Bytes) -> Answer {
    let mut answer = Response::new(Full::new(body));
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, content_type);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    answer
}

pub fn probe(given: handshake::Answer) -> Answer {
    let status = StatusCode::from_u16(given.status).unwrap_or(StatusCode::OK);
    let mut answer = build(status, HeaderValue::from_static("text/plain"), given.body.into());
    for (name, value) in given.headers {
        // A value that no header may have comes from the request: the handshake fails, nothing else does.
        if let Ok(value) = HeaderValue::try_from(value) {
            answer.headers_mut().insert(name, value);
        }
    }
    answer
}

/// What the store has taken. Status and body are the source's own, since some senders count one exact answer.
pub fn admitted(admission: &Admission, door: &Door) -> Answer {
    let status = respond::answer(admission, &door.source.respond);
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    let mut answer = build(status, door.content_type.clone(), door.body.clone());
    if let Some(verdict) = verdicts(admission) {
        answer.headers_mut().insert(VERDICT, verdict);
    }
    if let Some(event) = event(admission) {
        answer.headers_mut().insert(EVENT, event);
    }
    answer
}

fn verdicts(admission: &Admission) -> Option<HeaderValue> {
    match admission.verdicts.as_slice() {
        [] => None,
        [one] => Some(HeaderValue::from_static(one.name())),
        many => {
            let count = |name: &&str| many.iter().filter(|v| v.name() == *name).count();
            let names = ["accepted", "duplicate", "conflict", "unmapped"];
            let counts: Vec<String> =
                names.iter().filter(|n| count(n) > 0).map(|n| format!("{n}={}", count(n))).collect();
            HeaderValue::try_from(counts.join(" ")).ok()
        }
    }
}

fn event(admission: &Admission) -> Option<HeaderValue> {
    let number = match admission.verdicts.as_slice() {
        [Verdict::Accepted { event, .. }] => *event,
        [Verdict::Duplicate { of }] => *of,
        [Verdict::Conflict { with, .. }] => *with,
        _ => return None,
    };
    HeaderValue::try_from(id::event(number)).ok()
}
