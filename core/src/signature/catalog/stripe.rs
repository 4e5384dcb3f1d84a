//! Stripe: snapshot and thin events.

use std::borrow::Cow;

use crate::provider::{Confidence, Fallback, Identity, Provider};
use crate::signature::scheme::{Carrier, Hash, Place, Scheme, Signed, Timestamp, Unit, Variant};

use super::{hex_hmac, text};

static VARIANTS: [Variant; 1] = [hex_hmac(Hash::Sha256, "v1=")];

static SCHEME: Scheme = Scheme {
    name: text("stripe"),
    carrier: Carrier::Header(text("Stripe-Signature")),
    list: Some(text(",")),
    variants: Cow::Borrowed(&VARIANTS),
    signed: Signed::Template(text("{timestamp}.{body}")),
    timestamp: Some(Timestamp { place: Place::Entry(text("t=")), unit: Unit::Seconds, past: Some(300), future: None }),
    selector: None,
};

pub static STRIPE: Provider = Provider {
    id: "stripe",
    name: "Stripe",
    confidence: (Confidence::High, Confidence::High),
    schemes: &[&SCHEME],
    handshakes: &[],
    identity: Identity {
        key: &["$.id"],
        kind: &["$.type"],
        aggregate: &[
            "{$.account}:{$.data.object.object}:{$.data.object.id}",
            "{$.data.object.object}:{$.data.object.id}",
            "{$.related_object.type}:{$.related_object.id}",
        ],
        time: &["$.created"],
        version: &[],
        delivery_id: &[],
        attempt_mark: &[],
        volatile: &["$.pending_webhooks"],
        items: &[],
    },
    methods: &["POST"],
    max_body: None,
    id_guard: None,
    fallback: Fallback::Body,
    timeout_seconds: None,
    retries: Some(true),
    retry_text: "exponential back-off",
    retry_window_seconds: Some(259_200),
    manual_window_seconds: Some(2_592_000),
    retry_429: true,
    retry_delays_seconds: &[],
    notes: &[
        "The key is the whole `whsec_…` text; each endpoint has its own, `stripe listen` another one.",
        "The payload is a snapshot and events arrive out of order: fetch the object or compare versions.",
        "In a sandbox retries end after a few hours (3 attempts).",
        "An endpoint is disabled after several days of failures, with notice by e-mail.",
        "`pending_webhooks` counts open deliveries and differs between attempts: it is volatile.",
    ],
};
