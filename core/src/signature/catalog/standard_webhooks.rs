//! Standard Webhooks, symmetric (v1) and with a key pair (v1a). Also what we sign forwards with.

use std::borrow::Cow;

use crate::provider::{Confidence, Fallback, Identity, Provider};
use crate::signature::scheme::{
    Algorithm, Carrier, Encoding, Hash, KeyForm, Place, Scheme, Signed, Timestamp, Unit, Variant,
};

use super::text;

/// The tagged form stands first: a public key must not end as the text of an HMAC key.
static VARIANTS: [Variant; 2] = [
    Variant {
        prefix: text("v1a,"),
        algorithm: Algorithm::Ed25519,
        encoding: Encoding::Base64,
        key: KeyForm::Tagged { public: "whpk_", private: "whsk_" },
    },
    Variant {
        prefix: text("v1,"),
        algorithm: Algorithm::Hmac(Hash::Sha256),
        encoding: Encoding::Base64,
        key: KeyForm::Base64 { prefix: "whsec_" },
    },
];

pub static SCHEME: Scheme = Scheme {
    name: text("standard-webhooks"),
    carrier: Carrier::Header(text("webhook-signature")),
    list: Some(text(" ")),
    variants: Cow::Borrowed(&VARIANTS),
    signed: Signed::Template(text("{header:webhook-id}.{timestamp}.{body}")),
    timestamp: Some(Timestamp {
        place: Place::Header(text("webhook-timestamp")),
        unit: Unit::Seconds,
        past: Some(300),
        future: Some(300),
    }),
    selector: None,
};

pub static STANDARD_WEBHOOKS: Provider = Provider {
    id: "standard-webhooks",
    name: "Standard Webhooks",
    confidence: (Confidence::High, Confidence::High),
    schemes: &[&SCHEME],
    handshakes: &[],
    identity: Identity {
        key: &["header:webhook-id"],
        kind: &["$.type"],
        aggregate: &["$.data.id"],
        time: &["$.timestamp"],
        version: &[],
        delivery_id: &[],
        attempt_mark: &[],
        volatile: &[],
        items: &[],
    },
    methods: &["POST"],
    max_body: None,
    id_guard: None,
    fallback: Fallback::Unmapped,
    timeout_seconds: Some(15),
    retries: Some(true),
    retry_text: "after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h",
    retry_window_seconds: Some(270_000),
    manual_window_seconds: None,
    retry_429: true,
    retry_delays_seconds: &[5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400],
    notes: &[
        "Secrets: `whsec_` + base64 (HMAC, v1) or the public key `whpk_` + base64 (Ed25519, v1a), never one for the other.",
        "The retry schedule is the recommendation; senders may keep another.",
        "An id with a dot is refused: it could slide into the timestamp.",
    ],
};
