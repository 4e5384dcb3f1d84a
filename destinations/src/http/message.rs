//! A message as an HTTP request: method, URL, headers, signature. Pure.

use bytes::Bytes;
use hookonce_core::message::Message;
use hookonce_core::signature::{Keys, Parts, SignError, sign};
use hookonce_core::time::SECOND;
use http::{HeaderName, HeaderValue, Method, Request, Uri, header};
use http_body_util::Full;

const WEBHOOK_ID: HeaderName = HeaderName::from_static("webhook-id");
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const AGENT: HeaderValue = HeaderValue::from_static(concat!("hookonce/", env!("CARGO_PKG_VERSION")));

/// Why a message cannot become a request. Neither gets better by a retry of the same configuration, but a person can
/// mend it: so it is retried, and seen.
#[derive(Debug, thiserror::Error)]
pub enum MessageError {
    #[error("the message id is no header value")]
    Id,
    #[error("it cannot be signed: {0}")]
    Sign(#[from] SignError),
}

/// The request of one try. The original method is not repeated: what we call is the consumer's endpoint.
pub fn request(mut message: Message, uri: &Uri, keys: Option<&Keys>) -> Result<Request<Full<Bytes>>, MessageError> {
    let id = HeaderValue::try_from(&message.id).map_err(|_| MessageError::Id)?;
    message.headers.0.push((WEBHOOK_ID, id.clone()));
    let signed = keys.map(|keys| signature(&message, uri, keys)).transpose()?.unwrap_or_default();

    let mut request = Request::new(Full::new(message.body));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = uri.clone();
    let headers = request.headers_mut();
    headers.reserve(message.headers.0.len() + signed.len() + 2);
    for (name, value) in message.headers.0.into_iter().chain(signed) {
        headers.append(name, value);
    }
    headers.insert(IDEMPOTENCY_KEY, id);
    // The provider's own goes on: receivers of some providers look at it.
    headers.entry(header::USER_AGENT).or_insert(AGENT);
    Ok(request)
}

fn signature(message: &Message, uri: &Uri, keys: &Keys) -> Result<Vec<(HeaderName, HeaderValue)>, SignError> {
    let parts = Parts {
        method: "POST",
        target: uri.path_and_query().map_or("/", |p| p.as_str()),
        url: "",
        headers: &message.headers,
        body: &message.body,
    };
    sign(keys, &parts, message.at / SECOND)
}
