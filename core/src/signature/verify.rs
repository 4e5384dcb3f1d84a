//! The check itself. There is one, for every scheme: what differs between providers is data that arrives in [`Keys`].
//!
//! Order of the reasons: what is missing or malformed, then the signature, then its age, so that a request that is both
//! forged and old counts as forged.

use std::fmt;
use std::sync::Arc;

use crate::request::Request;
use crate::time::{Micros, SECOND};

use super::content::{Contents, Parts};
use super::grammar::Claim;
use super::keys::{Key, Keys};
use super::refusal::Refusal;
use super::scheme::Timestamp;

/// Most entries of one header that are compared. Senders in a rotation send two or three.
pub const MAX_SIGNATURES: usize = 16;
/// Seconds into the future that are always allowed where the past is limited: clocks differ both ways.
const FUTURE_AT_LEAST: u32 = 60;

/// What the source says beside scheme and secrets.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Seconds; takes the place of the scheme's own limits.
    pub tolerance: Option<u32>,
    /// Senders that may ask to send here (`options-origin`), exactly as they name themselves.
    pub allowed_origins: Vec<String>,
}

/// Proof that the request is authentic. Only [`verify`] makes one, and whoever admits asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    secret: Option<Arc<str>>,
}

impl Verified {
    /// For a source that says `verify = "none"`, and for nothing else.
    pub fn unsigned() -> Verified {
        Verified { secret: None }
    }

    /// The name of the secret that matched; `None`: nothing was checked.
    pub fn secret(&self) -> Option<&Arc<str>> {
        self.secret.as_ref()
    }
}

/// Proof that the bytes are authentic, before anything is known of what is in them: the secrets that have signed them.
/// Which of them it was depends on the content that each is bound to.
pub struct Matched<'k> {
    /// `None`: nothing was checked.
    first: Option<&'k Key>,
    /// Other names of the same secret, each bound to other content.
    more: Vec<&'k Key>,
}

impl fmt::Debug for Matched<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.first.iter().chain(&self.more).map(|key| &key.name)).finish()
    }
}

impl Matched<'_> {
    /// For a source that says `verify = "none"`, and for nothing else.
    pub fn unsigned() -> Self {
        Matched { first: None, more: Vec::new() }
    }

    /// The secret that holds for this document: the decoded bytes.
    pub fn bound(&self, document: &[u8]) -> Result<Verified, Refusal> {
        let Some(first) = self.first else { return Ok(Verified::unsigned()) };
        let mut refused = Refusal::ClaimMismatch;
        for key in std::iter::once(first).chain(self.more.iter().copied()) {
            match key.bound.hold(document) {
                Ok(()) => return Ok(Verified { secret: Some(key.name.clone()) }),
                Err(unbound) => refused = unbound,
            }
        }
        Err(refused)
    }
}

/// Checks the raw bytes of a request against all secrets whose time it is.
pub fn verify(keys: &Keys, request: &Request, options: &Options, now_seconds: i64) -> Result<Verified, Refusal> {
    signed(keys, request, options, now_seconds)?.bound(&request.decoded)
}

/// The same without what secrets are bound to: that is read from decoded bytes, and nothing is decoded for whoever has
/// not signed.
pub fn signed<'k>(
    keys: &'k Keys,
    request: &Request,
    options: &Options,
    now_seconds: i64,
) -> Result<Matched<'k>, Refusal> {
    let parts = Parts::of(request);
    let signatures = keys.scheme.carrier.read(&parts)?;
    let claim = Claim::read(&keys.scheme, &signatures, parts.headers)?;
    let contents = Contents::of(&keys.scheme.signed, &keys.parts, &parts, claim.timestamp)?;
    let matched = matching(keys, &claim, &contents, now_seconds)?;
    contents.body()?;
    if let (Some(stamp), Some(made)) = (&keys.scheme.timestamp, claim.made) {
        check_age(stamp, options, made, now_seconds)?;
    }
    Ok(matched)
}

/// All that confirm, up to the first that is bound to nothing and therefore holds.
fn matching<'k>(keys: &'k Keys, claim: &Claim<'_>, contents: &Contents<'_>, now: i64) -> Result<Matched<'k>, Refusal> {
    let mut refusal = Refusal::UnknownKey;
    let mut matched = Matched { first: None, more: Vec::new() };
    for key in keys.active(now).filter(|key| key.id.as_deref() == claim.key) {
        let mut texts: [&[u8]; MAX_SIGNATURES] = [&[]; MAX_SIGNATURES];
        let count = texts.iter_mut().zip(candidates(key, claim)).map(|(text, found)| *text = found).count();
        let texts = texts.get(..count).unwrap_or_default();
        if texts.is_empty() {
            if refusal == Refusal::UnknownKey {
                refusal = Refusal::MalformedSignature;
            }
        } else if contents.iter().any(|content| key.material.confirms(&content, key.variant.encoding, texts)) {
            match matched.first {
                None => matched.first = Some(key),
                Some(_) => matched.more.push(key),
            }
            if key.bound.is_free() {
                break;
            }
        } else {
            refusal = Refusal::SignatureMismatch;
        }
    }
    if matched.first.is_some() { Ok(matched) } else { Err(refusal) }
}

/// The entries that can be a signature of this kind of key: its prefix, its exact length, its alphabet.
fn candidates<'a>(key: &'a Key, claim: &Claim<'a>) -> impl Iterator<Item = &'a [u8]> {
    let variant = &key.variant;
    let len = variant.encoding.text_len(key.material.signature_len());
    let bare = claim.entries().filter_map(|entry| entry.strip_prefix(&*variant.prefix)).map(str::as_bytes);
    bare.filter(move |text| text.len() == len && variant.encoding.is_text(text))
}

/// The limit itself still passes. A provider that says nothing about the future gets as much of it as of the past: far
/// ones would make a request that stays fresh for ever.
fn check_age(stamp: &Timestamp, options: &Options, made: Micros, now_seconds: i64) -> Result<(), Refusal> {
    let Some(past) = options.tolerance.or(stamp.past) else { return Ok(()) };
    let stated = if options.tolerance.is_some() { None } else { stamp.future };
    let future = stated.unwrap_or(past.max(FUTURE_AT_LEAST));
    let age = now_seconds.saturating_mul(SECOND).saturating_sub(made);
    if age > Micros::from(past) * SECOND {
        Err(Refusal::StaleTimestamp)
    } else if age < -Micros::from(future) * SECOND {
        Err(Refusal::FutureTimestamp)
    } else {
        Ok(())
    }
}
