//! What the configuration means, validated: one struct a concern. Wiring maps these into the engine's own types; what
//! the engine already has a type for (answers, patterns, retry policy) is that type.
//! Not here: files, spans, complaints.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use hookonce_core::consumer::{From, OnDead, Order, Pattern, Policy};
use hookonce_core::provider::{Fallback, IdGuard};
use hookonce_core::source::Respond;
use hookonce_core::time::Micros;

use super::secret::Secrets;

#[derive(Debug)]
pub struct Config {
    /// The file that was read first; `None`: flags and environment only.
    pub file: Option<PathBuf>,
    pub dev: bool,
    pub store: Store,
    pub ingest: Ingest,
    pub admin: Admin,
    pub sources: Vec<Source>,
    pub consumers: Vec<Consumer>,
}

impl Config {
    pub fn source(&self, name: &str) -> Option<&Source> {
        self.sources.iter().find(|source| source.name == name)
    }
}

/// The work file, and the inbox file beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    pub work: PathBuf,
    pub inbox: PathBuf,
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
    /// Id of a profile in the catalogue.
    pub provider: Option<String>,
    /// One of the provider's schemes; `None`: its default.
    pub scheme: Option<String>,
    pub verify: Verify,
    pub secrets: Secrets,
    pub rule: Rule,
    pub respond: Respond,
    pub types: Vec<String>,
    pub id_guard: Option<IdGuard>,
    pub no_time: NoTime,
    pub tolerance: Option<Micros>,
    pub retry_window: Option<Micros>,
    pub max_body: Option<u64>,
    pub signature_over: Option<SignatureOver>,
    pub public_url: Option<String>,
    pub ack_deadline: Option<Duration>,
    pub options: Vec<(String, Opt)>,
}

/// How requests of a source prove where they come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verify {
    /// By the provider's scheme.
    Provider,
    Hmac(Hmac),
    /// Written out by the user: anybody may send.
    None,
}

/// `verify = { hmac = … }`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hmac {
    pub hash: HmacHash,
    pub carrier: Carrier,
    pub prefix: String,
    pub encoding: Encoding,
    /// Template of what is signed: `{timestamp}.{body}`.
    pub signed: String,
    pub timestamp: Option<Timestamp>,
    /// Separator of several signatures in one header.
    pub list: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HmacHash {
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Hex,
    Base64,
    Base64Url,
}

/// Where the signature stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Carrier {
    Header(String),
    Query(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timestamp {
    pub header: String,
    pub unit: TimeUnit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    Seconds,
    Millis,
    Micros,
    Rfc3339,
}

/// Identity as written. `None` and empty lists: as the provider's profile says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    pub key: Option<String>,
    pub kind: Option<String>,
    pub aggregate: Option<String>,
    pub time: Option<String>,
    pub version: Option<Version>,
    pub schema_version: Option<String>,
    pub schema_versions: Vec<String>,
    pub schema_strict: bool,
    pub require: Vec<String>,
    pub volatile: Option<Vec<String>>,
    pub items: Option<Vec<String>>,
    pub fallback: Option<Fallback>,
    pub fingerprint: Fingerprint,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Version {
    Time(String),
    Number(String),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fingerprint {
    #[default]
    Bytes,
    Canonical,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoTime {
    Accept,
    Hold,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureOver {
    Wire,
    Decoded,
}

/// A value of `options`, in the types that they come in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opt {
    Text(String),
    Number(i64),
    Flag(bool),
    List(Vec<String>),
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
    pub http: Http,
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
    pub sign: Option<Secrets>,
}
