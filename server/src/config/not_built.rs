//! What the design names and this version does not have. It is parsed and refused by name, with what to do instead:
//! a setting that is taken and has no effect would be a promise that nobody keeps.

use super::code::Code;
use super::near;
use super::place::Place;
use super::problem::Problems;
use super::section::Section;

pub const CONSUMER_KINDS: &[&str] = &["handler", "sql", "pull", "kafka", "amqp", "sqs", "nats"];
pub const ORDERS: &[&str] = &["latest", "gapless", "transitions"];
pub const VERIFY_KINDS: &[&str] = &["ed25519", "ecdsa-p256", "rsa-sha256", "token", "basic", "rfc9421"];

/// Keys of `[sources.X]` that later versions bring, with what holds until then.
pub const SOURCE_KEYS: &[(&str, &str)] = &[
    ("inline", "remove it: events are stored first and handed to the consumer right after"),
    ("signal", "give the source a `key`; equal bodies count as copies of one event"),
    ("business_key", "remove it: only `key` decides what is a duplicate"),
    ("silence", "remove it: nothing alarms yet when a source falls silent"),
    ("retain", "remove it: nothing is deleted yet"),
    ("handshakes", "remove it: the provider's own handshakes need no setting"),
];

/// Keys of `[consumers.X]`, likewise.
pub const CONSUMER_KEYS: &[(&str, &str)] = &[
    ("where", "select by source and type with `on`"),
    ("probe", "remove it: a retry carries the same `Idempotency-Key`"),
    ("coalesce", "remove it: every event is delivered"),
    ("ties", "it belongs to `order = \"latest\"`"),
    ("rank", "it belongs to `order = \"latest\"`"),
    ("deleted", "it belongs to `order = \"latest\"`"),
    ("revive", "it belongs to `order = \"latest\"`"),
    ("start", "it belongs to `order = \"gapless\"`"),
    ("gap_timeout", "it belongs to `order = \"gapless\"`"),
    ("on_forbidden", "it belongs to `order = \"transitions\"`"),
    ("state", "it belongs to `order = \"transitions\"`"),
    ("initial", "it belongs to `order = \"transitions\"`"),
    ("terminal", "it belongs to `order = \"transitions\"`"),
    ("allow", "it belongs to `order = \"transitions\"`"),
    ("current", "it belongs to `order = \"transitions\"`"),
    ("sql", "it belongs to `kind = \"sql\"`"),
    ("bind", "it belongs to `kind = \"sql\"`"),
    ("expect_rows", "it belongs to `kind = \"sql\"`"),
    ("on_rows", "it belongs to `kind = \"sql\"`"),
    ("idempotent_for", "it belongs to gates"),
];

/// Providers with a profile in the design that the catalogue does not carry yet.
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
pub fn refuse_keys(section: &Section<'_>, keys: &[(&'static str, &str)]) {
    for (key, hint) in keys {
        if let Some(entry) = section.entry(key) {
            refuse(section.problems(), &entry.key_at, &format!("`{key}`"), hint);
        }
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
