//! What the configuration means, validated: one struct a concern. What core has a type for is that type: schemes and
//! keys, compiled identity rules, answers, patterns, retry policy. Wiring moves them on.
//! Not here: files, spans, complaints.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use hookonce_core::consumer::{From, OnDead, Order, Pattern, Policy};
use hookonce_core::identify::Rule;
use hookonce_core::provider::Provider;
use hookonce_core::retain::{Keep, Retention};
use hookonce_core::signature::handshake::Handshake;
use hookonce_core::signature::{Keys, Options, Scheme};
use hookonce_core::source::Respond;

use super::secret::Secrets;

#[derive(Debug)]
pub struct Config {
    /// The file that was read first; `None`: a text that stands in no file.
    pub file: Option<PathBuf>,
    pub store: Store,
    pub ingest: Ingest,
    pub admin: Admin,
    pub sources: Vec<Source>,
    pub consumers: Vec<Consumer>,
}

impl Config {
    /// Where the token of the admin listener lies: beside the store's files, so that whoever may read them may talk to
    /// their server; of a node on a database beside its configuration, under the port that it belongs to.
    pub fn token_file(&self) -> PathBuf {
        match &self.store {
            Store::Sqlite { work, .. } => work.with_extension("token"),
            Store::Postgres(database) => database.folder.join(format!("hookonce.{}.token", self.admin.listen.port())),
        }
    }

    pub fn retention(&self) -> Retention {
        Retention { sources: self.sources.iter().map(|source| (source.name.clone(), source.keep)).collect() }
    }

    pub fn source(&self, name: &str) -> Option<&Source> {
        self.sources.iter().find(|source| source.name == name)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Store {
    /// The work file, and the inbox file beside it.
    Sqlite {
        work: PathBuf,
        inbox: PathBuf,
    },
    Postgres(Postgres),
}

/// A database, by a url that may hold its password and is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Postgres {
    url: String,
    shown: String,
    /// The configuration's: what this node writes stands there.
    folder: PathBuf,
}

impl Postgres {
    pub fn new(url: String, shown: String, folder: PathBuf) -> Postgres {
        Postgres { url, shown, folder }
    }

    /// For the driver alone.
    pub fn url(&self) -> &str {
        &self.url
    }
}

/// For people.
impl fmt::Display for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ingest {
    pub listen: SocketAddr,
    pub first_byte: Duration,
    pub head: Duration,
    pub body: Duration,
    pub idle: Duration,
    pub max_buffered: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admin {
    pub listen: SocketAddr,
}

#[derive(Debug)]
pub struct Source {
    pub name: String,
    pub namespace: String,
    pub provider: Option<&'static Provider>,
    /// Methods that carry events.
    pub methods: Vec<http::Method>,
    pub max_body: u64,
    pub verification: Verification,
    pub secrets: Secrets,
    pub options: Options,
    pub rule: Rule,
    pub signature_over: SignatureOver,
    pub handshakes: Vec<&'static Handshake>,
    pub respond: Respond,
    pub ack_deadline: Duration,
    pub public_url: Option<String>,
    pub keep: Keep,
}

impl Source {
    pub fn scheme(&self) -> Option<&Scheme> {
        match &self.verification {
            Verification::Keys(keys) => Some(keys.scheme()),
            Verification::Missing { scheme, .. } => Some(scheme),
            Verification::None => None,
        }
    }
}

#[derive(Debug)]
pub enum Verification {
    Keys(Box<Keys>),
    /// `verify = "none"`, written out by the user: anybody may send.
    None,
    /// A secret is missing or unusable. The source answers 503: a refusal would tell the provider that it is wrong.
    Missing {
        scheme: Box<Scheme>,
        why: String,
    },
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SignatureOver {
    #[default]
    Wire,
    Decoded,
}

#[derive(Debug)]
pub struct Consumer {
    pub name: String,
    pub on: Vec<Pattern>,
    pub order: Order,
    pub on_dead: OnDead,
    pub retry: Policy,
    pub from: From,
    pub key_name: String,
    pub way: Way,
}

/// How its work gets done.
#[derive(Debug)]
pub enum Way {
    /// Sent to it.
    Http(Box<Http>),
    /// Claimed by it.
    Pull,
}

impl Consumer {
    pub fn http(&self) -> Option<&Http> {
        match &self.way {
            Way::Http(http) => Some(http),
            Way::Pull => None,
        }
    }

    /// Where its events go, for people.
    pub fn target(&self) -> String {
        self.http().map_or_else(|| "claimed in SQL".to_owned(), |http| http.url.to_string())
    }
}

/// Where and how an `http` consumer is called.
#[derive(Debug)]
pub struct Http {
    pub url: http::Uri,
    pub allow_private: bool,
    pub timeout: Duration,
    pub concurrency: usize,
    /// Statuses that end a delivery at once.
    pub permanent: Vec<u16>,
    /// Standard Webhooks.
    pub sign: Option<Keys>,
}
