//! A request as JSON, in the form of the test vectors, and what flags say beside it. The JSON wins.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use hookonce_core::request::{Headers, Request};
use hookonce_core::signature::{Options, Secret};
use http::{HeaderName, HeaderValue};
use serde::Deserialize;

use crate::cli::{Exit, Failure};

/// The largest body that a provider sends is 25 MiB; as base64 it is a third longer.
const MAX_REQUEST: u64 = 64 * 1024 * 1024;
/// Keys and certificates included.
const MAX_SECRET: u64 = 64 * 1024;

/// What the flags say.
#[derive(Debug, Default)]
pub struct Defaults {
    pub provider: Option<String>,
    pub secrets: Vec<Secret>,
    pub now: Option<i64>,
}

/// A request with all that is needed to judge it.
#[derive(Debug)]
pub struct Form {
    pub provider: Option<String>,
    pub scheme: Option<String>,
    /// An endpoint verification instead of an event.
    pub challenge: bool,
    pub secrets: Vec<Secret>,
    pub options: Options,
    pub request: Request,
    pub now: i64,
}

#[derive(Debug, Deserialize)]
pub(super) struct Written {
    provider: Option<String>,
    scheme: Option<String>,
    kind: Option<Kind>,
    secrets: Option<Vec<String>>,
    #[serde(default)]
    config: Config,
    method: Option<String>,
    url: String,
    #[serde(default)]
    headers: Vec<(String, String)>,
    #[serde(default)]
    body: String,
    #[serde(default)]
    body_encoding: BodyEncoding,
    now: Option<i64>,
}

#[derive(Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Verify,
    Challenge,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum BodyEncoding {
    #[default]
    Utf8,
    Base64,
}

/// What else a receiver has to know. Names that no built scheme reads are passed over.
#[derive(Debug, Default, Deserialize)]
struct Config {
    tolerance: Option<u32>,
    #[serde(default)]
    allowed_origins: Vec<String>,
    #[serde(default)]
    shared_keys: serde_json::Map<String, serde_json::Value>,
}

impl Form {
    pub fn parse(text: &[u8], defaults: &Defaults) -> Result<Form, Failure> {
        let written: Written = serde_json::from_slice(text).map_err(|error| {
            let next = "give an object with `method`, `url`, `headers` (a list of pairs), `body` and `body_encoding`";
            Failure::usage(format!("the request cannot be read: {error}")).next(next)
        })?;
        Form::of(written, defaults).map_err(Failure::usage)
    }

    pub(super) fn of(written: Written, defaults: &Defaults) -> Result<Form, String> {
        let request = request(&written)?;
        let secrets = match &written.secrets {
            None => defaults.secrets.clone(),
            Some(list) => {
                list.iter().enumerate().map(|(at, text)| Secret::new(format!("secret {}", at + 1), &**text)).collect()
            }
        };
        let shared = written.config.shared_keys.iter().filter_map(|(id, value)| {
            let secret = Secret::new(format!("shared key {id}"), value.as_str()?);
            Some(Secret { id: Some(id.as_str().into()), ..secret })
        });
        Ok(Form {
            secrets: secrets.into_iter().chain(shared).collect(),
            provider: written.provider.or_else(|| defaults.provider.clone()),
            scheme: written.scheme,
            challenge: written.kind == Some(Kind::Challenge),
            options: Options { tolerance: written.config.tolerance, allowed_origins: written.config.allowed_origins },
            request,
            now: defaults.now.or(written.now).unwrap_or_else(|| jiff::Timestamp::now().as_second()),
        })
    }
}

fn request(written: &Written) -> Result<Request, String> {
    let method = written.method.as_deref().unwrap_or("POST");
    let body = match written.body_encoding {
        BodyEncoding::Utf8 => Bytes::copy_from_slice(written.body.as_bytes()),
        BodyEncoding::Base64 => STANDARD.decode(&written.body).map_err(|e| format!("`body` is no base64: {e}"))?.into(),
    };
    Ok(Request {
        received: 0,
        method: method.parse().map_err(|_| format!("`{method}` is no HTTP method"))?,
        target: target(&written.url),
        url: written.url.clone(),
        headers: Headers(written.headers.iter().map(header).collect::<Result<_, _>>()?),
        decoded: body.clone(),
        body,
    })
}

fn header((name, value): &(String, String)) -> Result<(HeaderName, HeaderValue), String> {
    let no_name = |_| format!("`{name}` is no header name");
    let no_value = |_| format!("the value of header `{name}` cannot be sent");
    Ok((
        HeaderName::from_bytes(name.as_bytes()).map_err(no_name)?,
        HeaderValue::from_bytes(value.as_bytes()).map_err(no_value)?,
    ))
}

/// Path and query of a URL.
fn target(url: &str) -> String {
    let whole = url.split('#').next().unwrap_or_default();
    let rest = whole.split_once("://").map_or(whole, |(_, rest)| rest);
    match rest.find(['/', '?']).and_then(|at| rest.get(at..)) {
        Some(target) if target.starts_with('/') => target.to_owned(),
        Some(query) => format!("/{query}"),
        None => "/".to_owned(),
    }
}

/// The file, or standard input.
pub fn text(file: Option<&Path>) -> Result<Vec<u8>, Failure> {
    match file {
        Some(path) => read(path, MAX_REQUEST),
        None => limited(std::io::stdin().lock(), MAX_REQUEST, "standard input"),
    }
}

/// One secret from each file, or the one on standard input.
pub fn secrets(stdin: bool, files: &[PathBuf]) -> Result<Vec<Secret>, Failure> {
    if stdin {
        let text = limited(std::io::stdin().lock(), MAX_SECRET, "standard input")?;
        return Ok(vec![secret("stdin", text)?]);
    }
    let named = |path: &PathBuf| secret(&path.display().to_string(), read(path, MAX_SECRET)?);
    files.iter().map(named).collect()
}

fn secret(name: &str, bytes: Vec<u8>) -> Result<Secret, Failure> {
    let text = String::from_utf8(bytes).map_err(|_| Failure::usage(format!("the secret of `{name}` is no text")))?;
    let text = text.strip_suffix('\n').map_or(&*text, |line| line.strip_suffix('\r').unwrap_or(line));
    Ok(Secret::new(name, text))
}

fn read(path: &Path, most: u64) -> Result<Vec<u8>, Failure> {
    let shown = path.display().to_string();
    let file =
        File::open(path).map_err(|error| Failure::new(Exit::Failed, format!("cannot read `{shown}`: {error}")))?;
    limited(file, most, &shown)
}

fn limited(from: impl Read, most: u64, shown: &str) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let cannot = |error| Failure::new(Exit::Failed, format!("cannot read `{shown}`: {error}"));
    from.take(most + 1).read_to_end(&mut bytes).map_err(cannot)?;
    if bytes.len() as u64 > most {
        return Err(Failure::new(Exit::Failed, format!("`{shown}` is larger than {most} bytes")));
    }
    Ok(bytes)
}
