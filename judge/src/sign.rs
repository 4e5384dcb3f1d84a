//! Our own signing, hashing and checking. Written from the providers' documents, not from the engine.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// SHA-256 in lower-case hex: how bodies are named throughout the evidence.
pub fn digest(body: &[u8]) -> String {
    hex(&Sha256::digest(body))
}

fn mac(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("an HMAC key may have any length");
    parts.iter().for_each(|p| mac.update(p));
    mac.finalize().into_bytes().to_vec()
}

/// `X-Hub-Signature-256` of CRMBridge, and of the generic source of the rig.
pub fn hub(secret: &str, body: &[u8]) -> String {
    format!("sha256={}", hex(&mac(secret.as_bytes(), &[body])))
}

/// The bytes behind `whsec_…`.
fn whsec(secret: &str) -> Vec<u8> {
    let text = secret.strip_prefix("whsec_").unwrap_or(secret);
    STANDARD.decode(text).unwrap_or_default()
}

/// `webhook-signature` of Standard Webhooks, symmetric.
pub fn standard(secret: &str, id: &str, timestamp: u64, body: &[u8]) -> String {
    let head = format!("{id}.{timestamp}.");
    format!("v1,{}", STANDARD.encode(mac(&whsec(secret), &[head.as_bytes(), body])))
}

/// Whether one of the space-separated signatures is ours.
pub fn standard_holds(secret: &str, id: &str, timestamp: &str, body: &[u8], signatures: &str) -> bool {
    let Ok(at) = timestamp.parse::<u64>() else { return false };
    let ours = standard(secret, id, at, body);
    signatures.split(' ').any(|s| s == ours)
}

/// Crockford's base32 in lower case, as message ids are written.
fn base32(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let bit = |i: usize| bytes.get(i / 8).map_or(0, |b| usize::from(b >> (7 - i % 8) & 1));
    let digit = |from: usize| (from..from + 5).fold(0, |n, i| n * 2 + bit(i));
    (0..bytes.len() * 8).step_by(5).map(|from| char::from(DIGITS[digit(from)])).collect()
}

/// What a delivery's `webhook-id` must be: SHA-256 over length-framed parts, made of what the event is and of nothing
/// that a lost store would change.
pub fn message_key(namespace: &str, key_kind: &str, key: &[u8], variant: i64, consumer: &str) -> String {
    let (variant, repeat) = (variant.to_be_bytes(), 0_i64.to_be_bytes());
    let parts = [b"hk1", namespace.as_bytes(), key_kind.as_bytes(), key, &variant, consumer.as_bytes(), b"", &repeat];
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    base32(&hash.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published vector of the CRMBridge scheme and of the Standard Webhooks specification.
    #[test]
    fn signatures_equal_the_published_ones() {
        let body = br#"{"test": 2432232314}"#;
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let theirs = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
        assert_eq!(standard(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, body), theirs);
        assert_eq!(
            hub("field-test-secret-A-0123456789abcdef", b"{}"),
            "sha256=e8f5ac4eaa21caac19429f0ed302baccc996cd14c030d3311d11427a16244e7c"
        );
    }

    #[test]
    fn a_list_of_signatures_holds_if_one_is_right() {
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let right = standard(secret, "m", 5, b"x");
        assert!(standard_holds(secret, "m", "5", b"x", &format!("v1,AAAA {right}")));
        assert!(!standard_holds(secret, "m", "5", b"y", &right));
        assert!(!standard_holds(secret, "m", "6", b"x", &right));
        assert!(!standard_holds(secret, "m", "five", b"x", &right));
    }

    /// Computed by a third program. These ids outlive every store: a change makes receivers act twice.
    #[test]
    fn message_keys_are_pinned() {
        let key = message_key("stripe-main", "provider", b"evt_1", 0, "app");
        assert_eq!(key, "wjsxmggd8a6fzggjg7jkxfvpag18kaewzcepfktrjetkb2pyz3rg");
    }
}
