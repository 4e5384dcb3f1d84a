//! Length-framed hashing: every part goes in behind its length, so that `ab` + `c` and `a` + `bc` never meet.
//!
//! One framing for digests, fingerprints, template keys and message keys: eight bytes of length, big-endian, then the
//! part. It is part of what is stored, so it never changes; the golden tests below and in `message_key` pin it.

use sha2::{Digest as _, Sha256};

use crate::event::{Digest, Hash, KeyKind};

/// SHA-256 over framed parts.
#[derive(Clone, Debug, Default)]
pub struct Framed(Sha256);

impl Framed {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn part(mut self, part: &[u8]) -> Self {
        self.0.update(length(part));
        self.0.update(part);
        self
    }

    pub fn hash(self) -> Hash {
        self.0.finalize().into()
    }
}

/// The same framing as bytes: what a template's key is compared by.
pub fn push(bytes: &mut Vec<u8>, part: &[u8]) {
    bytes.extend_from_slice(&length(part));
    bytes.extend_from_slice(part);
}

fn length(part: &[u8]) -> [u8; 8] {
    (part.len() as u64).to_be_bytes()
}

pub fn sha256(bytes: &[u8]) -> Hash {
    Sha256::digest(bytes).into()
}

/// What the ledger is keyed by: short and of one length, because a key may have megabytes and an index entry may not.
pub fn digest(namespace: &str, kind: KeyKind, key: &[u8]) -> Digest {
    let hash = Framed::new().part(namespace.as_bytes()).part(kind.name().as_bytes()).part(key).hash();
    let mut digest = Digest::default();
    digest.copy_from_slice(&hash[..16]);
    digest
}

/// Lower-case hexadecimal, for people.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = Vec::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.extend_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
    String::from_utf8(text).expect("digits are ASCII")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stored in every ledger: a change here makes every known event unknown.
    #[test]
    fn the_digest_is_pinned() {
        assert_eq!(hex(&digest("stripe-main", KeyKind::Provider, b"evt_1")), "43b527055958ca857cbdd874c6970dff");
    }

    #[test]
    fn parts_do_not_slide_into_each_other() {
        let two = |a: &str, b: &str| Framed::new().part(a.as_bytes()).part(b.as_bytes()).hash();
        assert_ne!(two("ab", "c"), two("a", "bc"));
        assert_ne!(two("abc", ""), Framed::new().part(b"abc").hash());
    }

    #[test]
    fn equal_keys_of_other_kinds_or_namespaces_are_other_identities() {
        let of = |namespace, kind| digest(namespace, kind, b"1");
        assert_ne!(of("a", KeyKind::Provider), of("a", KeyKind::Template));
        assert_ne!(of("a", KeyKind::Provider), of("b", KeyKind::Provider));
    }
}
