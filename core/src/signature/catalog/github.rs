//! GitHub. The SHA-1 scheme is for senders that know no other, and only where the configuration names it.

use std::borrow::Cow;

use crate::provider::{Confidence, Fallback, IdGuard, Identity, Provider};
use crate::signature::scheme::{Carrier, Hash, Scheme, Signed, Variant};

use super::{hex_hmac, text};

static SHA256: [Variant; 1] = [hex_hmac(Hash::Sha256, "sha256=")];
static SHA1: [Variant; 1] = [hex_hmac(Hash::Sha1, "sha1=")];

static SCHEME: Scheme = Scheme {
    name: text("github"),
    carrier: Carrier::Header(text("X-Hub-Signature-256")),
    list: None,
    variants: Cow::Borrowed(&SHA256),
    signed: Signed::Template(text("{body}")),
    timestamp: None,
    selector: None,
};

static SHA1_SCHEME: Scheme = Scheme {
    name: text("github-sha1"),
    carrier: Carrier::Header(text("X-Hub-Signature")),
    list: None,
    variants: Cow::Borrowed(&SHA1),
    signed: Signed::Template(text("{body}")),
    timestamp: None,
    selector: None,
};

pub static GITHUB: Provider = Provider {
    id: "github",
    name: "GitHub",
    confidence: (Confidence::High, Confidence::Medium),
    schemes: &[&SCHEME, &SHA1_SCHEME],
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
    retries: Some(false),
    retry_text: "none: failed deliveries are not sent again",
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
