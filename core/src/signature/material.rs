//! Key bytes made ready: an HMAC whose key block is already hashed, the keys of Ed25519.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use hmac::{Hmac, KeyInit as _, Mac};
use sha1::Sha1;
use sha2::{Sha256, Sha384, Sha512};
use subtle::ConstantTimeEq as _;

use super::content::Content;
use super::encoding::Written;
use super::scheme::{Algorithm, Encoding, Hash, KeyForm, Variant};

const HMAC_KEY: &str = "key of this encoding";
const ED25519_KEY: &str = "Ed25519 key";

#[derive(Clone)]
pub(super) enum Material {
    Sha1(Hmac<Sha1>),
    Sha256(Hmac<Sha256>),
    Sha384(Hmac<Sha384>),
    Sha512(Hmac<Sha512>),
    Ed25519 { public: Box<VerifyingKey>, private: Option<Box<SigningKey>> },
}

impl Material {
    /// The error says what the text should have been.
    pub(super) fn new(variant: &Variant, text: &str) -> Result<Material, &'static str> {
        match variant.algorithm {
            Algorithm::Hmac(hash) => {
                let bytes = variant.key.bytes(text).filter(|bytes| !bytes.is_empty()).ok_or(HMAC_KEY)?;
                Ok(Material::hmac(hash, &bytes))
            }
            Algorithm::Ed25519 => {
                let bytes = variant.key.bytes(text).ok_or(ED25519_KEY)?;
                let made = if variant.key.is_private(text) { private(&bytes) } else { public(&bytes) };
                made.ok_or(ED25519_KEY)
            }
        }
    }

    fn hmac(hash: Hash, key: &[u8]) -> Material {
        const ANY: &str = "HMAC takes keys of any length";
        match hash {
            Hash::Sha1 => Material::Sha1(Hmac::new_from_slice(key).expect(ANY)),
            Hash::Sha256 => Material::Sha256(Hmac::new_from_slice(key).expect(ANY)),
            Hash::Sha384 => Material::Sha384(Hmac::new_from_slice(key).expect(ANY)),
            Hash::Sha512 => Material::Sha512(Hmac::new_from_slice(key).expect(ANY)),
        }
    }

    /// Length of a signature in bytes.
    pub(super) fn signature_len(&self) -> usize {
        match self {
            Material::Sha1(_) => 20,
            Material::Sha256(_) => 32,
            Material::Sha384(_) => 48,
            Material::Sha512(_) | Material::Ed25519 { .. } => 64,
        }
    }

    /// Whether one of the texts, all of the right length, is this key's signature of the content.
    pub(super) fn confirms(&self, content: &Content<'_>, encoding: Encoding, texts: &[&[u8]]) -> bool {
        match self {
            Material::Sha1(mac) => any_equal(&tag(mac, content, encoding), texts),
            Material::Sha256(mac) => any_equal(&tag(mac, content, encoding), texts),
            Material::Sha384(mac) => any_equal(&tag(mac, content, encoding), texts),
            Material::Sha512(mac) => any_equal(&tag(mac, content, encoding), texts),
            Material::Ed25519 { public, .. } => {
                let message = content.joined();
                texts.iter().filter_map(|text| encoding.read(text)).any(|bytes| {
                    // Strict: without it one message and key have more than one right signature.
                    Signature::from_slice(&bytes).is_ok_and(|s| public.verify_strict(&message, &s).is_ok())
                })
            }
        }
    }

    /// `None`: a public key cannot sign.
    pub(super) fn sign(&self, content: &Content<'_>, encoding: Encoding) -> Option<Written> {
        match self {
            Material::Sha1(mac) => Some(tag(mac, content, encoding)),
            Material::Sha256(mac) => Some(tag(mac, content, encoding)),
            Material::Sha384(mac) => Some(tag(mac, content, encoding)),
            Material::Sha512(mac) => Some(tag(mac, content, encoding)),
            Material::Ed25519 { private, .. } => {
                let signature = private.as_ref()?.sign(&content.joined());
                Some(encoding.write(&signature.to_bytes()))
            }
        }
    }
}

fn tag<M: Mac + Clone>(ready: &M, content: &Content<'_>, encoding: Encoding) -> Written {
    let mut mac = ready.clone();
    content.pieces().for_each(|piece| mac.update(piece));
    encoding.write(&mac.finalize().into_bytes())
}

/// Every text is compared to its end, also behind one that was right.
fn any_equal(right: &Written, texts: &[&[u8]]) -> bool {
    let none = subtle::Choice::from(0);
    texts.iter().fold(none, |found, text| found | text.ct_eq(right.as_bytes())).into()
}

fn public(bytes: &[u8]) -> Option<Material> {
    let public = VerifyingKey::from_bytes(bytes.try_into().ok()?).ok().filter(|key| !key.is_weak())?;
    Some(Material::Ed25519 { public: Box::new(public), private: None })
}

/// A seed, alone or with its public half behind it.
fn private(bytes: &[u8]) -> Option<Material> {
    let private = match bytes.len() {
        32 => SigningKey::from_bytes(bytes.try_into().ok()?),
        _ => SigningKey::from_keypair_bytes(bytes.try_into().ok()?).ok()?,
    };
    Some(Material::Ed25519 { public: Box::new(private.verifying_key()), private: Some(Box::new(private)) })
}

impl KeyForm {
    /// Whether a secret that looks like this belongs here; the first form of a scheme that takes it has it, also if it
    /// is broken then: a public key must never end as the text of an HMAC key.
    pub(super) fn takes(self, text: &str) -> bool {
        match self {
            KeyForm::Tagged { public, private } => text.starts_with(public) || text.starts_with(private),
            KeyForm::Text | KeyForm::Hex | KeyForm::Base64 { .. } => true,
        }
    }

    fn bytes(self, text: &str) -> Option<Vec<u8>> {
        match self {
            KeyForm::Text => Some(text.as_bytes().to_vec()),
            KeyForm::Hex => Encoding::Hex.read(text.to_ascii_lowercase().as_bytes()),
            KeyForm::Base64 { prefix } => STANDARD.decode(text.strip_prefix(prefix).unwrap_or(text)).ok(),
            KeyForm::Tagged { public, private } => {
                let bare = text.strip_prefix(public).or_else(|| text.strip_prefix(private))?;
                STANDARD.decode(bare).ok()
            }
        }
    }

    fn is_private(self, text: &str) -> bool {
        matches!(self, KeyForm::Tagged { private, .. } if text.starts_with(private))
    }
}
