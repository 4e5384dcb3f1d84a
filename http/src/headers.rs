//! Headers that are ours, and headers that are nobody's business.

use hookonce_core::request::Headers;
use http::{HeaderMap, HeaderName, header};

/// What became of a signed request: `accepted`, `duplicate`, `conflict`, `unmapped`; for a batch the counts. A refused
/// sender is told nothing.
pub const VERDICT: HeaderName = HeaderName::from_static("hookonce-verdict");
/// The public id of the event that a signed request made or met.
pub const EVENT: HeaderName = HeaderName::from_static("hookonce-event");

/// Neither stored nor forwarded (S36): what authenticates somebody somewhere, and would stay valid in our store.
static SECRET: [HeaderName; 8] = [
    header::AUTHORIZATION,
    header::PROXY_AUTHORIZATION,
    header::COOKIE,
    header::SET_COOKIE,
    HeaderName::from_static("x-api-key"),
    HeaderName::from_static("x-auth-token"),
    HeaderName::from_static("x-amz-security-token"),
    HeaderName::from_static("x-forwarded-client-cert"),
];

pub fn is_secret(name: &HeaderName) -> bool {
    SECRET.contains(name)
}

/// In the order of arrival. The map keeps it between names; repeats stand behind the first of their name.
pub fn in_order(map: HeaderMap) -> Headers {
    let mut headers = Vec::with_capacity(map.len());
    let mut last = None;
    for (name, value) in map {
        if name.is_some() {
            last = name;
        }
        if let Some(name) = &last {
            headers.push((name.clone(), value));
        }
    }
    Headers(headers)
}
