//! What an endpoint has to answer before a provider trusts it: probes and challenges. None of them becomes an event, and
//! none leaves a row.
//!
//! A kind is a row of [`ALL`]: when a request is one, whether it must be signed, and what is answered. A source names its
//! kinds (`handshakes = [ … ]`, or its provider does); [`answer`] is the whole decision.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::request::Request;

use super::refusal::Refusal;
use super::verify::{Options, Verified};

/// Longest body that is looked into for a challenge; providers send a few hundred bytes.
pub const MAX_CHALLENGE_BODY: usize = 16 * 1024;
/// Longest text that is echoed.
pub const MAX_ECHO: usize = 1024;

/// One kind of handshake.
#[derive(Debug)]
pub struct Handshake {
    pub name: &'static str,
    pub method: &'static str,
    /// The request has to be authentic by the source's own rule before it is answered.
    pub signed: bool,
    /// Whether a request of this method is one, and what it asks. The error is the reason why it is none.
    ask: fn(&Request) -> Result<Cow<'_, str>, Refusal>,
    reply: fn(&str, &Options) -> Result<Answer, Refusal>,
}

/// A complete answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
}

/// A handshake that is answered no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    pub status: u16,
    pub reason: Refusal,
}

pub static ALL: [Handshake; 4] = [
    Handshake { name: "head", method: "HEAD", signed: false, ask: ask_nothing, reply: reply_empty },
    Handshake { name: "options-origin", method: "OPTIONS", signed: false, ask: ask_origin, reply: reply_origin },
    Handshake { name: "json-challenge", method: "POST", signed: true, ask: ask_challenge, reply: reply_echo },
    Handshake { name: "slack-url-verification", method: "POST", signed: true, ask: ask_challenge, reply: reply_echo },
];

pub fn find(name: &str) -> Option<&'static Handshake> {
    ALL.iter().find(|kind| kind.name == name)
}

/// `None`: the request is no handshake of these kinds, it goes on as any other. `verify` is asked only if it is one and
/// has to be authentic, so that an unsigned probe costs no hash.
pub fn answer(
    kinds: &[&Handshake],
    request: &Request,
    options: &Options,
    verify: impl FnOnce() -> Result<Verified, Refusal>,
) -> Option<Result<Answer, Refused>> {
    let asked = kinds.iter().find_map(|kind| Some((kind, kind.asked(request).ok()?)));
    asked.map(|(kind, ask)| kind.answer(&ask, options, verify))
}

impl Handshake {
    /// What the request asks for; an error if it is no handshake of this kind.
    pub fn asked<'a>(&self, request: &'a Request) -> Result<Cow<'a, str>, Refusal> {
        if request.method.as_str() != self.method {
            return Err(Refusal::ChallengeRefused);
        }
        (self.ask)(request)
    }

    fn answer(
        &self,
        ask: &str,
        options: &Options,
        verify: impl FnOnce() -> Result<Verified, Refusal>,
    ) -> Result<Answer, Refused> {
        if self.signed {
            verify().map_err(|reason| Refused { status: 401, reason })?;
        }
        (self.reply)(ask, options).map_err(|reason| Refused { status: 403, reason })
    }
}

fn ask_nothing(_: &Request) -> Result<Cow<'_, str>, Refusal> {
    Ok(Cow::Borrowed(""))
}

/// CloudEvents: the sender asks whether it may send, and names itself.
fn ask_origin(request: &Request) -> Result<Cow<'_, str>, Refusal> {
    let origin = request.headers.single("WebHook-Request-Origin").map_err(|_| Refusal::MalformedHeader)?;
    let origin = origin.ok_or(Refusal::MissingHeader)?;
    std::str::from_utf8(origin).map(Cow::Borrowed).map_err(|_| Refusal::MalformedHeader)
}

/// A body that says that it is a verification, or that has nothing but a challenge. An event that merely contains a
/// field of that name must stay an event: taken for a handshake it would be answered and lost.
fn ask_challenge(request: &Request) -> Result<Cow<'_, str>, Refusal> {
    let body = &request.decoded;
    let wanted = b"challenge";
    if body.len() > MAX_CHALLENGE_BODY || !body.windows(wanted.len()).any(|window| window == wanted) {
        return Err(Refusal::ChallengeRefused);
    }
    let fields: Map<String, Value> = serde_json::from_slice(body).map_err(|_| Refusal::MalformedBody)?;
    let is_verification = fields.get("type").and_then(Value::as_str) == Some("url_verification");
    match fields.get("challenge") {
        Some(Value::String(text)) if is_verification || fields.len() == 1 => Ok(Cow::Owned(text.clone())),
        _ => Err(Refusal::ChallengeRefused),
    }
}

fn reply_empty(_: &str, _: &Options) -> Result<Answer, Refusal> {
    Ok(Answer { status: 200, headers: Vec::new(), body: String::new() })
}

/// The whole name has to be on the list: a prefix or suffix of it is somebody else.
fn reply_origin(origin: &str, options: &Options) -> Result<Answer, Refusal> {
    if !options.allowed_origins.iter().any(|allowed| allowed == origin) {
        return Err(Refusal::ChallengeRefused);
    }
    let headers = vec![
        ("allow", "POST".to_owned()),
        ("webhook-allowed-origin", origin.to_owned()),
        ("webhook-allowed-rate", "*".to_owned()),
    ];
    Ok(Answer { status: 200, headers, body: String::new() })
}

/// The characters themselves, as text that no browser takes for anything else.
fn reply_echo(challenge: &str, _: &Options) -> Result<Answer, Refusal> {
    if challenge.is_empty() || challenge.len() > MAX_ECHO {
        return Err(Refusal::ChallengeRefused);
    }
    let headers = vec![
        ("content-type", "text/plain; charset=utf-8".to_owned()),
        ("x-content-type-options", "nosniff".to_owned()),
    ];
    Ok(Answer { status: 200, headers, body: challenge.to_owned() })
}
