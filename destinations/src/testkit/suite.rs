//! What every destination must do, as plain functions over the trait. A kind of destination brings a [`Subject`]: how
//! to reach a receiver that answers in one of the ways below, and what has arrived there.

use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use hookonce_core::delivery::Outcome;
use hookonce_core::destination::{Destination, Sent};
use hookonce_core::message::Message;
use hookonce_core::request::Headers;
use http::{HeaderName, HeaderValue};

/// How the other side behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behaviour {
    Takes,
    Fails,
    /// Did it, and says nothing.
    Silent,
    /// Did it, and the link breaks before it says so.
    Breaks,
    NotThere,
}

/// What arrived: the id that a receiver knows a repeat by, and the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrived {
    pub id: String,
    pub body: Bytes,
}

/// One kind of destination, in front of something that behaves so.
pub trait Subject: Send + Sync {
    fn destination(&self) -> &dyn Destination;
    /// Ends when so many have arrived.
    fn arrived(&self, count: usize) -> BoxFuture<'_, Vec<Arrived>>;
}

/// Makes a subject.
pub type Make = dyn Fn(Behaviour) -> BoxFuture<'static, Box<dyn Subject>> + Send + Sync;

const WITHIN: Duration = Duration::from_secs(5);
/// What a try may take whose answer never comes.
const SHORT: Duration = Duration::from_secs(1);

pub fn message(id: &str, body: &'static [u8]) -> Message {
    let header = (HeaderName::from_static("x-original"), HeaderValue::from_static("1"));
    Message {
        id: id.to_owned(),
        headers: Headers(vec![header]),
        body: Bytes::from_static(body),
        at: 1_700_000_000_000_000,
    }
}

pub async fn what_is_taken_is_done_with_its_own_bytes(make: &Make) {
    let subject = make(Behaviour::Takes).await;
    for body in [&b"{\"a\": 1.0,  \"a\":2}\r\n"[..], b"", b"\0\xff\xfe", "é\u{2028}".as_bytes()] {
        let sent = subject.destination().send(message("m1", body), WITHIN).await;
        assert_eq!(sent, Sent::from(Outcome::Done));
    }
    let arrived = subject.arrived(4).await;
    let bodies: Vec<&[u8]> = arrived.iter().map(|a| &*a.body).collect();
    assert_eq!(bodies, [&b"{\"a\": 1.0,  \"a\":2}\r\n"[..], b"", b"\0\xff\xfe", "é\u{2028}".as_bytes()]);
}

/// X23: whatever ends a try, the next one carries the same id and the same bytes.
pub async fn a_repeat_is_recognised(make: &Make) {
    for behaviour in [Behaviour::Fails, Behaviour::Silent, Behaviour::Breaks] {
        let subject = make(behaviour).await;
        for _ in 0..2 {
            let within = if behaviour == Behaviour::Silent { SHORT } else { WITHIN };
            let sent = subject.destination().send(message("m1", b"body"), within).await;
            retried(behaviour, &sent);
        }
        let arrived = subject.arrived(2).await;
        assert_eq!(arrived[0], arrived[1], "{behaviour:?}");
        assert_eq!(arrived[0], Arrived { id: "m1".into(), body: Bytes::from_static(b"body") });
    }
}

pub async fn nobody_there_is_a_failure_in_words(make: &Make) {
    let subject = make(Behaviour::NotThere).await;
    let sent = subject.destination().send(message("m1", b"body"), WITHIN).await;
    let reason = retried(Behaviour::NotThere, &sent);
    assert!(reason.starts_with("not sent: "), "{reason}");
}

/// A try that is given up from outside leaves the destination as good as before.
pub async fn a_try_can_be_given_up(make: &Make) {
    let subject = make(Behaviour::Silent).await;
    let destination = subject.destination();
    tokio::select! {
        biased;
        sent = destination.send(message("m1", b"body"), WITHIN) => panic!("{sent:?}"),
        _ = subject.arrived(1) => {}
    }
    let sent = destination.send(message("m2", b"body"), SHORT).await;
    retried(Behaviour::Silent, &sent);
    assert_eq!(subject.arrived(2).await[1].id, "m2");
}

fn retried(behaviour: Behaviour, sent: &Sent) -> &str {
    match &sent.outcome {
        Outcome::Retry { reason, .. } if !reason.is_empty() => reason,
        other => panic!("{behaviour:?}: {other:?}"),
    }
}
