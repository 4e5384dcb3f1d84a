//! What a provider sends: occurrences with bodies of their own, and all the ways in which they come again or wrong.

use std::net::SocketAddr;
use std::sync::Arc;

use crate::dice::Dice;
use crate::history::{Kind, Validity};
use crate::sign;

use super::config::{CRM_SECRET, PLAIN_SECRET, REGISTRY_SECRET};
use super::{Clock, wire};

/// Things that events are about, per source: few, so that lanes get several events each.
const AGGREGATES: u64 = 24;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Crm,
    Registry,
    Plain,
}

impl Source {
    pub fn name(self) -> &'static str {
        match self {
            Self::Crm => "crm",
            Self::Registry => "registry",
            Self::Plain => "plain",
        }
    }
}

/// One business occurrence with one content. A conflict is the same key with another content.
#[derive(Debug, Clone)]
pub struct Occurrence {
    pub source: Source,
    pub key: String,
    pub event_type: String,
    pub aggregate: Option<String>,
    pub body: Arc<[u8]>,
}

/// An occurrence on its way, once.
#[derive(Debug, Clone)]
pub struct Letter {
    pub what: Occurrence,
    pub kind: Kind,
    pub validity: Validity,
}

/// A new occurrence; `n` is unique in the run, and so is the body.
pub fn invent(n: u64, dice: &mut Dice) -> Occurrence {
    let thing = dice.below(AGGREGATES);
    match dice.below(10) {
        0..=5 => crm(n, thing, dice),
        6..=7 => registry(n, thing, dice),
        _ => plain(n),
    }
}

/// Bodies that no JSON printer would write like this: blanks, escapes, `2.0` and an emoji show a re-written body.
fn crm(n: u64, thing: u64, dice: &mut Dice) -> Occurrence {
    let entity = if dice.below(2) == 0 { "Patient" } else { "Appointment" };
    let (business, location) = (thing % 2, thing % 3);
    let time =
        format!("2026-01-01T{:02}:{:02}:{:02}.{:03}Z", n / 3_600_000 % 24, n / 60_000 % 60, n / 1000 % 60, n % 1000);
    let body = format!(
        "{{\"Entity\":\"{entity}\", \"Action\":\"Update\",  \"PrimaryKey\":\"{thing}\",\"CommandTime\":\"{time}\",\
         \"Business\":\"{business}\",\"Location\":\"{location}\",\"Data\":{{\"Name\":\"\\u00f1 ñ 😀\",\"n\":{n},\"x\":2.0}}}}\r\n"
    );
    Occurrence {
        source: Source::Crm,
        key: format!("{entity}:Update:{thing}:{time}"),
        event_type: format!("{entity}.Update"),
        aggregate: Some(format!("{business}:{location}:{entity}:{thing}")),
        body: body.into_bytes().into(),
    }
}

/// One in eight has a type that nobody asks for.
fn registry(n: u64, thing: u64, dice: &mut Dice) -> Occurrence {
    let event_type = if dice.below(8) == 0 { "notice.posted" } else { "filing.submitted" };
    let aggregate = format!("filing-{thing}");
    let body = format!(
        "{{\"type\": \"{event_type}\",\"data\":{{\"id\":\"{aggregate}\",\"n\": {n},\"fee\":12345678901234567890.10}}}}"
    );
    Occurrence {
        source: Source::Registry,
        key: format!("msg_{n:012}"),
        event_type: event_type.to_owned(),
        aggregate: Some(aggregate),
        body: body.into_bytes().into(),
    }
}

fn plain(n: u64) -> Occurrence {
    Occurrence {
        source: Source::Plain,
        key: format!("plain-{n}"),
        event_type: "ping".to_owned(),
        aggregate: None,
        body: format!("{{\"kind\":\"ping\" , \"n\":{n}}}").into_bytes().into(),
    }
}

impl Occurrence {
    /// The same key with another content. Always the same other one: its second copy is a copy of the conflict.
    pub fn contradict(&self) -> Self {
        let text = String::from_utf8_lossy(&self.body).replacen('{', "{\"altered\":true, ", 1);
        Self { body: text.into_bytes().into(), ..self.clone() }
    }

    /// One byte of the content changed after signing.
    fn tampered(&self) -> Arc<[u8]> {
        let mut bytes = self.body.to_vec();
        if let Some(byte) = bytes.iter_mut().rev().find(|b| b.is_ascii_digit()) {
            *byte = if *byte == b'9' { b'0' } else { *byte + 1 };
        }
        bytes.into()
    }
}

impl Letter {
    /// The bytes that leave us in the body.
    pub fn body(&self) -> Arc<[u8]> {
        if self.validity == Validity::Tampered { self.what.tampered() } else { self.what.body.clone() }
    }

    /// The whole request, signed now.
    pub fn request(&self, host: SocketAddr, clock: &Clock) -> Vec<u8> {
        let name = self.what.source.name();
        wire::post(host, &format!("/in/{name}"), &self.headers(clock.seconds()), &self.body())
    }

    fn headers(&self, now: u64) -> Vec<(String, String)> {
        let wrong = self.validity == Validity::WrongSignature;
        let (signed, key) = (&self.what.body, &self.what.key);
        let with = |secret: &str| {
            if wrong { secret.replacen("ju", "uj", 1).replacen("anVk", "bnVk", 1) } else { secret.to_owned() }
        };
        let own = match self.what.source {
            Source::Crm => vec![("x-hub-signature-256", sign::hub(&with(CRM_SECRET), signed))],
            Source::Plain => vec![("x-event-id", key.clone()), ("x-signature", sign::hub(&with(PLAIN_SECRET), signed))],
            Source::Registry => vec![
                ("webhook-id", key.clone()),
                ("webhook-timestamp", now.to_string()),
                ("webhook-signature", sign::standard(&with(REGISTRY_SECRET), key, now, signed)),
            ],
        };
        let json = ("content-type", "application/json".to_owned());
        std::iter::once(json).chain(own).map(|(n, v)| (n.to_owned(), v)).collect()
    }
}
