//! Requests as a provider would send them: distinct bodies of 1.1 kB, each truly signed.

use std::fmt::Write as _;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// What every server of a run is configured with.
pub const SECRET: &str = "bench-secret-0123456789abcdef-0123456789abcdef";
/// Bytes of a body, about; the bar of the design names it.
const BODY: usize = 1_100;

/// A generator of its own stream of bodies: random ids, so that the ledger's keys fall anywhere.
#[derive(Debug)]
pub struct Sender {
    mac: Hmac<Sha256>,
    state: u64,
    lanes: u64,
    body: String,
    pub request: Vec<u8>,
}

impl Sender {
    /// `seed` makes the stream; `lanes` is the number of distinct aggregates (0: every event its own).
    pub fn new(seed: u64, lanes: u64) -> Sender {
        let mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).expect("HMAC takes keys of any length");
        Sender { mac, state: seed | 1, lanes, body: String::with_capacity(BODY + 64), request: Vec::with_capacity(2 * BODY) }
    }

    /// splitmix64: random enough for ids, and the same stream for the same seed.
    fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// The next whole request, head and body, in `request`.
    pub fn next(&mut self, source: &str) {
        let (a, b) = (self.draw(), self.draw());
        let patient = if self.lanes == 0 { a } else { a % self.lanes };
        self.body.clear();
        let _ = write!(
            self.body,
            r#"{{"Entity":"Patient","Action":"Update","Business":"17","Location":"3","PrimaryKey":"{patient:016x}","CommandTime":"2026-11-30T09:15:{:02}Z","Data":{{"Name":"Avery Example","Token":"{a:016x}{b:016x}","Note":""#,
            b % 60
        );
        while self.body.len() < BODY {
            let filler = self.draw();
            let _ = write!(self.body, "{filler:016x}");
        }
        self.body.push_str("\"}}");
        self.wrap(source);
    }

    fn wrap(&mut self, source: &str) {
        let mut mac = self.mac.clone();
        mac.update(self.body.as_bytes());
        let digest = mac.finalize().into_bytes();
        self.request.clear();
        let mut head = String::with_capacity(256);
        let _ = write!(
            head,
            "POST /in/{source} HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nContent-Length: {}\r\nX-Hub-Signature-256: sha256=",
            self.body.len()
        );
        for byte in digest {
            let _ = write!(head, "{byte:02x}");
        }
        head.push_str("\r\n\r\n");
        self.request.extend_from_slice(head.as_bytes());
        self.request.extend_from_slice(self.body.as_bytes());
    }
}
