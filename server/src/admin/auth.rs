//! The token of the admin listener: 256 random bits in a file that only its owner may read, written at start.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use secrecy::{ExposeSecret, SecretString};
use subtle::ConstantTimeEq;

use super::problem::Problem;

const TOKEN_BYTES: usize = 32;

/// Draws a new token and writes it. The file is replaced as a whole: a reader sees the old one or the new one.
pub fn write_token(path: &Path) -> Result<SecretString> {
    let mut bytes = [0u8; TOKEN_BYTES];
    getrandom::fill(&mut bytes).map_err(|e| anyhow::anyhow!("no random bytes to be had: {e}"))?;
    let token = BASE64_URL_SAFE_NO_PAD.encode(bytes);
    let aside = path.with_extension("token.new");
    let _ = fs::remove_file(&aside);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&aside)
        .with_context(|| format!("cannot write the token file `{}`", aside.display()))?;
    file.write_all(token.as_bytes())?;
    file.write_all(b"\n")?;
    drop(file);
    fs::rename(&aside, path).with_context(|| format!("cannot write the token file `{}`", path.display()))?;
    Ok(SecretString::from(token))
}

/// Lets only bearers of the token pass. One answer for a missing and for a wrong one.
pub async fn require(
    State(token): State<Arc<SecretString>>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let sent = request.headers().get(header::AUTHORIZATION).and_then(|v| v.as_bytes().strip_prefix(b"Bearer "));
    let right = sent.is_some_and(|sent| bool::from(sent.ct_eq(token.expose_secret().as_bytes())));
    if !right {
        return Err(Problem::new(StatusCode::UNAUTHORIZED, "not-authorised", "a token is needed")
            .detail("send `Authorization: Bearer …` with the token that the server wrote when it started"));
    }
    Ok(next.run(request).await)
}
