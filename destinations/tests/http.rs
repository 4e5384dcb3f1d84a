//! The `http` destination over real sockets: the suite of all destinations, then what is HTTP's own.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use hookonce_core::delivery::Outcome;
use hookonce_core::destination::{Destination, Sent};
use hookonce_core::signature::{Keys, Secret, catalog};
use hookonce_destinations::guard::{Guard, Lookup};
use hookonce_destinations::http::{Config, Http};
use hookonce_destinations::testkit::receiver::{Receiver, Reply};
use hookonce_destinations::testkit::suite::{self, Arrived, Behaviour, Subject, message};
use tokio::net::TcpSocket;

const WITHIN: Duration = Duration::from_secs(5);

struct OverHttp {
    http: Http,
    receiver: Receiver,
    /// A port that nobody listens on, and that nobody else can get.
    _nobody: Option<TcpSocket>,
}

impl Subject for OverHttp {
    fn destination(&self) -> &dyn Destination {
        &self.http
    }

    fn arrived(&self, count: usize) -> BoxFuture<'_, Vec<Arrived>> {
        Box::pin(async move {
            let requests = self.receiver.arrived(count).await;
            let arrived =
                requests.iter().map(|r| Arrived { id: r.header("webhook-id").unwrap().into(), body: r.body.clone() });
            arrived.collect()
        })
    }
}

fn open(url: String) -> Http {
    Http::new(Config { allow_private: true, ..Config::new(url) }).unwrap()
}

fn make(behaviour: Behaviour) -> BoxFuture<'static, Box<dyn Subject>> {
    Box::pin(async move {
        let reply = match behaviour {
            Behaviour::Takes => Reply::Status(204),
            Behaviour::Fails => Reply::Status(500),
            Behaviour::Silent => Reply::Silence,
            Behaviour::Breaks | Behaviour::NotThere => Reply::Reset,
        };
        let receiver = Receiver::start(move |_, _| reply.clone()).await.unwrap();
        let nobody = (behaviour == Behaviour::NotThere).then(|| TcpSocket::new_v4().unwrap());
        let url = match &nobody {
            None => receiver.url(),
            Some(socket) => {
                socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
                format!("http://{}/", socket.local_addr().unwrap())
            }
        };
        Box::new(OverHttp { http: open(url), receiver, _nobody: nobody }) as Box<dyn Subject>
    })
}

#[tokio::test]
async fn what_is_taken_is_done_with_its_own_bytes() {
    suite::what_is_taken_is_done_with_its_own_bytes(&make).await;
}

#[tokio::test]
async fn x23_a_repeat_is_recognised() {
    suite::a_repeat_is_recognised(&make).await;
}

#[tokio::test]
async fn nobody_there_is_a_failure_in_words() {
    suite::nobody_there_is_a_failure_in_words(&make).await;
}

#[tokio::test]
async fn a_try_can_be_given_up() {
    suite::a_try_can_be_given_up(&make).await;
}

async fn sent(reply: Reply) -> Sent {
    let receiver = Receiver::start(move |_, _| reply.clone()).await.unwrap();
    open(receiver.url()).send(message("m1", b"body"), WITHIN).await
}

fn reason(sent: Sent) -> String {
    match sent.outcome {
        Outcome::Retry { reason, .. } => reason,
        other => panic!("{other:?}"),
    }
}

/// X22, X23, S25: an answer that never ends, ends early or is none costs a bounded time and memory.
#[tokio::test]
async fn x22_strange_answers_end_and_are_named() {
    let head = |rest: &str| format!("HTTP/1.1 {rest}").into_bytes();
    for (reply, want) in [
        (Reply::Reset, "the connection was reset before an answer; it may have arrived"),
        (Reply::Raw(Vec::new()), "the connection was closed before an answer; it may have arrived"),
        (Reply::Raw(head("200 O")), "the connection was closed before an answer; it may have arrived"),
        (Reply::Raw(b"SSH-2.0-x\r\n\r\n".to_vec()), "the answer is no HTTP"),
        (Reply::Endless(head("200 OK\r\nx: y")), "the answer's head is too large"),
        (Reply::Endless(head("500 No\r\n\r\nab")), &format!("answered 500: a{}", "b".repeat(299))),
        (Reply::Raw(head("500 No\r\ncontent-length: 9\r\n\r\nshort")), "answered 500: short"),
        (Reply::Stall(head("500 No\r\ncontent-length: 9\r\n\r\nshort")), "answered 500: short"),
        (Reply::Raw(head("100 Continue\r\n\r\nHTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n")), "answered 500"),
    ] {
        assert_eq!(reason(sent(reply.clone()).await), want, "{reply:?}");
    }
}

/// The head has said it: a body that drips, lies or breaks does not undo a 2xx.
#[tokio::test]
async fn x22_a_2xx_counts_whatever_its_body_does() {
    let head = |rest: &str| format!("HTTP/1.1 200 OK\r\n{rest}").into_bytes();
    for reply in [
        Reply::Endless(head("\r\nx")),
        Reply::Raw(head("content-length: 9\r\n\r\nshort")),
        Reply::Stall(head("content-length: 9\r\n\r\nshort")),
        Reply::Stall(head("transfer-encoding: chunked\r\n\r\n5\r\nab")),
    ] {
        assert_eq!(sent(reply.clone()).await, Sent::from(Outcome::Done), "{reply:?}");
    }
}

#[tokio::test]
async fn a_receiver_that_says_nothing_ends_with_the_time_that_was_given() {
    let receiver = Receiver::start(|_, _| Reply::Silence).await.unwrap();
    let http =
        Http::new(Config { allow_private: true, timeout: Duration::from_millis(150), ..Config::new(receiver.url()) });
    let said = reason(http.unwrap().send(message("m1", b"x"), WITHIN).await);
    assert_eq!(said, "no answer within 0.15 s; it may have arrived");
    let said = reason(open(receiver.url()).send(message("m1", b"x"), Duration::from_millis(50)).await);
    assert_eq!(said, "no answer within 0.05 s; it may have arrived");
}

/// S23: a redirect is an answer like another.
#[tokio::test]
async fn s23_redirects_are_not_followed() {
    let inside = Receiver::start(|_, _| Reply::Status(200)).await.unwrap();
    let url = inside.url();
    let outside =
        Receiver::start(move |_, _| Reply::Full(302, vec![("location", url.clone())], Bytes::new())).await.unwrap();
    let said = reason(open(outside.url()).send(message("m1", b"x"), WITHIN).await);
    assert_eq!(said, "answered 302 (redirects are not followed)");
    assert!(inside.requests().is_empty());
}

#[tokio::test]
async fn connections_are_used_again() {
    let receiver = Receiver::start(|_, _| Reply::Full(200, vec![], Bytes::from_static(b"ok"))).await.unwrap();
    let http = open(receiver.url());
    for _ in 0..3 {
        assert_eq!(http.send(message("m1", b"x"), WITHIN).await, Sent::from(Outcome::Done));
    }
    assert_eq!(receiver.connections(), 1);
}

/// S22: the socket goes to what was judged, and every connection is judged again.
#[tokio::test]
async fn s22_a_name_that_rebinds_is_refused_at_the_socket() {
    struct Says(&'static str);
    impl Lookup for Says {
        fn lookup(&self, _: &str) -> BoxFuture<'static, std::io::Result<Vec<std::net::IpAddr>>> {
            let ip = self.0.parse().unwrap();
            Box::pin(async move { Ok(vec![ip]) })
        }
    }
    let receiver = Receiver::start(|_, _| Reply::Status(200)).await.unwrap();
    let url = format!("http://public.example:{}/", receiver.address.port());
    let to = |allow_private| {
        let guard = Guard::with_lookup(allow_private, Arc::new(Says("127.0.0.1")));
        Http::guarded(Config::new(url.clone()), guard).unwrap()
    };
    let said = reason(to(false).send(message("m1", b"x"), WITHIN).await);
    assert!(said.starts_with("not sent: `public.example (127.0.0.1)` is a loopback address"), "{said}");
    assert!(receiver.requests().is_empty());
    assert_eq!(to(true).send(message("m1", b"x"), WITHIN).await, Sent::from(Outcome::Done));
}

/// What the receiver is told, and that it can verify it.
#[tokio::test]
async fn a_forward_carries_its_id_and_our_signature() {
    let receiver = Receiver::start(|_, _| Reply::Status(200)).await.unwrap();
    let secret = Secret::new("app", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    let scheme = catalog::provider("standard-webhooks").unwrap().schemes[0];
    let sign = Some(Keys::new(scheme, &[secret]).unwrap());
    let http = Http::new(Config { allow_private: true, sign, ..Config::new(receiver.url()) }).unwrap();
    http.send(message("m1", b"{\"test\": 2432232314}"), WITHIN).await;
    let request = &receiver.requests()[0];
    assert_eq!(request.line, "POST /hook HTTP/1.1");
    assert_eq!(request.header("webhook-id"), Some("m1"));
    assert_eq!(request.header("idempotency-key"), Some("m1"));
    assert_eq!(request.header("webhook-timestamp"), Some("1700000000"));
    assert_eq!(request.header("x-original"), Some("1"));
    assert_eq!(request.header("accept-encoding"), None);
    assert!(request.header("user-agent").unwrap().starts_with("hookonce/"));
    // HMAC-SHA256 of `m1.1700000000.{"test": 2432232314}`, computed outside this program.
    assert_eq!(request.header("webhook-signature"), Some("v1,XFfTr1C+iyWoLs+V6qOWRhGT0m0EWT3iWpo6Uw6NuvY="));
}
