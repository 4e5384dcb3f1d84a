//! CRMBridge: patients and appointments of clinics, as commands on a table's row.

use std::borrow::Cow;

use crate::provider::{Confidence, Fallback, Identity, Provider};
use crate::signature::scheme::{Carrier, Hash, Scheme, Signed, Variant};

use super::{hex_hmac, text};

static VARIANTS: [Variant; 1] = [hex_hmac(Hash::Sha256, "sha256=")];

static SCHEME: Scheme = Scheme {
    name: text("crmbridge"),
    carrier: Carrier::Header(text("X-Hub-Signature-256")),
    list: None,
    variants: Cow::Borrowed(&VARIANTS),
    signed: Signed::Template(text("{body}")),
    timestamp: None,
    selector: None,
};

pub static CRMBRIDGE: Provider = Provider {
    id: "crmbridge",
    name: "CRMBridge",
    confidence: (Confidence::High, Confidence::High),
    schemes: &[&SCHEME],
    handshakes: &[],
    identity: Identity {
        key: &["body-sha256"],
        kind: &["{Entity}.{Action}"],
        aggregate: &["{Business}:{Location}:{Entity}:{PrimaryKey}"],
        time: &["$.CommandTime"],
        version: &[],
        delivery_id: &[],
        attempt_mark: &[],
        volatile: &[],
        items: &[],
    },
    methods: &["POST"],
    max_body: None,
    id_guard: None,
    fallback: Fallback::Body,
    timeout_seconds: Some(5),
    retries: Some(true),
    retry_text: "after 1, 2, 4 and 8 minutes",
    retry_window_seconds: Some(900),
    manual_window_seconds: None,
    retry_429: false,
    retry_delays_seconds: &[60, 120, 240, 480],
    notes: &[
        "No timestamp is signed: what keeps a replay out is the key.",
        "Retries end after 15 minutes: after a longer outage reconcile at the source.",
        "Order is kept within a table of one (Business, Location), but a retry can overtake.",
        "The time-out is given as a few seconds only; 5 is an assumption.",
    ],
};
