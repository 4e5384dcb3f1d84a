//! What a sender does: our own forwards, the simulated providers of the demo and the bench, `hookonce sign`. The same
//! data that verifies says how to sign, so a scheme cannot be right one way and wrong the other.

use http::{HeaderName, HeaderValue};

use super::content::{Contents, Parts};
use super::keys::{Key, Keys};
use super::refusal::Refusal;
use super::scheme::{Carrier, Place, Selector, Timestamp, Unit};

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignError {
    /// A header that is signed is not there, or would be refused.
    #[error("this request cannot be signed: {0}")]
    Request(Refusal),
    #[error("none of the keys is active and can sign: a public key only verifies")]
    NoKey,
    #[error("the signature of this scheme stands in the URL, which the sender has to make itself")]
    InUrl,
    #[error("the time is outside of what the scheme can write")]
    Time,
}

/// The headers to add. Where the scheme has a list, every active key signs, as a sender does in a rotation.
///
/// What else is signed (an id, the URL) must be in the parts already.
pub fn sign(keys: &Keys, parts: &Parts<'_>, now_seconds: i64) -> Result<Vec<(HeaderName, HeaderValue)>, SignError> {
    let scheme = &keys.scheme;
    let stamp = scheme.timestamp.as_ref();
    let timestamp = stamp.map_or(Some(String::new()), |s| written(s, now_seconds)).ok_or(SignError::Time)?;
    let contents = Contents::of(&scheme.signed, &keys.parts, parts, &timestamp).map_err(SignError::Request)?;
    contents.body().map_err(SignError::Request)?;
    let most = if scheme.list.is_some() { usize::MAX } else { 1 };
    let signing: Vec<(&Key, String)> =
        keys.active(now_seconds).filter_map(|key| Some((key, entry(key, &contents)?))).take(most).collect();
    let (first, _) = signing.first().ok_or(SignError::NoKey)?;

    let mut headers = Vec::new();
    let mut entries: Vec<String> = signing.iter().map(|(_, entry)| entry.clone()).collect();
    match stamp.map(|stamp| &stamp.place) {
        Some(Place::Header(name)) => headers.push(header(name, &timestamp)),
        Some(Place::Entry(prefix)) => entries.insert(0, format!("{prefix}{timestamp}")),
        None => {}
    }
    if let (Some(Selector { header: name, list, key, agreed, .. }), Some(id)) = (&scheme.selector, &first.id) {
        headers.push(header(name, &format!("{key}{id}{list}{agreed}")));
    }
    let Carrier::Header(name) = &scheme.carrier else { return Err(SignError::InUrl) };
    headers.push(header(name, &entries.join(scheme.list.as_deref().unwrap_or_default())));
    headers.into_iter().map(|header| header.ok_or(SignError::NoKey)).collect()
}

fn entry(key: &Key, contents: &Contents<'_>) -> Option<String> {
    let written = key.material.sign(&contents.iter().next()?, key.variant.encoding)?;
    Some(format!("{}{}", key.variant.prefix, String::from_utf8_lossy(written.as_bytes())))
}

/// Names and values come from schemes that were checked; a key's id alone could be no header value.
fn header(name: &str, value: &str) -> Option<(HeaderName, HeaderValue)> {
    Some((HeaderName::from_bytes(name.as_bytes()).ok()?, HeaderValue::from_str(value).ok()?))
}

fn written(stamp: &Timestamp, now_seconds: i64) -> Option<String> {
    let now = u64::try_from(now_seconds).ok()?;
    match stamp.unit {
        Unit::Seconds => Some(now.to_string()),
        Unit::Milliseconds => Some(now.checked_mul(1_000)?.to_string()),
        Unit::Microseconds => Some(now.checked_mul(1_000_000)?.to_string()),
        Unit::Rfc3339 => jiff::Timestamp::from_second(now_seconds).ok().map(|instant| instant.to_string()),
    }
}
