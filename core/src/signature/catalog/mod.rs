//! The providers we know: one file each, a constant with its schemes beside it, as the facts have them. Nothing here
//! decides anything. A new provider is a file, a line in [`ALL`] and a file of vectors.

mod crmbridge;
mod github;
mod slack;
mod standard_webhooks;
mod stripe;
mod twilio;

use std::borrow::Cow;

use crate::provider::Provider;

use super::scheme::{Algorithm, Encoding, Hash, KeyForm, Scheme, Text, Variant};

pub use crmbridge::CRMBRIDGE;
pub use github::GITHUB;
pub use slack::SLACK;
pub use standard_webhooks::{SCHEME as STANDARD_WEBHOOKS_SCHEME, STANDARD_WEBHOOKS};
pub use stripe::STRIPE;
pub use twilio::TWILIO;

/// All providers, by id.
pub static ALL: [&Provider; 6] = [&CRMBRIDGE, &GITHUB, &SLACK, &STANDARD_WEBHOOKS, &STRIPE, &TWILIO];

pub fn all() -> &'static [&'static Provider] {
    &ALL
}

pub fn provider(id: &str) -> Option<&'static Provider> {
    all().iter().copied().find(|provider| provider.id == id)
}

/// A scheme by its own name, whoever uses it.
pub fn scheme(name: &str) -> Option<&'static Scheme> {
    all().iter().flat_map(|provider| provider.schemes).copied().find(|scheme| scheme.name == name)
}

const fn text(text: &'static str) -> Text {
    Cow::Borrowed(text)
}

/// One HMAC as hex behind a prefix, keyed with the text of the secret.
const fn hex_hmac(hash: Hash, prefix: &'static str) -> Variant {
    Variant { prefix: text(prefix), algorithm: Algorithm::Hmac(hash), encoding: Encoding::Hex, key: KeyForm::Text }
}
