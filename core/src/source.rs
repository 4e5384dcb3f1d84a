//! A source as admission sees it: the policies that decide an answer. Its scheme and secrets belong to `signature`,
//! its identity rule to `identify`; the three together are what the configuration calls a source.

use std::sync::Arc;

/// How a source answers what it has stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Respond {
    pub status: u16,
    pub body: Arc<str>,
    pub content_type: Arc<str>,
    /// 200 or 409.
    pub on_conflict: u16,
    /// 200 or 400.
    pub on_unmapped: u16,
    /// The provider retries an answer 429; else everything that limits is 503.
    pub retry_429: bool,
}

impl Default for Respond {
    fn default() -> Self {
        Respond {
            status: 200,
            body: "".into(),
            content_type: "text/plain".into(),
            on_conflict: 200,
            on_unmapped: 200,
            retry_429: false,
        }
    }
}
