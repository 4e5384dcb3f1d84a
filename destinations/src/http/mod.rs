//! The `http` consumer: one POST a try.
//!
//! `config` says what is meant, `message` makes the request, `send` carries it, `answer` judges what came back. The
//! client follows no redirect, knows no proxy, decodes nothing and keeps no cookies, because nothing of that is in it.

pub mod answer;
pub mod config;
pub mod message;
pub mod send;

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hookonce_core::destination::{Destination, Sending};
use hookonce_core::message::Message;
use hookonce_core::signature::Keys;
use http::Uri;
use http_body_util::Full;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::Name;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::{ClientConfig, RootCertStore};

pub use self::config::Config;
use crate::guard::{Guard, Refused};

/// Bytes of an answer's head, and lines in it.
pub const HEAD_MAX: usize = 32 * 1_024;
pub const HEAD_LINES: usize = 100;

/// Why a consumer cannot be built from what is configured.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error("TLS: {0}")]
    Tls(#[from] rustls::Error),
}

#[derive(Debug)]
pub struct Http {
    uri: Uri,
    timeout: Duration,
    permanent: Vec<u16>,
    sign: Option<Keys>,
    client: Client<HttpsConnector<HttpConnector<Resolver>>, Full<Bytes>>,
}

impl Http {
    pub fn new(config: Config) -> Result<Http, BuildError> {
        let guard = Guard::new(config.allow_private);
        Http::guarded(config, guard)
    }

    /// With a guard of one's own, whose look-up a test answers.
    pub fn guarded(config: Config, guard: Guard) -> Result<Http, BuildError> {
        Http::trusting(config, guard, mozilla())
    }

    /// With roots of one's own.
    pub fn trusting(config: Config, guard: Guard, roots: RootCertStore) -> Result<Http, BuildError> {
        let url = guard.target(&config.url)?;
        let uri = Uri::try_from(url.as_str()).map_err(|_| Refused::Url(config.url.clone()))?;
        Ok(Http {
            uri,
            timeout: config.timeout,
            client: client(guard, roots, &config)?,
            permanent: config.permanent,
            sign: config.sign,
        })
    }
}

impl Destination for Http {
    fn send(&self, message: Message, within: Duration) -> Sending<'_> {
        Box::pin(send::send(self, message, within))
    }
}

fn client(
    guard: Guard,
    roots: RootCertStore,
    config: &Config,
) -> Result<Client<HttpsConnector<HttpConnector<Resolver>>, Full<Bytes>>, BuildError> {
    let mut connector = HttpConnector::new_with_resolver(Resolver(guard));
    connector.enforce_http(false);
    connector.set_nodelay(true);
    connector.set_connect_timeout(Some(config.timeout.min(config::CONNECT_MAX)));
    let connector = HttpsConnectorBuilder::new()
        .with_tls_config(tls(roots)?)
        .https_or_http()
        .enable_http1()
        .wrap_connector(connector);
    Ok(Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(config::IDLE)
        .pool_max_idle_per_host(config.concurrency.max(1))
        .http1_max_buf_size(HEAD_MAX)
        .http1_max_headers(HEAD_LINES)
        .build(connector))
}

/// The common set, built in: it does not depend on the machine.
fn mozilla() -> RootCertStore {
    RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() }
}

fn tls(roots: RootCertStore) -> Result<ClientConfig, rustls::Error> {
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(ring).with_safe_default_protocol_versions()?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

/// The connector's look-up: it connects to what this answers and asks for nothing else.
#[derive(Clone, Debug)]
struct Resolver(Guard);

impl tower::Service<Name> for Resolver {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = Refused;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Refused>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Refused>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let guard = self.0.clone();
        Box::pin(async move { Ok(guard.addresses(name.as_str()).await?.into_iter()) })
    }
}
