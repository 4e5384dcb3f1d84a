//! The providers we know: one constant each, as the facts have them. Nothing here decides anything.

use std::borrow::Cow;

use crate::provider::{Confidence, Fallback, IdGuard, Identity, Provider};

use super::scheme::{Algorithm, Encoding, Hash, KeyForm, Place, Scheme, Signed, Text, Timestamp, Unit, Variant};

static ALL: [&Provider; 5] = [&CRMBRIDGE, &GITHUB, &SLACK, &STANDARD_WEBHOOKS, &STRIPE];

/// All providers, by id.
pub fn all() -> &'static [&'static Provider] {
    &ALL
}

pub fn provider(id: &str) -> Option<&'static Provider> {
    all().iter().copied().find(|provider| provider.id == id)
}

const fn text(text: &'static str) -> Text {
    Cow::Borrowed(text)
}

/// One HMAC over the body, as hex behind a prefix.
const fn hex_hmac(hash: Hash, prefix: &'static str) -> Variant {
    Variant { prefix: text(prefix), algorithm: Algorithm::Hmac(hash), encoding: Encoding::Hex, key: KeyForm::Text }
}

static SHA256_HEX: [Variant; 1] = [hex_hmac(Hash::Sha256, "sha256=")];
static SHA1_HEX: [Variant; 1] = [hex_hmac(Hash::Sha1, "sha1=")];
static V0_HEX: [Variant; 1] = [hex_hmac(Hash::Sha256, "v0=")];
static V1_HEX: [Variant; 1] = [hex_hmac(Hash::Sha256, "v1=")];

/// The tagged form stands first: a public key must not end as the text of an HMAC key.
static STANDARD_VARIANTS: [Variant; 2] = [
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

static CRMBRIDGE_SCHEME: Scheme = Scheme {
    name: text("crmbridge"),
    header: text("X-Hub-Signature-256"),
    list: None,
    variants: Cow::Borrowed(&SHA256_HEX),
    signed: Signed::Template(text("{body}")),
    timestamp: None,
};

static GITHUB_SCHEME: Scheme = Scheme {
    name: text("github"),
    header: text("X-Hub-Signature-256"),
    list: None,
    variants: Cow::Borrowed(&SHA256_HEX),
    signed: Signed::Template(text("{body}")),
    timestamp: None,
};

static GITHUB_SHA1_SCHEME: Scheme = Scheme {
    name: text("github-sha1"),
    header: text("X-Hub-Signature"),
    list: None,
    variants: Cow::Borrowed(&SHA1_HEX),
    signed: Signed::Template(text("{body}")),
    timestamp: None,
};

static SLACK_SCHEME: Scheme = Scheme {
    name: text("slack"),
    header: text("X-Slack-Signature"),
    list: None,
    variants: Cow::Borrowed(&V0_HEX),
    signed: Signed::Template(text("v0:{timestamp}:{body}")),
    timestamp: Some(Timestamp {
        place: Place::Header(text("X-Slack-Request-Timestamp")),
        unit: Unit::Seconds,
        past: Some(300),
        future: Some(300),
    }),
};

pub static STANDARD_WEBHOOKS_SCHEME: Scheme = Scheme {
    name: text("standard-webhooks"),
    header: text("webhook-signature"),
    list: Some(text(" ")),
    variants: Cow::Borrowed(&STANDARD_VARIANTS),
    signed: Signed::Template(text("{header:webhook-id}.{timestamp}.{body}")),
    timestamp: Some(Timestamp {
        place: Place::Header(text("webhook-timestamp")),
        unit: Unit::Seconds,
        past: Some(300),
        future: Some(300),
    }),
};

static STRIPE_SCHEME: Scheme = Scheme {
    name: text("stripe"),
    header: text("Stripe-Signature"),
    list: Some(text(",")),
    variants: Cow::Borrowed(&V1_HEX),
    signed: Signed::Template(text("{timestamp}.{body}")),
    timestamp: Some(Timestamp { place: Place::Entry(text("t=")), unit: Unit::Seconds, past: Some(300), future: None }),
};

pub static CRMBRIDGE: Provider = Provider {
    id: "crmbridge",
    name: "CRMBridge",
    confidence: (Confidence::High, Confidence::High),
    schemes: &[&CRMBRIDGE_SCHEME],
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

pub static GITHUB: Provider = Provider {
    id: "github",
    name: "GitHub",
    confidence: (Confidence::High, Confidence::Medium),
    schemes: &[&GITHUB_SCHEME, &GITHUB_SHA1_SCHEME],
    handshakes: &[],
    identity: Identity {
        key: &["header:X-GitHub-Delivery"],
        kind: &[
            "{header:X-GitHub-Event}.{$.action}",
            "{header:X-GitHub-Event}.{form:payload $.action}",
            "header:X-GitHub-Event",
        ],
        aggregate: &[
            "{$.repository.id}:pull_request:{$.pull_request.id}",
            "{$.repository.id}:issue:{$.issue.id}",
            "{$.repository.id}:release:{$.release.id}",
            "{$.repository.id}:discussion:{$.discussion.id}",
            "{$.repository.id}:deployment:{$.deployment.id}",
            "{$.repository.id}:workflow_run:{$.workflow_run.id}",
            "{$.repository.id}:workflow_run:{$.workflow_job.run_id}",
            "{$.repository.id}:check_run:{$.check_run.id}",
            "{$.repository.id}:check_suite:{$.check_suite.id}",
            "{$.repository.id}:ref:{$.ref}",
            "repository:{$.repository.id}",
            "organization:{$.organization.id}",
            "installation:{$.installation.id}",
        ],
        time: &[
            "$.comment.updated_at",
            "$.pull_request.updated_at",
            "$.issue.updated_at",
            "$.workflow_run.updated_at",
            "$.deployment_status.updated_at",
            "$.deployment.updated_at",
        ],
        version: &[],
        delivery_id: &["{header:X-GitHub-Delivery}:{header:X-GitHub-Hook-ID}"],
        attempt_mark: &[],
        volatile: &[],
        items: &[],
    },
    methods: &["POST"],
    max_body: Some(26_214_400),
    id_guard: Some(IdGuard::Hold),
    fallback: Fallback::Unmapped,
    timeout_seconds: Some(10),
    retry_window_seconds: None,
    manual_window_seconds: Some(259_200),
    retry_429: false,
    retry_delays_seconds: &[],
    notes: &[
        "GitHub does not retry: list failed deliveries (kept 3 days) and ask for redelivery.",
        "A form delivery is signed over the form bytes, not over the JSON within.",
        "Two hooks that point here send the same delivery GUID: give each its own source.",
        "No timestamp is signed.",
    ],
};

pub static SLACK: Provider = Provider {
    id: "slack",
    name: "Slack",
    confidence: (Confidence::High, Confidence::Medium),
    schemes: &[&SLACK_SCHEME],
    handshakes: &["slack-url-verification"],
    identity: Identity {
        key: &["$.event_id"],
        kind: &["$.event.type", "$.type", "form:payload $.type", "form:command"],
        aggregate: &[
            "{$.team_id}:message:{$.event.channel}:{$.event.message.ts}",
            "{$.team_id}:message:{$.event.channel}:{$.event.deleted_ts}",
            "{$.team_id}:message:{$.event.item.channel}:{$.event.item.ts}",
            "{$.team_id}:message:{$.event.channel}:{$.event.ts}",
            "{$.team_id}:channel:{$.event.channel}",
            "{form:team_id}:channel:{form:channel_id}",
        ],
        time: &["$.event_time"],
        version: &[],
        delivery_id: &[],
        attempt_mark: &["header:X-Slack-Retry-Num"],
        volatile: &[],
        items: &[],
    },
    methods: &["POST"],
    max_body: None,
    id_guard: None,
    fallback: Fallback::Body,
    timeout_seconds: Some(3),
    retry_window_seconds: Some(360),
    manual_window_seconds: None,
    retry_429: true,
    retry_delays_seconds: &[0, 60, 300],
    notes: &[
        "The first retry comes right after the 3 s time-out, while the first request may still be running.",
        "Slash commands and interactions are not retried and need an answer within 3 s.",
        "Events are switched off when under 5 % of the deliveries of an hour succeed.",
        "There is no list of what was sent: reconcile with conversations.history and similar.",
    ],
};

pub static STANDARD_WEBHOOKS: Provider = Provider {
    id: "standard-webhooks",
    name: "Standard Webhooks",
    confidence: (Confidence::High, Confidence::High),
    schemes: &[&STANDARD_WEBHOOKS_SCHEME],
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

pub static STRIPE: Provider = Provider {
    id: "stripe",
    name: "Stripe",
    confidence: (Confidence::High, Confidence::High),
    schemes: &[&STRIPE_SCHEME],
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
