//! Requests as a provider would send them: distinct bodies of 1.1 kB, each truly signed.
//!
//! The generator shares its cores with what it measures, so a request is a template with holes: what is equal in all
//! bodies is hashed once, and a request costs the rest of its HMAC.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// What every server of a run is configured with.
pub const SECRET: &str = "bench-secret-0123456789abcdef-0123456789abcdef";
/// Bytes of a body; the bar of the design names it.
const BODY: usize = 1_100;

const BEGIN: &str = concat!(
    r#"{"Entity":"Patient","Action":"Update","Business":"17","Location":"3","CommandTime":"2026-11-30T09:15:07Z","#,
    r#""Data":{"Name":"Avery Example","Note":""#
);
const TOKEN: &str = r#"","Token":""#;
const KEY: &str = r#""},"PrimaryKey":""#;
const END: &str = r#""}"#;
const HEX: &[u8; 16] = b"0123456789abcdef";
/// Digits of the three places that change: token, key, signature.
const TOKEN_DIGITS: usize = 32;
const KEY_DIGITS: usize = 16;
const SIGNATURE_DIGITS: usize = 64;

/// A generator of its own stream of requests: random ids, so that the ledger's keys fall anywhere.
#[derive(Debug)]
pub struct Sender {
    /// Has seen the body as far as it never changes.
    begun: Hmac<Sha256>,
    state: u64,
    request: Vec<u8>,
    signature: usize,
    token: usize,
    key: usize,
}

impl Sender {
    /// `seed` makes the stream: equal seeds, equal requests.
    pub fn new(source: &str, seed: u64) -> Sender {
        let filler = "x".repeat(BODY - BEGIN.len() - TOKEN.len() - TOKEN_DIGITS - KEY.len() - KEY_DIGITS - END.len());
        let head = format!(
            "POST /in/{source} HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nContent-Length: {BODY}\r\n\
             X-Hub-Signature-256: sha256={}\r\n\r\n",
            "0".repeat(SIGNATURE_DIGITS)
        );
        let body = [BEGIN, &filler, TOKEN, &"0".repeat(TOKEN_DIGITS), KEY, &"0".repeat(KEY_DIGITS), END].concat();
        let token = head.len() + BEGIN.len() + filler.len() + TOKEN.len();
        let mut begun = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).expect("HMAC takes keys of any length");
        begun.update(&body.as_bytes()[..token - head.len()]);
        let signature = head.len() - 4 - SIGNATURE_DIGITS;
        let key = token + TOKEN_DIGITS + KEY.len();
        Sender { begun, state: seed, request: [head, body].concat().into_bytes(), signature, token, key }
    }

    /// splitmix64: random enough for ids, and the same stream for the same seed.
    fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// The next whole request, head and body.
    pub fn next(&mut self) -> &[u8] {
        let (a, b) = (self.draw(), self.draw());
        hex(&mut self.request[self.token..][..TOKEN_DIGITS], &[a.to_be_bytes(), b.to_be_bytes()].concat());
        hex(&mut self.request[self.key..][..KEY_DIGITS], &a.to_be_bytes());
        let mut mac = self.begun.clone();
        mac.update(&self.request[self.token..]);
        hex(&mut self.request[self.signature..][..SIGNATURE_DIGITS], &mac.finalize().into_bytes());
        &self.request
    }
}

fn hex(place: &mut [u8], bytes: &[u8]) {
    for (two, byte) in place.chunks_exact_mut(2).zip(bytes) {
        two.copy_from_slice(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_differ_and_are_truly_signed() {
        let mut sender = Sender::new("crm", 7);
        let (first, second) = (sender.next().to_vec(), sender.next().to_vec());
        assert_ne!(first, second);
        assert_eq!(Sender::new("crm", 7).next(), first, "the same seed is the same stream");
        for request in [first, second] {
            let text = String::from_utf8(request).expect("text");
            let (head, body) = text.split_once("\r\n\r\n").expect("a head");
            assert_eq!(body.len(), BODY);
            assert!(serde_json::from_str::<serde_json::Value>(body).is_ok());
            let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).expect("a key");
            mac.update(body.as_bytes());
            let mut digits = [0; SIGNATURE_DIGITS];
            hex(&mut digits, &mac.finalize().into_bytes());
            assert!(head.ends_with(std::str::from_utf8(&digits).expect("digits")));
        }
    }
}
