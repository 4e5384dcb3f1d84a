//! One try over a socket. Every end of it, the strange ones too, leaves as an outcome in words that a person
//! understands; what an answer means is decided in `answer`.

use std::error::Error;
use std::io;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use hookonce_core::delivery::Outcome;
use hookonce_core::destination::Sent;
use hookonce_core::kill_point;
use hookonce_core::message::Message;
use http::{Response, header};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use tokio::time::{Instant, timeout_at};

use super::{Http, answer, message};
use crate::guard::Refused;

/// Bytes of an answer's body that are kept to be shown.
pub const ANSWER_KEPT: usize = 4 * 1_024;
/// Bytes of it that are read so that the connection can be used again; beyond it the connection is closed.
pub const ANSWER_READ: usize = 64 * 1_024;
/// The status has been said: nothing waits longer than this for the rest of the body.
pub const BODY_MAX: Duration = Duration::from_secs(2);

pub(super) async fn send(http: &Http, message: Message, within: Duration) -> Sent {
    let now = message.at;
    let started = Instant::now();
    let limit = within.min(http.timeout);
    let request = match message::request(message, &http.uri, http.sign.as_ref()) {
        Ok(request) => request,
        Err(e) => return retry(e.to_string()),
    };
    let response = match timeout_at(started + limit, http.client.request(request)).await {
        Ok(Ok(response)) => response,
        Ok(Err(e)) => return retry(broken(&e)),
        Err(_) => return retry(format!("no answer within {}; it may have arrived", seconds(limit))),
    };
    kill_point!("sent");
    let (head, body) = response.into_parts();
    let kept = read(Response::from_parts(head.clone(), body), (started + limit).min(Instant::now() + BODY_MAX)).await;
    let retry_after = head.headers.get(header::RETRY_AFTER).map(|v| v.as_bytes());
    let now = now.saturating_add(i64::try_from(started.elapsed().as_micros()).unwrap_or(i64::MAX));
    let answer = answer::Answer { status: head.status.as_u16(), retry_after, body: &kept, now };
    answer::judge(&answer, &http.permanent)
}

fn retry(reason: String) -> Sent {
    Outcome::Retry { reason, after: None }.into()
}

/// The begin of the body. How the rest of it comes, or fails to, changes nothing: the head said what came of it.
async fn read(response: Response<Incoming>, until: Instant) -> Bytes {
    let mut body = response.into_body();
    let mut kept = BytesMut::new();
    let mut seen = 0usize;
    while let Ok(Some(Ok(frame))) = timeout_at(until, body.frame()).await {
        let Ok(data) = frame.into_data() else { continue };
        seen = seen.saturating_add(data.len());
        let room = ANSWER_KEPT.saturating_sub(kept.len()).min(data.len());
        kept.extend_from_slice(&data.slice(..room));
        if seen > ANSWER_READ {
            break;
        }
    }
    kept.freeze()
}

/// Why there was no answer. The interesting word stands at the bottom of a chain of errors.
fn broken(error: &hyper_util::client::legacy::Error) -> String {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    let mut last = error.to_string();
    while let Some(e) = cause {
        if let Some(refused) = e.downcast_ref::<Refused>() {
            return format!("not sent: {refused}");
        }
        if let Some(e) = e.downcast_ref::<hyper::Error>() {
            last = in_transfer(e).unwrap_or(last);
        }
        if let Some(e) = e.downcast_ref::<io::Error>() {
            return on_socket(e, error.is_connect());
        }
        if let Some(e) = e.downcast_ref::<rustls::Error>() {
            return format!("not sent: the TLS connection failed: {e}");
        }
        if e.source().is_none() && !e.is::<hyper::Error>() {
            last = e.to_string();
        }
        cause = e.source();
    }
    if error.is_connect() { format!("not sent: {last}") } else { last }
}

fn in_transfer(error: &hyper::Error) -> Option<String> {
    match () {
        () if error.is_parse_too_large() => Some("the answer's head is too large".into()),
        () if error.is_parse() || error.is_parse_status() => Some("the answer is no HTTP".into()),
        () if error.is_incomplete_message() => {
            Some("the connection was closed before an answer; it may have arrived".into())
        }
        () => None,
    }
}

fn on_socket(error: &io::Error, connecting: bool) -> String {
    if let Some(tls) = tls(error) {
        return format!("not sent: the TLS connection failed: {tls}");
    }
    match (error.kind(), connecting) {
        (io::ErrorKind::ConnectionRefused, _) => "not sent: the connection was refused".into(),
        (io::ErrorKind::TimedOut, true) => "not sent: no connection in time".into(),
        (_, true) => format!("not sent: {error}"),
        (io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe, false) => {
            "the connection was reset before an answer; it may have arrived".into()
        }
        (_, false) => format!("{error}; it may have arrived"),
    }
}

/// The connector wraps what TLS says in one error of the socket, and that in another.
fn tls(error: &io::Error) -> Option<&rustls::Error> {
    let inner = error.get_ref()?;
    inner.downcast_ref::<rustls::Error>().or_else(|| tls(inner.downcast_ref::<io::Error>()?))
}

fn seconds(limit: Duration) -> String {
    format!("{} s", limit.as_millis() as f64 / 1_000.0)
}
