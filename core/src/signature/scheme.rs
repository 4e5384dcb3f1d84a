//! What a signature scheme is, as data. A constant of the catalog and a `verify = { … }` of the configuration give the
//! same value; nothing behind this file knows which of the two it was.

use std::borrow::Cow;

use super::content::{Part, Parts};
use super::refusal::Refusal;
use super::special::Prepared;

/// Text that the catalog borrows and the configuration owns.
pub type Text = Cow<'static, str>;

/// Most placeholders and literal pieces of one template. No known scheme has more than six.
pub const MAX_PARTS: usize = 12;

#[derive(Clone, Debug)]
pub struct Scheme {
    pub name: Text,
    /// Where the signature stands, or the list of them.
    pub carrier: Carrier,
    /// What separates the entries there; `None`: the whole value is one signature.
    pub list: Option<Text>,
    /// The kinds of signature it knows. A key belongs to exactly one of them, by its own form and never by what the
    /// request says, so that no header can have a key used with another algorithm.
    pub variants: Cow<'static, [Variant]>,
    pub signed: Signed,
    pub timestamp: Option<Timestamp>,
    pub selector: Option<Selector>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Carrier {
    Header(Text),
    /// A parameter of the query, percent-decoded.
    Query(Text),
}

/// A header by which the sender names the key. A request that has it is checked with that key and no other, one that
/// has it not with the keys without an id.
#[derive(Clone, Debug)]
pub struct Selector {
    pub header: Text,
    /// What separates its entries.
    pub list: Text,
    /// What stands before the key's id.
    pub key: Text,
    /// The entry that must stand beside it: the algorithm is ours, the sender may only agree.
    pub agreed: Text,
    /// How keys with an id sign.
    pub variant: Variant,
}

/// One kind of signature within a scheme.
#[derive(Clone, Debug)]
pub struct Variant {
    /// What stands before the signature: `sha256=`, `v1=`, `v1,`. Empty: nothing.
    pub prefix: Text,
    pub algorithm: Algorithm,
    pub encoding: Encoding,
    pub key: KeyForm,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Algorithm {
    Hmac(Hash),
    Ed25519,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hash {
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

/// How the bytes of a signature are written. One spelling each: lower-case hex, standard base64 with padding, the
/// alphabet of URLs without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Hex,
    Base64,
    Base64Url,
}

/// How the configured secret becomes key bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyForm {
    /// The bytes of the text itself, whatever it looks like.
    Text,
    Hex,
    /// Base64, behind a prefix that may be left out.
    Base64 {
        prefix: &'static str,
    },
    /// Base64 behind a prefix that decides: a public key to verify with, a private one to sign with.
    Tagged {
        public: &'static str,
        private: &'static str,
    },
}

/// The bytes that are signed.
#[derive(Clone, Debug)]
pub enum Signed {
    /// Literal text with `{timestamp}`, `{body}`, `{header:N}`, `{url}`, `{method}`, `{path}`, `{query}`.
    Template(Text),
    /// What no template can say; see `special`.
    Special(fn(&Parts<'_>) -> Result<Prepared, Refusal>),
}

#[derive(Clone, Debug)]
pub struct Timestamp {
    pub place: Place,
    pub unit: Unit,
    /// Seconds into the past that the provider allows; `None`: it does not check.
    pub past: Option<u32>,
    /// Seconds into the future; `None`: not stated, see `verify`.
    pub future: Option<u32>,
}

/// Where the timestamp stands.
#[derive(Clone, Debug)]
pub enum Place {
    Header(Text),
    /// An entry of the signature header, behind this prefix (`t=`).
    Entry(Text),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Seconds,
    Milliseconds,
    Microseconds,
    Rfc3339,
}

/// A scheme that contradicts itself. Only the configuration can write one: the catalog's are tested.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemeError {
    #[error("unknown placeholder `{{{0}}}` in `signed`")]
    Placeholder(String),
    #[error("unclosed `{{` in `signed`")]
    Unclosed,
    #[error("`signed` has more than {MAX_PARTS} pieces")]
    TooLong,
    #[error("`signed` names `{{timestamp}}`, but no `timestamp` says where it stands")]
    NoTimestamp,
    #[error("`timestamp` is not part of `signed`, so anybody could renew it")]
    UnsignedTimestamp,
    #[error("`{0}` is no header name")]
    Header(String),
    #[error("an entry of a list needs `list`")]
    NoList,
}

impl Scheme {
    /// The usual shape: one HMAC in one place, over the template.
    pub fn hmac(name: Text, hash: Hash, carrier: Carrier, prefix: Text, encoding: Encoding, signed: Text) -> Scheme {
        let variant = Variant { prefix, algorithm: Algorithm::Hmac(hash), encoding, key: KeyForm::Text };
        let variants = Cow::Owned(vec![variant]);
        Scheme {
            name,
            carrier,
            list: None,
            variants,
            signed: Signed::Template(signed),
            timestamp: None,
            selector: None,
        }
    }

    /// Everything that is wrong with it; the configuration reports all problems at once.
    pub fn check(&self) -> Vec<SchemeError> {
        let mut errors = Vec::new();
        errors.extend(self.header_names().filter(|n| !is_header_name(n)).map(|n| SchemeError::Header(n.to_owned())));
        let in_list = matches!(&self.timestamp, Some(Timestamp { place: Place::Entry(_), .. }));
        if self.list.as_deref().map_or(in_list, str::is_empty) {
            errors.push(SchemeError::NoList);
        }
        match self.parts() {
            Err(error) => errors.push(error),
            Ok(parts) => errors.extend(self.check_parts(&parts)),
        }
        errors
    }

    /// The compiled template.
    pub(super) fn parts(&self) -> Result<Vec<Part>, SchemeError> {
        match &self.signed {
            Signed::Template(text) => Part::parse(text),
            Signed::Special(_) => Ok(Vec::new()),
        }
    }

    fn header_names(&self) -> impl Iterator<Item = &str> {
        let carrier = match &self.carrier {
            Carrier::Header(name) => Some(&**name),
            Carrier::Query(_) => None,
        };
        let stamp = match &self.timestamp {
            Some(Timestamp { place: Place::Header(name), .. }) => Some(&**name),
            _ => None,
        };
        carrier.into_iter().chain(stamp)
    }

    fn check_parts(&self, parts: &[Part]) -> Vec<SchemeError> {
        let mut errors = Vec::new();
        for part in parts {
            if let Part::Header { name, .. } = part
                && !is_header_name(name)
            {
                errors.push(SchemeError::Header(name.clone()));
            }
        }
        match (&self.timestamp, parts.contains(&Part::Timestamp)) {
            (None, true) => errors.push(SchemeError::NoTimestamp),
            (Some(_), false) => errors.push(SchemeError::UnsignedTimestamp),
            _ => {}
        }
        errors
    }
}

fn is_header_name(name: &str) -> bool {
    http::HeaderName::from_bytes(name.as_bytes()).is_ok()
}
