//! Framing that two readers could understand differently (S15, S16, F04 5): refused, and nothing behind it is served.

use crate::bed::{Bed, Peer, gh, push, signature};

const BODY: &[u8] = b"{}";

/// A head with what every good push has, the lines in question, and what stands behind it.
fn raw(line: &str, lines: &[&str], rest: &[u8]) -> Vec<u8> {
    let signature = signature(BODY);
    let mut text =
        format!("{line}\r\nX-GitHub-Delivery: d-1\r\nX-GitHub-Event: push\r\nX-Hub-Signature-256: {signature}\r\n");
    for line in lines {
        text += line;
        text += "\r\n";
    }
    text += "\r\n";
    [text.as_bytes(), rest].concat()
}

/// Sends it and a good push behind it; answers the status, and whether the connection ended without a second answer.
async fn smuggle(bed: &Bed, request: &[u8]) -> (u16, bool) {
    let mut peer: Peer = bed.peer().await;
    peer.send(&[request, &push("/in/gh", "smuggled", BODY)].concat()).await;
    let status = peer.answer().await.map_or(0, |answer| answer.status);
    (status, peer.is_closed().await)
}

const POST: &str = "POST /in/gh HTTP/1.1";
const HOST: &str = "Host: hooks.test";

#[tokio::test]
async fn s15_framing_in_doubt_is_refused_and_the_second_request_never_served() {
    let chunked = b"2\r\n{}\r\n0\r\n\r\n";
    let long = format!("{}\r\n{{}}\r\n0\r\n\r\n", "f".repeat(17));
    let table: &[(&str, &str, &[&str], &[u8])] = &[
        ("two different lengths", POST, &[HOST, "Content-Length: 2", "Content-Length: 3"], BODY),
        ("a list of lengths", POST, &[HOST, "Content-Length: 2, 2"], BODY),
        ("a length with a sign", POST, &[HOST, "Content-Length: +2"], BODY),
        ("a negative length", POST, &[HOST, "Content-Length: -2"], BODY),
        ("a length in hex", POST, &[HOST, "Content-Length: 0x2"], BODY),
        ("a length beyond all numbers", POST, &[HOST, "Content-Length: 99999999999999999999"], BODY),
        ("an unknown transfer coding", POST, &[HOST, "Transfer-Encoding: zz9"], chunked),
        ("chunked not last", POST, &[HOST, "Transfer-Encoding: chunked, gzip"], chunked),
        ("chunked not alone", POST, &[HOST, "Transfer-Encoding: gzip, chunked"], chunked),
        ("chunked twice", POST, &[HOST, "Transfer-Encoding: chunked", "Transfer-Encoding: chunked"], chunked),
        (
            "identity behind chunked",
            POST,
            &[HOST, "Transfer-Encoding: chunked", "Transfer-Encoding: identity"],
            chunked,
        ),
        ("chunked in 1.0", "POST /in/gh HTTP/1.0", &[HOST, "Transfer-Encoding: chunked"], chunked),
        ("a blank before the colon", POST, &[HOST, "Content-Length : 2"], BODY),
        ("a folded line", POST, &[HOST, "X-Folded: a", " b", "Content-Length: 2"], BODY),
        ("NUL in a value", POST, &[HOST, "X-Nul: a\0b", "Content-Length: 2"], BODY),
        ("CR in a value", POST, &[HOST, "X-Cr: a\rb", "Content-Length: 2"], BODY),
        ("a bare LF behind a chunk's size", POST, &[HOST, "Transfer-Encoding: chunked"], b"2\n{}\r\n0\r\n\r\n"),
        ("a bare LF behind a chunk", POST, &[HOST, "Transfer-Encoding: chunked"], b"2\r\n{}\n0\r\n\r\n"),
        ("a chunk longer than it says", POST, &[HOST, "Transfer-Encoding: chunked"], b"1\r\n{}\r\n0\r\n\r\n"),
        ("a chunk's size with a sign", POST, &[HOST, "Transfer-Encoding: chunked"], b"+2\r\n{}\r\n0\r\n\r\n"),
        ("a chunk's size beyond all numbers", POST, &[HOST, "Transfer-Encoding: chunked"], long.as_bytes()),
        ("no Host", POST, &["Content-Length: 2"], BODY),
        ("an empty Host", POST, &["Host:", "Content-Length: 2"], BODY),
        ("two Hosts", POST, &[HOST, "Host: other.test", "Content-Length: 2"], BODY),
        ("the same Host twice", POST, &[HOST, HOST, "Content-Length: 2"], BODY),
        ("two Hosts in one line", POST, &["Host: hooks.test, other.test", "Content-Length: 2"], BODY),
        ("no Host in 1.0", "POST /in/gh HTTP/1.0", &["Content-Length: 2"], BODY),
    ];
    let bed = Bed::new(vec![gh()]);
    for (what, line, lines, rest) in table {
        let (status, closed) = smuggle(&bed, &raw(line, lines, rest)).await;
        assert_eq!((status, closed), (400, true), "{what}");
        assert!(bed.memory.stored().is_empty(), "{what}: something was stored");
    }
}

#[tokio::test]
async fn f04_5_length_and_chunked_is_chunked_and_the_connection_ends() {
    for lines in
        [["Transfer-Encoding: chunked", "Content-Length: 5"], ["Content-Length: 5", "Transfer-Encoding: chunked"]]
    {
        let bed = Bed::new(vec![gh()]);
        let request = raw(POST, &[HOST, lines[0], lines[1]], b"2\r\n{}\r\n0\r\n\r\n");
        assert_eq!(smuggle(&bed, &request).await, (200, true), "{lines:?}");
        let stored = bed.memory.stored();
        assert_eq!(stored.len(), 1, "{lines:?}: what stood behind it was served");
        assert_eq!(&stored[0].body[..], BODY);
    }
}

#[tokio::test]
async fn requests_one_behind_the_other_are_each_served() {
    let bed = Bed::new(vec![gh()]);
    let mut peer = bed.peer().await;
    peer.send(&[push("/in/gh", "d-1", BODY), push("/in/gh/", "d-2", BODY)].concat()).await;
    for _ in 0..2 {
        assert_eq!(peer.answer().await.map(|answer| answer.status), Some(200));
    }
    assert_eq!(bed.memory.stored().len(), 2);
}
