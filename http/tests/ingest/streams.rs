//! HTTP/2, for who begins with it: the same service, and floods that end their connection (S17).

use std::time::Duration;

use bytes::Bytes;
use hookonce_http::Limits;
use http::{Request, Version};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::bed::{Bed, Peer, gh, signature};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

fn push(id: &str, version: Version) -> Request<Full<Bytes>> {
    let request = Request::post("http://hooks.test/in/gh").version(version).header("X-GitHub-Delivery", id);
    request.header("X-Hub-Signature-256", signature(b"{}")).body(Full::from("{}")).unwrap()
}

#[tokio::test]
async fn streams_of_one_connection_are_served_at_once_and_drained() {
    let bed = Bed::new(vec![gh()]);
    let stream = TcpStream::connect(bed.address).await.unwrap();
    let (mut sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    let connection = tokio::spawn(connection);
    let free = bed.memory.commits.forget_permits(usize::MAX);
    let asked: Vec<_> = (0..20).map(|n| sender.send_request(push(&format!("d-{n}"), Version::HTTP_2))).collect();
    let answers = tokio::spawn(futures_util::future::join_all(asked));
    bed.memory.begun.acquire_many(20).await.unwrap().forget();
    bed.memory.commits.add_permits(free);
    for answer in answers.await.unwrap() {
        let answer = answer.unwrap();
        assert_eq!((answer.status().as_u16(), answer.version()), (200, Version::HTTP_2));
        assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), "");
    }
    assert_eq!(bed.memory.events(), 20);
    assert_eq!(bed.server.drain(Duration::from_secs(60)).await, 0, "an idle connection is no reason to wait");
    connection.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_peer_that_answers_no_farewell_does_not_hold_the_drain() {
    let long = Duration::from_secs(3600);
    let bed =
        Bed::with(vec![gh()], Limits { first_byte: long, head: long, body: long, idle: long, ..Limits::default() });
    let mut peer = bed.peer().await;
    let head = fields(&[(":method", "POST"), (":scheme", "http"), (":path", "/in/none"), (":authority", "h")]);
    let request = frame(HEADERS, END_HEADERS | END_STREAM, 1, &head);
    peer.send(&[PREFACE, &frame(SETTINGS, 0, 0, &[]), &request].concat()).await;
    peer.until(b"Not Found").await;
    let drained = tokio::time::timeout(Duration::from_secs(60), bed.server.drain(long)).await;
    assert_eq!(drained, Ok(0));
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Literal fields, each as it is.
fn fields(list: &[(&str, &str)]) -> Vec<u8> {
    let text = |text: &str| [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
    list.iter().flat_map(|(name, value)| [vec![0], text(name), text(value)].concat()).collect()
}

fn head() -> Vec<u8> {
    fields(&[(":method", "POST"), (":scheme", "http"), (":path", "/in/gh"), (":authority", "h")])
}

/// Sends what `flood` makes, frame group by frame group, until the server has had enough; then it still serves others.
async fn ends(limits: Limits, flood: impl Fn(u32) -> Vec<u8>) {
    let bed = Bed::with(vec![gh()], limits);
    let Peer { stream, .. } = bed.peer().await;
    let (mut read, mut write) = stream.into_split();
    // Somebody has to read, or the server waits for us.
    let reading = tokio::spawn(async move { tokio::io::copy(&mut read, &mut tokio::io::sink()).await });
    write.write_all(PREFACE).await.unwrap();
    write.write_all(&frame(SETTINGS, 0, 0, &[])).await.unwrap();
    let mut sent = 0;
    while write.write_all(&flood(sent)).await.is_ok() {
        sent += 1;
        assert!(sent < 1_000_000, "nobody stops us");
    }
    let _ = reading.await.unwrap();
    assert!(bed.memory.stored().is_empty());
    assert_eq!(bed.push("d-1", b"{}").await.status, 200);
}

#[tokio::test]
async fn s17_rapid_resets() {
    ends(Limits::default(), |n| {
        let stream = 2 * n + 1;
        [frame(HEADERS, END_HEADERS, stream, &head()), frame(RST_STREAM, 0, stream, &8u32.to_be_bytes())].concat()
    })
    .await;
}

#[tokio::test]
async fn s17_a_head_without_end() {
    ends(Limits::default(), |n| match n {
        0 => frame(HEADERS, 0, 1, &head()),
        n => frame(CONTINUATION, 0, 1, &fields(&[(&format!("x-{n}"), &"v".repeat(100))])),
    })
    .await;
}

#[tokio::test]
async fn s17_headers_beyond_the_limit() {
    // Each is answered by itself; as no request ever begins, the time for a head is over some day.
    let short = Limits { head: Duration::from_millis(100), ..Limits::default() };
    ends(short, |n| {
        let long = "v".repeat(100);
        let lines: Vec<(&str, &str)> = (0..160).map(|_| ("x-line", &*long)).collect();
        let block = [head(), fields(&lines)].concat();
        let (first, rest) = block.split_at(16_000);
        let stream = 2 * n + 1;
        [frame(HEADERS, END_STREAM, stream, first), frame(CONTINUATION, END_HEADERS, stream, rest)].concat()
    })
    .await;
}

#[tokio::test]
async fn s17_empty_data_without_end() {
    ends(Limits::default(), |n| match n {
        0 => frame(HEADERS, END_HEADERS, 1, &head()),
        _ => frame(DATA, 0, 1, &[]).repeat(100),
    })
    .await;
}
