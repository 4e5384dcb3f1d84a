//! Secrets made ready: every form check, decoding and key schedule is done once, so that a request costs its hash and
//! little more. Neither a secret nor a key is ever shown, by `Debug` or by an error.

use std::fmt;
use std::sync::Arc;

use secrecy::{ExposeSecret as _, SecretString};

use crate::identify::PathError;
use crate::time::{Micros, SECOND};

use super::bound::Bound;
use super::content::Part;
use super::material::Material;
use super::scheme::{Scheme, SchemeError, Variant};

/// Most secrets of one source. Each costs a hash per request that none before it has signed.
pub const MAX_SECRETS: usize = 16;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Use {
    /// Tried as a key of signatures.
    #[default]
    Sign,
    /// A verify token of an endpoint handshake. It travels in clear, so it is never tried as a key.
    Handshake,
}

/// One configured secret. `Debug` shows its name, `secrecy` keeps its value.
#[derive(Clone, Debug)]
pub struct Secret {
    pub name: Arc<str>,
    pub value: SecretString,
    pub use_: Use,
    /// The provider's id of a shared key; such a key is used when the request names it, and only then.
    pub id: Option<Arc<str>>,
    /// Paths and the texts that must stand there: the secret counts for such bodies only.
    pub when: Vec<(String, String)>,
    pub not_before: Option<Micros>,
    pub not_after: Option<Micros>,
}

impl Secret {
    pub fn new(name: impl Into<Arc<str>>, value: impl Into<SecretString>) -> Secret {
        let (name, value) = (name.into(), value.into());
        Secret { name, value, use_: Use::Sign, id: None, when: Vec::new(), not_before: None, not_after: None }
    }
}

/// Why a source cannot verify anything; it answers 503 until the configuration is mended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error("no secret to verify with")]
    Missing,
    #[error("secret `{0}` is empty")]
    Blank(Arc<str>),
    #[error("secret `{name}` is no {wanted}")]
    Form { name: Arc<str>, wanted: &'static str },
    #[error("`when` of secret `{name}`: {error}")]
    When { name: Arc<str>, error: PathError },
    #[error("more than {MAX_SECRETS} secrets")]
    TooMany,
    #[error(transparent)]
    Scheme(#[from] SchemeError),
}

/// A scheme with its keys, ready to verify and to sign.
#[derive(Clone)]
pub struct Keys {
    pub(super) scheme: Scheme,
    pub(super) parts: Vec<Part>,
    pub(super) keys: Vec<Key>,
}

#[derive(Clone)]
pub(super) struct Key {
    pub(super) name: Arc<str>,
    pub(super) variant: Variant,
    pub(super) material: Material,
    /// Set where the scheme lets the sender name the key.
    pub(super) id: Option<Arc<str>>,
    pub(super) bound: Bound,
    not_before: Option<Micros>,
    not_after: Option<Micros>,
}

impl Keys {
    pub fn new(scheme: &Scheme, secrets: &[Secret]) -> Result<Keys, KeyError> {
        if let Some(error) = scheme.check().into_iter().next() {
            return Err(error.into());
        }
        let signing = secrets.iter().filter(|secret| secret.use_ == Use::Sign);
        let keys = signing.map(|secret| Key::new(scheme, secret)).collect::<Result<Vec<Key>, KeyError>>()?;
        match keys.len() {
            0 => Err(KeyError::Missing),
            1..=MAX_SECRETS => Ok(Keys { scheme: scheme.clone(), parts: scheme.parts()?, keys }),
            _ => Err(KeyError::TooMany),
        }
    }

    pub fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    /// Whether there is a key whose time it is. Without one nothing can be verified, however right it is.
    pub fn any_active(&self, now_seconds: i64) -> bool {
        self.active(now_seconds).next().is_some()
    }

    /// The keys whose time it is.
    pub(super) fn active(&self, now_seconds: i64) -> impl Iterator<Item = &Key> {
        let now = now_seconds.saturating_mul(SECOND);
        self.keys.iter().filter(move |key| {
            key.not_before.is_none_or(|from| from <= now) && key.not_after.is_none_or(|until| now <= until)
        })
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.keys.iter().map(|key| &*key.name).collect();
        f.debug_struct("Keys").field("scheme", &self.scheme.name).field("keys", &names).finish()
    }
}

impl Key {
    fn new(scheme: &Scheme, secret: &Secret) -> Result<Key, KeyError> {
        let text = secret.value.expose_secret();
        if text.trim().is_empty() {
            // An HMAC key of length 0 is a key that everybody has.
            return Err(KeyError::Blank(secret.name.clone()));
        }
        let form_error = |wanted| KeyError::Form { name: secret.name.clone(), wanted };
        let id = scheme.selector.as_ref().and(secret.id.clone());
        let variant = match &scheme.selector {
            Some(selector) if id.is_some() => Some(&selector.variant),
            _ => scheme.variants.iter().find(|variant| variant.key.takes(text)),
        };
        let variant = variant.ok_or_else(|| form_error("key of this scheme"))?;
        let material = Material::new(variant, text).map_err(form_error)?;
        let bound = Bound::new(&secret.when).map_err(|error| KeyError::When { name: secret.name.clone(), error })?;
        Ok(Key {
            name: secret.name.clone(),
            variant: variant.clone(),
            material,
            id,
            bound,
            not_before: secret.not_before,
            not_after: secret.not_after,
        })
    }
}
