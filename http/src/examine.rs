//! What is decided about a complete request before the store is asked: is it a handshake, is it authentic, what is in
//! it. Pure, so that large bodies can be examined on another thread.

use std::sync::Arc;

use hookonce_core::admit::{Origin, Submission};
use hookonce_core::coding::undone;
use hookonce_core::event::Mapped;
use hookonce_core::identify::items;
use hookonce_core::request::Request;
use hookonce_core::signature::{Matched, Refusal, handshake, signed};
use hookonce_core::time::SECOND;

use crate::answer::Declined;
use crate::budget::Held;
use crate::coding::{self, Coding};
use crate::headers::is_secret;
use crate::source::{Door, SignatureOver, Verification};

/// A request with all its bytes, and what they hold of the buffers.
pub struct Case {
    pub door: Arc<Door>,
    pub request: Request,
    pub coding: Coding,
    pub held: Held,
}

pub enum Examined {
    Handshake(handshake::Answer),
    Event { secret: Option<Arc<str>>, mapped: Vec<Mapped> },
}

pub fn examine(case: &mut Case) -> Result<Examined, Declined> {
    let over = case.door.source.signature_over;
    if over == SignatureOver::Decoded {
        case.decode()?;
        case.take_decoded();
    }
    let door = Arc::clone(&case.door);
    if let Some(answered) = probe(&door, &case.request) {
        return answered.map(Examined::Handshake);
    }
    // Its last secret may have expired while the body came.
    if door.source.verification.trouble(case.request.received).is_some() {
        return Err(Declined::NoSecret);
    }
    let matched = authentic(&door, &case.request).map_err(Declined::Refused)?;
    if over == SignatureOver::Wire {
        case.decode()?;
    }
    let verified = matched.bound(&case.request.decoded).map_err(Declined::Refused)?;
    hookonce_core::kill_point!("verified");
    let mapped = items(&case.door.source.rule, &case.request).map_err(|_| Declined::TooLarge)?;
    hookonce_core::kill_point!("identified");
    Ok(Examined::Event { secret: verified.secret().cloned(), mapped })
}

/// A probe or challenge of the source's own kinds; `None`: a request like any other.
pub fn probe(door: &Door, request: &Request) -> Option<Result<handshake::Answer, Declined>> {
    let source = &door.source;
    if source.handshakes.is_empty() {
        return None;
    }
    let verified = || authentic(door, request)?.bound(&request.decoded);
    let answered = handshake::answer(&source.handshakes, request, &source.options, verified);
    answered.map(|answered| answered.map_err(Declined::Challenge))
}

/// Of the raw bytes alone: nothing is decoded for whoever has not signed.
fn authentic<'d>(door: &'d Door, request: &Request) -> Result<Matched<'d>, Refusal> {
    match &door.source.verification {
        Verification::Keys(keys) => signed(keys, request, &door.source.options, request.received / SECOND),
        Verification::None => Ok(Matched::unsigned()),
        // Asked for before the body was read; nothing passes here if it ever is not.
        Verification::Missing(_) => Err(Refusal::UnknownKey),
    }
}

impl Case {
    fn decode(&mut self) -> Result<(), Declined> {
        let max = self.door.source.max_body;
        self.request.decoded = coding::decode(self.coding, &self.request.body, max, &mut self.held)?;
        Ok(())
    }

    /// What was signed is what is kept, so headers that describe the coded bytes go.
    fn take_decoded(&mut self) {
        self.request.body = self.request.decoded.clone();
        if self.coding != Coding::Identity {
            undone(&mut self.request.headers);
        }
    }

    pub fn submit(self, secret: Option<Arc<str>>, mapped: Vec<Mapped>) -> (Submission, Held) {
        let Case { door, mut request, held, .. } = self;
        let source = &door.source;
        request.headers.0.retain(|(name, _)| !is_secret(name) && !source.secret_headers.contains(name));
        let submission = Submission {
            source: source.name.clone(),
            namespace: source.namespace.clone(),
            received: request.received,
            target: format!("{} {}", request.method, request.target),
            headers: request.headers,
            body: planted_body(request.body),
            secret,
            mapped,
            origin: Origin::Receive,
        };
        (submission, held)
    }
}

#[cfg(not(feature = "planted"))]
fn planted_body(body: bytes::Bytes) -> bytes::Bytes {
    body
}

/// The planted bug of F01: equal as JSON, and no longer what was sent.
#[cfg(feature = "planted")]
fn planted_body(body: bytes::Bytes) -> bytes::Bytes {
    if !hookonce_core::planted!("reserialise-body") {
        return body;
    }
    let parsed: Option<serde_json::Value> = serde_json::from_slice(&body).ok();
    parsed.map_or(body, |value| value.to_string().into())
}
