//! S23: whom a connection ends at is verified, and what is not verified gets no byte of a message.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::Arc;
use std::time::Duration;

use hookonce_core::delivery::Outcome;
use hookonce_core::destination::{Destination as _, Sent};
use hookonce_destinations::guard::Guard;
use hookonce_destinations::http::{Config, Http};
use hookonce_destinations::testkit::receiver::{Receiver, Reply};
use hookonce_destinations::testkit::suite::message;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{RootCertStore, ServerConfig};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

const WITHIN: Duration = Duration::from_secs(20);
/// A root of nobody's, and what it says of `localhost`.
const ROOT: &[u8] = include_bytes!("data/root.der");
const CERTIFICATE: &[u8] = include_bytes!("data/localhost.der");
const KEY: &[u8] = include_bytes!("data/localhost.key.der");

/// TLS in front of a receiver; answers its port.
async fn before(receiver: &Receiver) -> u16 {
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(KEY));
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(ring).with_safe_default_protocol_versions().unwrap();
    let config = config.with_no_client_auth().with_single_cert(vec![CertificateDer::from(CERTIFICATE)], key).unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let behind = receiver.address;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                if let Ok(mut tls) = acceptor.accept(stream).await {
                    let mut plain = TcpStream::connect(behind).await.unwrap();
                    let _ = copy_bidirectional(&mut tls, &mut plain).await;
                }
            });
        }
    });
    port
}

fn to(url: String, roots: &[&'static [u8]]) -> Http {
    let mut store = RootCertStore::empty();
    roots.iter().for_each(|root| store.add(CertificateDer::from(*root)).unwrap());
    Http::trusting(Config { allow_private: true, ..Config::new(url) }, Guard::new(true), store).unwrap()
}

fn reason(sent: Sent) -> String {
    match sent.outcome {
        Outcome::Retry { reason, .. } => reason,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn s23_a_verified_receiver_gets_the_message_and_no_other() {
    let receiver = Receiver::start(|_, _| Reply::Status(200)).await.unwrap();
    let port = before(&receiver).await;
    let localhost = format!("https://localhost:{port}/hook");

    // Nobody vouches for it; then its root does, for another name.
    let said = reason(
        Http::new(Config { allow_private: true, ..Config::new(&*localhost) })
            .unwrap()
            .send(message("m1", b"x"), WITHIN)
            .await,
    );
    assert_eq!(said, "not sent: the TLS connection failed: invalid peer certificate: UnknownIssuer");
    let said = reason(to(format!("https://127.0.0.1:{port}/hook"), &[ROOT]).send(message("m1", b"x"), WITHIN).await);
    assert!(said.starts_with("not sent: the TLS connection failed: invalid peer certificate: "), "{said}");
    assert!(receiver.requests().is_empty());

    assert_eq!(to(localhost, &[ROOT]).send(message("m1", b"x"), WITHIN).await, Sent::from(Outcome::Done));
    assert_eq!(receiver.requests().len(), 1);
}

#[tokio::test]
async fn a_receiver_that_speaks_no_tls_is_named_so() {
    let receiver = Receiver::start(|_, _| Reply::Raw(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec())).await.unwrap();
    let said = reason(to(format!("https://{}/", receiver.address), &[ROOT]).send(message("m1", b"x"), WITHIN).await);
    assert!(said.starts_with("not sent: ") && said.to_lowercase().contains("tls"), "{said}");
}
