//! What the design names and this version does not have. Its shape is checked, and it is refused by name, with what to
//! do instead: a setting that is taken and has no effect would be a promise that nobody keeps.

use super::code::Code;
use super::near;
use super::place::Place;
use super::problem::Problems;
use super::section::Section;
use super::tree::{Node, Value};

pub const CONSUMER_KINDS: &[&str] = &["handler", "sql", "kafka", "amqp", "sqs", "nats"];
pub const ORDERS: &[&str] = &["latest", "gapless", "transitions"];
pub const VERIFY_KINDS: &[&str] = &["ed25519", "ecdsa-p256", "rsa-sha256", "token", "basic", "rfc9421"];

/// A key, the shape of its value, and what to do until it is built.
pub type Later = (&'static str, Shape, &'static str);

#[derive(Clone, Copy, Debug)]
pub enum Shape {
    Text,
    Texts,
    Number,
    Flag,
    Table,
    Any,
}

use Shape::{Any, Flag, Number, Table, Text, Texts};

/// Keys of `[sources.X]`.
pub const SOURCE_KEYS: &[Later] = &[
    ("inline", Text, "remove it: events are stored first and handed to the consumer right after"),
    ("signal", Flag, "give the source a `key`; equal bodies count as copies of one event"),
    ("business_key", Table, "remove it: only `key` decides what is a duplicate"),
    ("types", Texts, "remove it: events of any type are taken; consumers choose with `on`"),
    ("silence", Text, "remove it: nothing alarms yet when a source falls silent"),
    ("no_time", Text, "remove it: events without a time are accepted"),
];

/// Keys of `retain`.
pub const RETAIN_KEYS: &[Later] = &[("history", Text, "raise `ledger`: events, deliveries and attempts live as long")];

/// Keys of `options`: settings of schemes that are not built.
pub const OPTIONS: &[Later] = &[
    ("notification_url", Text, "write `public_url` on the source"),
    ("callback_url", Text, "its provider is not built"),
    ("webhook_url", Text, "its provider is not built"),
    ("webhook_id", Text, "its provider is not built"),
    ("public_key", Text, "its provider is not built"),
    ("app_key", Text, "its provider is not built"),
    ("api_key", Text, "its provider is not built"),
    ("topic_arns", Texts, "its provider is not built"),
    ("topics", Texts, "its provider is not built"),
    ("trusted_roots", Text, "its provider is not built"),
    ("header", Text, "its provider is not built"),
    ("endpoint", Text, "its provider is not built"),
];

/// Keys of `[consumers.X]`.
pub const CONSUMER_KEYS: &[Later] = &[
    ("where", Any, "select by source and type with `on`"),
    ("probe", Any, "remove it: a retry carries the same `Idempotency-Key`"),
    ("coalesce", Flag, "remove it: every event is delivered"),
    ("ties", Text, "it belongs to `order = \"latest\"`"),
    ("rank", Table, "it belongs to `order = \"latest\"`"),
    ("deleted", Any, "it belongs to `order = \"latest\"`"),
    ("revive", Texts, "it belongs to `order = \"latest\"`"),
    ("start", Any, "it belongs to `order = \"gapless\"`"),
    ("gap_timeout", Text, "it belongs to `order = \"gapless\"`"),
    ("on_forbidden", Text, "it belongs to `order = \"transitions\"`"),
    ("state", Text, "it belongs to `order = \"transitions\"`"),
    ("initial", Texts, "it belongs to `order = \"transitions\"`"),
    ("terminal", Texts, "it belongs to `order = \"transitions\"`"),
    ("allow", Texts, "it belongs to `order = \"transitions\"`"),
    ("current", Text, "it belongs to `order = \"transitions\"`"),
    ("sql", Any, "it belongs to `kind = \"sql\"`"),
    ("bind", Table, "it belongs to `kind = \"sql\"`"),
    ("expect_rows", Number, "it belongs to `kind = \"sql\"`"),
    ("on_rows", Text, "it belongs to `kind = \"sql\"`"),
    ("idempotent_for", Text, "it belongs to gates"),
];

/// Providers of the design, whether their profile is built or not.
pub const PROVIDERS: &[&str] = &[
    "acuity",
    "adyen",
    "asana",
    "attio",
    "auth0",
    "aws-sns",
    "azure-event-grid",
    "bitbucket",
    "box",
    "braintree",
    "buildkite",
    "cal-com",
    "calendly",
    "checkout-com",
    "circleci",
    "clerk",
    "cloudevents",
    "cloudflare",
    "coinbase-commerce",
    "contentful",
    "crmbridge",
    "customer-io",
    "datadog",
    "discord",
    "docusign",
    "dropbox",
    "dwolla",
    "fitbit",
    "flutterwave",
    "front",
    "gitea",
    "github",
    "gitlab",
    "gocardless",
    "google-push",
    "help-scout",
    "heroku",
    "hubspot",
    "intercom",
    "jira",
    "launchdarkly",
    "lemon-squeezy",
    "line",
    "linear",
    "livekit",
    "mailgun",
    "mandrill",
    "messagebird",
    "meta",
    "microsoft-graph",
    "mollie",
    "monday",
    "mux",
    "netlify",
    "notion",
    "nylas",
    "okta",
    "openai",
    "paddle",
    "pagerduty",
    "paypal",
    "paystack",
    "plaid",
    "postmark",
    "pusher",
    "quickbooks",
    "razorpay",
    "sendgrid",
    "sentry",
    "shopify",
    "slack",
    "square",
    "standard-webhooks",
    "strava",
    "stripe",
    "svix",
    "telegram",
    "telnyx",
    "trello",
    "twilio",
    "twitch",
    "typeform",
    "vercel",
    "webex",
    "webflow",
    "websub",
    "wise",
    "woocommerce",
    "workos",
    "x",
    "xero",
    "zendesk",
    "zoom",
];

pub fn refuse(problems: &Problems, at: &Place, what: &str, hint: &str) {
    problems.error(Code::NotBuilt, at, format!("{what} is not built yet"), hint);
}

/// Refuses every key of the list that is written.
pub fn refuse_keys(section: &Section<'_>, keys: &[Later]) {
    for (key, _, hint) in keys.iter().filter(|later| shaped(section, later)) {
        if let Some(entry) = section.entry(key) {
            refuse(section.problems(), &entry.key_at, &format!("`{key}`"), hint);
        }
    }
}

/// Takes the keys of something that has been refused as a whole: only their shape is looked at.
pub fn accept_shapes(section: &Section<'_>, keys: &[Later]) {
    for later in keys {
        shaped(section, later);
    }
}

fn shaped(section: &Section<'_>, (key, shape, _): &Later) -> bool {
    let Some(entry) = section.entry(key) else { return true };
    let (fits, wanted) = fits(*shape, &entry.node);
    if !fits {
        section.wrong::<()>(key, &entry.node, wanted, entry.node.value.noun());
    }
    fits
}

fn fits(shape: Shape, node: &Node) -> (bool, &'static str) {
    let value = &node.value;
    match shape {
        Text => (matches!(value, Value::Text { .. }), "a text in quotes"),
        Texts => (
            matches!(value, Value::List(l) if l.iter().all(|n| matches!(n.value, Value::Text { .. }))),
            "a list of texts",
        ),
        Number => (matches!(value, Value::Integer(Some(_))), "a whole number, without quotes"),
        Flag => (matches!(value, Value::Flag(_)), "`true` or `false`, without quotes"),
        Table => (matches!(value, Value::Table(_)), "a table: `{ … }`"),
        Any => (true, "anything"),
    }
}

/// A word that is either for later, or unknown.
pub fn refuse_word(section: &Section<'_>, at: &Place, key: &str, word: &str, later: &[&str], built: &[&str]) {
    if later.contains(&word) {
        let hint = format!("built: {}", near::list(built.iter().copied()));
        return refuse(section.problems(), at, &format!("`{key} = \"{word}\"`"), &hint);
    }
    let all = built.iter().chain(later).copied();
    section.bad(at, format!("`{key}` cannot be `{word}`"), near::hint(word, all));
}
