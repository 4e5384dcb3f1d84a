//! How a database is reached: what its url says that the driver does not read. `sslmode` and `sslrootcert` as every client
//! of PostgreSQL has them; `pooler=transaction` where sessions are lent by the transaction.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_postgres::config::SslMode;
use tokio_postgres::{Client, Config};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::value::said;

#[derive(Clone)]
pub struct Link {
    pub config: Config,
    tls: MakeRustlsConnect,
    /// Nothing may be asked of a session: the next transaction may have another one.
    pub pooled: bool,
}

/// Its connection ends with its client, and is to be driven by whoever made it.
pub type Driven = tokio_postgres::Connection<
    tokio_postgres::Socket,
    <MakeRustlsConnect as tokio_postgres::tls::MakeTlsConnect<tokio_postgres::Socket>>::Stream,
>;

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link").field("config", &self.config).field("pooled", &self.pooled).finish_non_exhaustive()
    }
}

impl Link {
    pub fn read(url: &str) -> Result<Link, String> {
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let (mut mode, mut root, mut pooled, mut rest) = (Mode::Prefer, None, false, Vec::new());
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=').unwrap_or((pair, "")) {
                ("sslmode", value) => mode = Mode::parse(value)?,
                ("sslrootcert", value) => root = Some(value),
                ("pooler", "transaction") => pooled = true,
                ("pooler", value) => return Err(format!("`pooler={value}` is none of ours: `pooler=transaction`")),
                _ => rest.push(pair),
            }
        }
        let url = if rest.is_empty() { base.to_owned() } else { format!("{base}?{}", rest.join("&")) };
        let mut config: Config = url.parse().map_err(|error| said(&error))?;
        config.ssl_mode(mode.of_driver());
        Ok(Link { config, tls: MakeRustlsConnect::new(client(mode, root)?), pooled })
    }

    pub async fn connect(&self) -> Result<(Client, Driven), tokio_postgres::Error> {
        self.config.connect(self.tls.clone()).await
    }

    /// The same with other settings.
    pub fn with(&self, config: Config) -> Link {
        Link { config, ..self.clone() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Disable,
    /// Encrypted where the server can, as it is for every client that is told nothing.
    Prefer,
    /// Encrypted, with whoever answers.
    Require,
    /// Encrypted, and the server shows a certificate of its name.
    VerifyFull,
}

impl Mode {
    fn parse(text: &str) -> Result<Mode, String> {
        Ok(match text {
            "disable" => Mode::Disable,
            "allow" | "prefer" => Mode::Prefer,
            "require" => Mode::Require,
            "verify-ca" | "verify-full" => Mode::VerifyFull,
            _ => return Err(format!("`sslmode={text}` is none: disable, prefer, require, verify-full")),
        })
    }

    fn of_driver(self) -> SslMode {
        match self {
            Mode::Disable => SslMode::Disable,
            Mode::Prefer => SslMode::Prefer,
            Mode::Require | Mode::VerifyFull => SslMode::Require,
        }
    }
}

fn client(mode: Mode, root: Option<&str>) -> Result<ClientConfig, String> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone());
    let builder = builder.with_safe_default_protocol_versions().map_err(|error| error.to_string())?;
    // With a root named, a certificate is asked for, as libpq does it.
    if mode == Mode::VerifyFull || root.is_some() && mode == Mode::Require {
        return Ok(builder.with_root_certificates(roots(root)?).with_no_client_auth());
    }
    let anybody = Arc::new(Anybody(provider));
    Ok(builder.dangerous().with_custom_certificate_verifier(anybody).with_no_client_auth())
}

/// The public ones, unless a file names its own.
fn roots(file: Option<&str>) -> Result<RootCertStore, String> {
    let Some(file) = file.filter(|file| *file != "system") else {
        return Ok(webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect());
    };
    let wrong = |why: String| format!("`sslrootcert={file}` cannot be used: {why}");
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(Path::new(file)).map_err(|error| wrong(error.to_string()))? {
        let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
        roots.add(certificate).map_err(|error| wrong(error.to_string()))?;
    }
    if roots.is_empty() { Err(wrong("no certificate stands in it".to_owned())) } else { Ok(roots) }
}

/// Against listeners and not against impostors: what `require` without a root means everywhere.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_says_how_it_is_reached() {
        let link = |query: &str| Link::read(&format!("postgres://me@host/db{query}"));
        for (query, mode, pooled) in [
            ("", SslMode::Prefer, false),
            ("?sslmode=disable&pooler=transaction", SslMode::Disable, true),
            ("?connect_timeout=3&sslmode=require", SslMode::Require, false),
            ("?sslmode=verify-full", SslMode::Require, false),
        ] {
            let link = link(query).unwrap();
            assert_eq!((link.config.get_ssl_mode(), link.pooled), (mode, pooled), "{query}");
        }
        for (query, says) in [
            ("?sslmode=perhaps", "verify-full"),
            ("?pooler=session", "pooler=transaction"),
            ("?sslmode=verify-full&sslrootcert=/nowhere", "/nowhere"),
            ("?no_such=1", "no_such"),
        ] {
            assert!(link(query).unwrap_err().contains(says), "{query}");
        }
    }
}
