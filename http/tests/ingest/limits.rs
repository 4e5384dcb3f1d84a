//! Sizes: of bodies, of heads, of all buffers together (F04, S14).

use hookonce_http::Limits;
use tokio::io::AsyncWriteExt as _;

use crate::bed::{Bed, gh, push, signature};

const MIB: usize = 1024 * 1024;

/// JSON of exactly so many bytes.
fn json(length: usize) -> Vec<u8> {
    format!("{{\"pad\":\"{}\"}}", "x".repeat(length - 10)).into_bytes()
}

fn head(lines: &str, signature: &str) -> Vec<u8> {
    format!(
        "POST /in/gh HTTP/1.1\r\nHost: h\r\nX-GitHub-Delivery: d-1\r\nX-Hub-Signature-256: {signature}\r\n{lines}\r\n\r\n"
    )
    .into_bytes()
}

fn large() -> Bed {
    let mut source = gh();
    source.max_body = 26_214_400;
    Bed::new(vec![source])
}

#[tokio::test]
async fn f04_1_2_a_body_of_exactly_the_limit_and_one_byte_more() {
    let bed = large();
    let body = json(26_214_400);
    assert_eq!(bed.push("d-1", &body).await.status, 200);
    assert!(bed.memory.stored()[0].body == body);

    let mut peer = bed.peer().await;
    peer.send(&head("Content-Length: 26214401", "sha256=00")).await;
    assert_eq!(peer.answer().await.map(|a| a.status), Some(413), "said before a byte of it was sent");
    assert!(peer.is_closed().await);
}

#[tokio::test]
async fn f04_3_a_chunked_body_without_length() {
    let bed = large();
    let body = json(300_000);
    let mut peer = bed.peer().await;
    peer.send(&head("Transfer-Encoding: chunked", &signature(&body))).await;
    for chunk in body.chunks(1000) {
        peer.send(&[format!("{:x}\r\n", chunk.len()).as_bytes(), chunk, b"\r\n"].concat()).await;
    }
    peer.send(b"0\r\n\r\n").await;
    assert_eq!(peer.answer().await.map(|a| a.status), Some(200));
    assert!(bed.memory.stored()[0].body == body);
}

#[tokio::test]
async fn f04_4_a_body_without_end_is_cut_as_soon_as_it_is_too_long() {
    let bed = Bed::new(vec![gh()]);
    let mut peer = bed.peer().await;
    peer.send(&head("Transfer-Encoding: chunked", "sha256=00")).await;
    let chunk = [b"10000\r\n".as_slice(), &[b'x'; 0x10000], b"\r\n"].concat();
    let mut sent = 0;
    while peer.stream.write_all(&chunk).await.is_ok() {
        sent += 0x10000;
        // What the sockets hold may go beyond the limit, what we buffer not: the budget alone would stop far later.
        assert!(sent < 32 * MIB, "nobody stops us");
    }
    assert!(bed.memory.stored().is_empty());
    assert_eq!(bed.push("d-2", b"{}").await.status, 200);
}

#[tokio::test]
async fn f04_6_a_body_that_breaks_off_stores_nothing() {
    let bed = Bed::new(vec![gh()]);
    let mut peer = bed.peer().await;
    peer.send(&head("Content-Length: 1000", &signature(&json(400)))).await;
    peer.send(&json(400)).await;
    peer.stream.shutdown().await.unwrap();
    assert!(peer.answer().await.is_none_or(|answer| answer.status == 400));
    assert!(bed.memory.stored().is_empty());
}

#[tokio::test]
async fn f04_7_the_default_takes_ordinary_pushes() {
    let bed = Bed::new(vec![gh()]);
    assert_eq!(bed.push("d-1", &json(MIB)).await.status, 200);
    assert_eq!(bed.push("d-2", &json(MIB + 1)).await.status, 413);
}

#[tokio::test]
async fn heads_have_an_end() {
    let bed = Bed::new(vec![gh()]);
    let lines = |count: usize, length: usize| {
        let line = |n| format!("X-{n}: {}\r\n", "v".repeat(length));
        (0..count).map(line).collect::<String>() + "Content-Length: 0"
    };
    // Three lines are there already, and the length.
    for (what, lines, wanted) in [
        ("the last line", lines(60, 1), 401),
        ("one line more", lines(61, 1), 431),
        ("a long head", lines(15, 1000), 401),
        ("a head too long", lines(17, 1000), 431),
        ("a line too long", lines(1, 17 * 1024), 431),
    ] {
        assert_eq!(bed.ask(&head(&lines, "sha256=00")).await.status, wanted, "{what}");
    }
    let path = format!("/in/{}", "x".repeat(70_000));
    let status = bed.ask(&push(&path, "d-1", b"{}")).await.status;
    assert!([414, 431].contains(&status), "{status}");
}

#[tokio::test]
async fn bodies_of_all_senders_share_one_buffer_and_a_declared_length_takes_none_of_it() {
    let limits = Limits { max_buffered: 4 * MIB, ..Limits::default() };
    let mut other = gh();
    other.name = "other".into();
    let bed = Bed::with(vec![gh(), other], limits);
    // Many who announce much and send little leave room for everybody.
    let mut silent = Vec::new();
    for _ in 0..20 {
        let mut peer = bed.peer().await;
        peer.send(&head("Content-Length: 1048576", "sha256=00")).await;
        silent.push(peer);
    }
    assert_eq!(bed.push("d-1", &json(MIB)).await.status, 200);

    // What is in memory counts until its commit is over.
    let free = bed.memory.commits.forget_permits(usize::MAX);
    let mut waiting = Vec::new();
    for n in 0..2 {
        let mut peer = bed.peer().await;
        peer.send(&push("/in/gh", &format!("w-{n}"), &json(MIB))).await;
        bed.memory.begun.acquire().await.unwrap().forget();
        waiting.push(peer);
    }
    bed.memory.begun.acquire().await.unwrap().forget();
    let full = bed.push("d-2", &json(MIB)).await;
    assert_eq!((full.status, full.header("retry-after")), (503, Some("5")), "the source has its share");
    let mut peer = bed.peer().await;
    peer.send(&push("/in/other", "d-3", b"{}")).await;
    bed.memory.begun.acquire().await.unwrap().forget();

    bed.memory.commits.add_permits(free);
    assert_eq!(peer.answer().await.map(|a| a.status), Some(200), "the other source has its own");
    for mut peer in waiting {
        assert_eq!(peer.answer().await.map(|a| a.status), Some(200));
    }
    assert_eq!(bed.push("d-2", &json(MIB)).await.status, 200);
}

#[tokio::test]
async fn slow_bodies_together_stay_within_the_buffers() {
    const SENT: usize = 64 * 1024;
    let bed = Bed::with(vec![gh()], Limits { max_buffered: 2 * MIB, ..Limits::default() });
    let mut uploads = Vec::new();
    for _ in 0..64 {
        let mut peer = bed.peer().await;
        peer.send(&head("Content-Length: 1000000", "sha256=00")).await;
        peer.send(&[b' '; SENT]).await;
        uploads.push(Box::pin(async move { peer.answer().await.map(|answer| answer.status) }));
    }
    // Half of it is the source's share: so many bodies fit, all others are sent away without the rest.
    let fit = MIB / SENT;
    for _ in fit..64 {
        let (status, _, others) = futures_util::future::select_all(uploads).await;
        assert_eq!(status, Some(503));
        uploads = others;
    }
    drop(uploads);
}

#[tokio::test]
async fn a_sender_that_asks_first_is_told_to_go_on_or_not() {
    let bed = Bed::new(vec![gh()]);
    let mut peer = bed.peer().await;
    peer.send(&head("Expect: 100-continue\r\nContent-Length: 1048577", "sha256=00")).await;
    assert_eq!(peer.answer().await.map(|a| a.status), Some(413));
    let mut peer = bed.peer().await;
    peer.send(&head("Expect: 100-continue\r\nContent-Length: 2", &signature(b"{}"))).await;
    peer.send(b"{}").await;
    assert_eq!(peer.answer().await.map(|a| a.status), Some(200));
}
