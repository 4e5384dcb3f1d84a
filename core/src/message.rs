//! What is sent for a run, whatever the kind of the destination: the event's own bytes, the headers that may go with
//! them, and what the receiver recognises a repeat by. Start at [`of`]. How it looks on a wire is the destination's.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, header};

use crate::event::EventNo;
use crate::id;
use crate::request::Headers;
use crate::time::Micros;

/// Longest value of `hookonce-key` and `hookonce-version`: receivers end a head at 8 KiB. A longer one is left out,
/// never cut, because two keys cut to the same text would be one key to the receiver; `webhook-id` stands for it.
pub const FACT_MAX: usize = 1_024;

/// One message of one event to one consumer. Equal over all tries, but for `at`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The message key: the same over retries, restarts and the loss of the ledger.
    pub id: String,
    /// What may be forwarded of the original headers, in their order, then `hookonce-*`.
    pub headers: Headers,
    /// The received bytes; of a batch item its own.
    pub body: Bytes,
    /// The store's clock at this try: what a signature calls its time.
    pub at: Micros,
}

/// What a message is made of.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    pub id: &'a str,
    pub event: EventNo,
    pub source: &'a str,
    /// The key as people read it.
    pub key: &'a str,
    pub version: Option<&'a str>,
    pub headers: &'a Headers,
    pub body: &'a Bytes,
    /// It is a batch item: the request's content headers describe other bytes.
    pub part: bool,
    pub at: Micros,
}

pub fn of(facts: &Facts<'_>) -> Message {
    let mut headers = forwarded(facts.headers, facts.part);
    let mut fact = |name: &'static str, text: &str| headers.extend(valued(name, text));
    fact("hookonce-source", facts.source);
    fact("hookonce-key", facts.key);
    fact("hookonce-event", &id::event(facts.event));
    if let Some(version) = facts.version {
        fact("hookonce-version", version);
    }
    Message { id: facts.id.to_owned(), headers: Headers(headers), body: facts.body.clone(), at: facts.at }
}

/// A header made of text from outside: everything but visible ASCII is percent-encoded, the percent sign too, so that
/// it can be undone and no value splits a head (S24).
fn valued(name: &'static str, text: &str) -> Option<(HeaderName, HeaderValue)> {
    let mut value = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'!'..=b'~' if byte != b'%' => value.push(char::from(byte)),
            _ => value.push_str(&format!("%{byte:02X}")),
        }
    }
    if value.len() > FACT_MAX {
        return None;
    }
    Some((HeaderName::from_static(name), HeaderValue::try_from(value).ok()?))
}

/// What is ours to say on a forward, and therefore never the provider's: renamed, not lost.
const OURS: [&str; 3] = ["webhook-", "hookonce-", "idempotency-key"];
const ORIGINAL: &str = "original-";

/// Of one connection, of the way here, or of the answer that somebody else waits for.
const NEVER: [&str; 26] = [
    "accept",
    "accept-encoding",
    "authorization",
    "connection",
    "content-length",
    "cookie",
    "cookie2",
    "expect",
    "forwarded",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "range",
    "set-cookie",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-real-ip",
];

/// Headers that speak of the bytes of the whole request.
const OF_THE_WHOLE: [&str; 8] = [
    "content-disposition",
    "content-encoding",
    "content-md5",
    "content-range",
    "content-type",
    "digest",
    "content-digest",
    "repr-digest",
];

fn forwarded(original: &Headers, part: bool) -> Vec<(HeaderName, HeaderValue)> {
    let named = named_by_connection(original);
    let stays = |name: &str| {
        NEVER.contains(&name)
            || named.iter().any(|n| n == name)
            // What claims to be an original of ours is a forgery: only we rename.
            || name.strip_prefix(ORIGINAL).is_some_and(ours)
            || (part && OF_THE_WHOLE.contains(&name))
    };
    let kept = original.0.iter().filter(|(name, _)| !stays(name.as_str()));
    let mut headers: Vec<_> = kept.filter_map(|(name, value)| Some((renamed(name)?, value.clone()))).collect();
    if part {
        // Items are cut out of JSON, whatever carried it.
        headers.push((header::CONTENT_TYPE, HeaderValue::from_static("application/json")));
    }
    headers
}

fn ours(name: &str) -> bool {
    OURS.iter().any(|prefix| name.starts_with(prefix))
}

fn renamed(name: &HeaderName) -> Option<HeaderName> {
    match ours(name.as_str()) {
        true => HeaderName::try_from(format!("{ORIGINAL}{name}")).ok(),
        false => Some(name.clone()),
    }
}

/// RFC 9110 7.6.1: whatever `Connection` lists is of that connection alone.
fn named_by_connection(original: &Headers) -> Vec<String> {
    let lists = original.all("connection").filter_map(|value| std::str::from_utf8(value).ok());
    lists.flat_map(|list| list.split(',')).map(|name| name.trim().to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[(&str, &str)]) -> Headers {
        let pair = |(name, value): &(&str, &str)| {
            (HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_bytes(value.as_bytes()).unwrap())
        };
        Headers(lines.iter().map(pair).collect())
    }

    fn facts<'a>(headers: &'a Headers, body: &'a Bytes) -> Facts<'a> {
        Facts { id: "msg", event: 63, source: "crm", key: "k", version: None, headers, body, part: false, at: 7 }
    }

    fn shown(message: &Message) -> Vec<String> {
        message.headers.0.iter().map(|(n, v)| format!("{n}: {}", v.to_str().unwrap())).collect()
    }

    #[test]
    fn what_goes_with_a_forward() {
        let original = headers(&[
            ("Content-Type", "application/json; charset=utf-8"),
            ("Content-Encoding", "gzip"),
            ("Host", "inbox"),
            ("Content-Length", "2"),
            ("Authorization", "Bearer s"),
            ("Cookie", "a=b"),
            ("Connection", "close, X-Hop"),
            ("X-Hop", "1"),
            ("X-Forwarded-For", "10.0.0.1"),
            ("X-Twice", "1"),
            ("X-Hub-Signature-256", "sha256=00"),
            ("X-Twice", "2"),
            ("Webhook-Id", "theirs"),
            ("Hookonce-Key", "forged"),
            ("Idempotency-Key", "theirs"),
            ("Original-Webhook-Id", "forged"),
        ]);
        let body = Bytes::from_static(b"{}");
        let message = of(&facts(&original, &body));
        assert_eq!(
            shown(&message),
            [
                "content-type: application/json; charset=utf-8",
                "content-encoding: gzip",
                "x-twice: 1",
                "x-hub-signature-256: sha256=00",
                "x-twice: 2",
                "original-webhook-id: theirs",
                "original-hookonce-key: forged",
                "original-idempotency-key: theirs",
                "hookonce-source: crm",
                "hookonce-key: k",
                "hookonce-event: evt_1z",
            ]
        );
        assert_eq!((message.body, message.id, message.at), (body, "msg".to_owned(), 7));
    }

    #[test]
    fn an_item_of_a_batch_has_its_own_content_headers() {
        let original =
            headers(&[("Content-Type", "text/plain"), ("Content-Encoding", "gzip"), ("Digest", "x"), ("X-A", "1")]);
        let body = Bytes::from_static(b"1");
        let message = of(&Facts { part: true, ..facts(&original, &body) });
        assert_eq!(shown(&message)[..2], ["x-a: 1", "content-type: application/json"]);
    }

    #[test]
    fn text_from_outside_cannot_split_a_head() {
        let none = Headers::default();
        let body = Bytes::new();
        for (key, want) in
            [("a:b", "a:b"), ("a\r\nx: y", "a%0D%0Ax:%20y"), ("é%", "%C3%A9%25"), ("\0\u{7f}", "%00%7F"), ("", "")]
        {
            let message = of(&Facts { key, version: Some(key), ..facts(&none, &body) });
            assert_eq!(message.headers.get("hookonce-key"), Some(want.as_bytes()), "{key:?}");
            assert_eq!(message.headers.get("hookonce-version"), Some(want.as_bytes()), "{key:?}");
        }
    }

    #[test]
    fn a_fact_that_is_too_long_is_left_out_and_never_cut() {
        let none = Headers::default();
        let body = Bytes::new();
        let long = "k".repeat(FACT_MAX);
        let longer = "k".repeat(FACT_MAX + 1);
        assert!(of(&Facts { key: &long, ..facts(&none, &body) }).headers.get("hookonce-key").is_some());
        assert!(of(&Facts { key: &longer, ..facts(&none, &body) }).headers.get("hookonce-key").is_none());
    }
}
