//! Slack: Events API, slash commands, interactions.

use std::borrow::Cow;

use crate::provider::{Confidence, Fallback, Identity, Provider};
use crate::signature::scheme::{Carrier, Hash, Place, Scheme, Signed, Timestamp, Unit, Variant};

use super::{hex_hmac, text};

static VARIANTS: [Variant; 1] = [hex_hmac(Hash::Sha256, "v0=")];

static SCHEME: Scheme = Scheme {
    name: text("slack"),
    carrier: Carrier::Header(text("X-Slack-Signature")),
    list: None,
    variants: Cow::Borrowed(&VARIANTS),
    signed: Signed::Template(text("v0:{timestamp}:{body}")),
    timestamp: Some(Timestamp {
        place: Place::Header(text("X-Slack-Request-Timestamp")),
        unit: Unit::Seconds,
        past: Some(300),
        future: Some(300),
    }),
    selector: None,
};

pub static SLACK: Provider = Provider {
    id: "slack",
    name: "Slack",
    confidence: (Confidence::High, Confidence::Medium),
    schemes: &[&SCHEME],
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
    retries: Some(true),
    retry_text: "at once, after 1 and after 5 minutes",
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
