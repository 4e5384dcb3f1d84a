//! Sources as ingest holds them: who may send, how it proves that it is the sender, and how it is answered.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use bytes::Bytes;
use hookonce_core::identify::Rule;
use hookonce_core::signature::handshake::Handshake;
use hookonce_core::signature::{Keys, Options, Signed};
use hookonce_core::source::Respond;
use hookonce_core::time::{Micros, SECOND};
use http::{HeaderName, HeaderValue, Method};

use crate::budget::Budget;
use crate::limits::{Limits, SOURCE_SHARE};
use crate::metrics::Counters;

/// What its provider signed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SignatureOver {
    /// The bytes as they came, still coded. They are what is stored and forwarded.
    #[default]
    Wire,
    /// The decoded bytes, which are then what is stored and forwarded, without a coding.
    Decoded,
}

#[derive(Clone, Debug)]
pub enum Verification {
    Keys(Box<Keys>),
    /// `verify = "none"`, written out by the user.
    None,
    /// Its secret is missing. The others run; this one answers 503 and alarms.
    Missing(String),
}

impl Verification {
    /// Why nothing can be verified at that time, however right it is. That is our trouble and never a refusal: a provider
    /// does not send again for long what was refused.
    pub fn trouble(&self, now: Micros) -> Option<&str> {
        match self {
            Verification::Missing(why) => Some(why),
            Verification::Keys(keys) if !keys.any_active(now / SECOND) => Some("none of its secrets is valid now"),
            Verification::Keys(_) | Verification::None => None,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Source {
    pub name: Arc<str>,
    pub namespace: Arc<str>,
    /// Methods that carry events.
    pub methods: Vec<Method>,
    /// Bytes of a body, as it comes and decoded.
    pub max_body: usize,
    pub verification: Verification,
    /// Tolerance and what else the scheme has to know.
    pub options: Options,
    pub rule: Arc<Rule>,
    pub signature_over: SignatureOver,
    pub handshakes: Vec<&'static Handshake>,
    pub respond: Respond,
    /// From the last byte of the request to its answer; later it is 503 while the commit goes on.
    pub ack_deadline: Duration,
    /// The URL as the provider has it, where a proxy changes it on the way.
    pub public_url: Option<String>,
    /// Headers whose value is a secret of this source (token schemes): neither stored nor sampled.
    pub secret_headers: Vec<HeaderName>,
}

/// The answer to a sender waits this part of the time that the provider gives, and no longer than [`MAX_ACK`].
const ACK_PERCENT: u64 = 60;
const MAX_ACK: Duration = Duration::from_secs(5);

impl Source {
    /// The ack deadline of a provider that waits so long for an answer; not known: the longest.
    pub fn ack_deadline(timeout_seconds: Option<u64>) -> Duration {
        let part = |seconds: u64| Duration::from_millis(seconds.saturating_mul(1000 * ACK_PERCENT / 100));
        timeout_seconds.map_or(MAX_ACK, part).min(MAX_ACK)
    }
}

/// A source at work: what is made of it once, and what it shares between its requests.
#[derive(Debug)]
pub struct Door {
    pub source: Source,
    pub budget: Arc<Budget>,
    pub counters: Counters,
    pub allow: HeaderValue,
    pub content_type: HeaderValue,
    pub body: Bytes,
    /// Whether anything signed depends on the URL; else it is not put together.
    pub signs_url: bool,
}

impl Door {
    fn new(source: Source, limits: &Limits) -> Door {
        let signs_url = match &source.verification {
            Verification::Keys(keys) => match &keys.scheme().signed {
                Signed::Template(text) => text.contains("{url}"),
                Signed::Special(_) => true,
            },
            _ => false,
        };
        let text = HeaderValue::from_static("text/plain");
        Door {
            budget: Budget::new((limits.max_buffered / SOURCE_SHARE).max(source.max_body)),
            counters: Counters::new(&source.name),
            allow: allow(&source).unwrap_or(HeaderValue::from_static("POST")),
            content_type: HeaderValue::try_from(&*source.respond.content_type).unwrap_or(text),
            body: Bytes::copy_from_slice(source.respond.body.as_bytes()),
            signs_url,
            source,
        }
    }
}

fn allow(source: &Source) -> Option<HeaderValue> {
    let mut names: Vec<&str> = source.methods.iter().map(Method::as_str).collect();
    for handshake in &source.handshakes {
        if !names.contains(&handshake.method) {
            names.push(handshake.method);
        }
    }
    HeaderValue::try_from(names.join(", ")).ok()
}

/// All sources, exchanged as a whole. A request keeps the one that it came through.
#[derive(Debug)]
pub struct Sources(ArcSwap<HashMap<Arc<str>, Arc<Door>>>);

impl Sources {
    pub fn new(sources: Vec<Source>, limits: &Limits) -> Sources {
        Sources(ArcSwap::from_pointee(doors(sources, limits)))
    }

    pub fn replace(&self, sources: Vec<Source>, limits: &Limits) {
        self.0.store(Arc::new(doors(sources, limits)));
    }

    /// The source of a path `/in/<name>`, with or without a slash behind it.
    pub fn find(&self, path: &str) -> Option<Arc<Door>> {
        let name = path.strip_prefix("/in/")?;
        let name = name.strip_suffix('/').unwrap_or(name);
        self.0.load().get(name).cloned()
    }
}

fn doors(sources: Vec<Source>, limits: &Limits) -> HashMap<Arc<str>, Arc<Door>> {
    sources.into_iter().map(|s| (s.name.clone(), Arc::new(Door::new(s, limits)))).collect()
}
