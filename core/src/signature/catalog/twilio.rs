//! Twilio: messages and calls, as forms; JSON where the URL carries the body's hash.

use std::borrow::Cow;

use crate::provider::{Confidence, Fallback, IdGuard, Identity, Provider};
use crate::signature::scheme::{Algorithm, Carrier, Encoding, Hash, KeyForm, Scheme, Selector, Signed, Variant};
use crate::signature::special;

use super::text;

const fn base64_hmac(hash: Hash) -> Variant {
    Variant { prefix: text(""), algorithm: Algorithm::Hmac(hash), encoding: Encoding::Base64, key: KeyForm::Text }
}

static VARIANTS: [Variant; 1] = [base64_hmac(Hash::Sha1)];

static SCHEME: Scheme = Scheme {
    name: text("twilio"),
    carrier: Carrier::Header(text("X-Twilio-Signature")),
    list: None,
    variants: Cow::Borrowed(&VARIANTS),
    signed: Signed::Special(special::twilio),
    timestamp: None,
    selector: Some(Selector {
        header: text("X-Twilio-Webhooks-Signature-Settings"),
        list: text(","),
        key: text("key="),
        agreed: text("algorithm=HMAC_SHA256"),
        variant: base64_hmac(Hash::Sha256),
    }),
};

pub static TWILIO: Provider = Provider {
    id: "twilio",
    name: "Twilio",
    confidence: (Confidence::High, Confidence::Medium),
    schemes: &[&SCHEME],
    handshakes: &[],
    identity: Identity {
        key: &["header:I-Twilio-Idempotency-Token"],
        kind: &[
            "message.{form:MessageStatus}",
            "message.{form:SmsStatus}",
            "call.{form:CallStatus}",
            // Inbound: the sid only has to be there.
            "message.received{?form:MessageSid}",
            "message.received{?form:SmsSid}",
            "call{?form:CallSid}",
        ],
        aggregate: &[
            "{form:AccountSid}:message:{form:MessageSid}",
            "{form:AccountSid}:call:{form:CallSid}",
            "message:{form:MessageSid}",
            "call:{form:CallSid}",
        ],
        time: &["form:Timestamp"],
        version: &["form:SequenceNumber"],
        delivery_id: &[],
        attempt_mark: &[],
        volatile: &[],
        items: &[],
    },
    methods: &["POST", "GET"],
    max_body: None,
    id_guard: Some(IdGuard::Hold),
    fallback: Fallback::Body,
    timeout_seconds: Some(15),
    retries: Some(true),
    retry_text: "one, on a failed connection; up to five by connection override",
    retry_window_seconds: Some(15),
    manual_window_seconds: None,
    retry_429: false,
    retry_delays_seconds: &[],
    notes: &[
        "What is signed is the URL that Twilio called: behind a proxy set `public_url`, and keep the query as it is.",
        "JSON without `bodySHA256` in the URL is refused: its body would not be signed.",
        "Retries by connection override in the URL (`#rc=…&rp=…`); by default one, on a failed connection.",
        "Shared keys: a secret with an `id`. Primary and secondary auth token: two secrets.",
        "No timestamp is signed.",
    ],
};
