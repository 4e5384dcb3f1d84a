//! Slow, silent and idle connections, and a drain through all of them (F24, S13). Limits are short and the order of
//! what happens decides, not how long it took.

use std::time::Duration;

use hookonce_http::{Limits, Source};
use tokio::net::TcpStream;

use crate::bed::{Bed, Peer, gh, push, signature};

const SHORT: Duration = Duration::from_millis(100);
/// Never reached in a test.
const LONG: Duration = Duration::from_secs(3600);

fn patient() -> Limits {
    Limits { first_byte: LONG, head: LONG, body: LONG, idle: LONG, ..Limits::default() }
}

/// Drips and reads at once; answers the status, if one came before the end.
async fn dripped(bed: &Bed, start: &[u8], drops: &[u8]) -> Option<u16> {
    let mut reader = bed.peer().await;
    reader.send(start).await;
    let (read, write) = reader.stream.into_split();
    let mut writer = write;
    let writing = tokio::spawn({
        let drops = drops.to_vec();
        async move {
            let mut every = tokio::time::interval(Duration::from_millis(10));
            for byte in drops.iter().cycle() {
                every.tick().await;
                if tokio::io::AsyncWriteExt::write_all(&mut writer, &[*byte]).await.is_err() {
                    return;
                }
            }
        }
    });
    let mut bytes = Vec::new();
    let mut read = read;
    let _ = tokio::io::AsyncReadExt::read_to_end(&mut read, &mut bytes).await;
    writing.abort();
    String::from_utf8_lossy(&bytes).split(' ').nth(1).and_then(|status| status.parse().ok())
}

#[tokio::test]
async fn f24_i_a_silent_connection_is_closed() {
    let bed = Bed::with(vec![gh()], Limits { first_byte: SHORT, ..patient() });
    assert!(bed.peer().await.is_closed().await);
}

#[tokio::test]
async fn f24_ii_a_head_that_drips_is_closed_although_it_goes_on() {
    let bed = Bed::with(vec![gh()], Limits { head: SHORT, ..patient() });
    assert_eq!(dripped(&bed, b"POST /in/gh HTTP/1.1\r\nX-Slow: ", b"x").await, None);
    assert_eq!(dripped(&bed, b"", b"P").await, None);
    let mut half = bed.peer().await;
    half.send(b"POST /in").await;
    assert!(half.is_closed().await, "and one that stops");
    assert_eq!(bed.push("d-1", b"{}").await.status, 200);
}

#[tokio::test]
async fn f24_iii_a_body_that_drips_is_a_408() {
    let bed = Bed::with(vec![gh()], Limits { body: SHORT, ..patient() });
    let head = format!("POST /in/gh HTTP/1.1\r\nHost: h\r\nX-Hub-Signature-256: {}\r\n", signature(b"{}"));
    assert_eq!(dripped(&bed, format!("{head}Content-Length: 100000\r\n\r\n").as_bytes(), b" ").await, Some(408));
    let chunked = format!("{head}Transfer-Encoding: chunked\r\n\r\n");
    assert_eq!(dripped(&bed, chunked.as_bytes(), b"1\r\n \r\n").await, Some(408));
    assert!(bed.memory.stored().is_empty());
}

#[tokio::test]
async fn f24_iv_an_idle_connection_is_closed_and_a_busy_one_is_not() {
    let bed = Bed::with(vec![gh()], Limits { idle: SHORT, ..patient() });
    let free = bed.memory.commits.forget_permits(usize::MAX);
    let mut peer = bed.peer().await;
    peer.send(&push("/in/gh", "d-1", b"{}")).await;
    bed.memory.begun.acquire().await.unwrap().forget();
    // Another connection lives and dies of idleness while the first one waits for its commit.
    let mut other = bed.peer().await;
    other.send(&push("/in/none", "d-2", b"{}")).await;
    assert_eq!(other.answer().await.map(|a| a.status), Some(404));
    assert!(other.is_closed().await);

    bed.memory.commits.add_permits(free);
    assert_eq!(peer.answer().await.map(|a| a.status), Some(200));
    assert!(peer.is_closed().await);
}

#[tokio::test]
async fn http2_a_preface_and_silence_is_closed() {
    let bed = Bed::with(vec![gh()], Limits { head: SHORT, ..patient() });
    for start in [
        &b"PRI * HTTP/2.0\r\n"[..],
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0",
    ] {
        let mut peer = bed.peer().await;
        peer.send(start).await;
        // Settings and a farewell may come, then the end.
        peer.is_closed().await;
    }
}

#[tokio::test]
async fn a_connection_more_waits_until_one_ends() {
    let bed = Bed::with(vec![gh()], Limits { connections: 2, ..patient() });
    let mut first = bed.peer().await;
    let second = bed.peer().await;
    first.send(&push("/in/gh", "d-1", b"{}")).await;
    assert_eq!(first.answer().await.map(|a| a.status), Some(200));

    let mut third = bed.peer().await;
    third.send(&push("/in/gh", "d-3", b"{}")).await;
    first.send(&push("/in/gh", "d-2", b"{}")).await;
    assert_eq!(first.answer().await.map(|a| a.status), Some(200));
    assert_eq!(bed.memory.events(), 2, "the third has no slot");
    drop(second);
    assert_eq!(third.answer().await.map(|a| a.status), Some(200));
}

#[tokio::test]
async fn connections_of_one_address_have_a_limit_of_their_own() {
    let limits = Limits { connections_per_address: Some(1), ..patient() };
    let bed = Bed::with(vec![gh()], limits);
    let mut first = bed.peer().await;
    first.send(&push("/in/gh", "d-1", b"{}")).await;
    assert_eq!(first.answer().await.map(|a| a.status), Some(200));
    assert!(bed.peer().await.is_closed().await);
    first.send(&push("/in/gh", "d-2", b"{}")).await;
    assert_eq!(first.answer().await.map(|a| a.status), Some(200));
    drop(first);
    // The slot is free once the server has seen the end.
    loop {
        let mut again = bed.peer().await;
        again.send(&push("/in/gh", "d-3", b"{}")).await;
        if again.answer().await.is_some_and(|a| a.status == 200) {
            break;
        }
    }
}

/// Silent, idle, half a head, half a body, one in its commit.
async fn five(bed: &Bed) -> [Peer; 5] {
    let [silent, mut idle, mut head, mut upload, mut busy] =
        [bed.peer().await, bed.peer().await, bed.peer().await, bed.peer().await, bed.peer().await];
    idle.send(&push("/in/none", "d-0", b"{}")).await;
    assert_eq!(idle.answer().await.map(|a| a.status), Some(404));
    head.send(b"POST /in/gh HTTP/1.1\r\nHost: h").await;
    let body = push("/in/gh", "d-upload", b"[1,2]");
    upload.send(&body[..body.len() - 2]).await;
    busy.send(&push("/in/gh", "d-busy", b"{}")).await;
    bed.memory.begun.acquire().await.unwrap().forget();
    [silent, idle, head, upload, busy]
}

fn slow_source() -> Source {
    Source { ack_deadline: LONG, ..gh() }
}

#[tokio::test]
async fn f24_a_drain_ends_the_idle_at_once_and_lets_the_others_finish() {
    let bed = Bed::with(vec![slow_source()], patient());
    let free = bed.memory.commits.forget_permits(usize::MAX);
    let [mut silent, mut idle, mut head, mut upload, mut busy] = five(&bed).await;
    let (memory, address) = (bed.memory.clone(), bed.address);
    let drained = tokio::spawn(bed.server.drain(LONG));
    assert!(silent.is_closed().await && idle.is_closed().await);
    assert!(TcpStream::connect(address).await.is_err(), "no new connections");

    head.send(b"\r\nX-GitHub-Delivery: d-head\r\nX-Hub-Signature-256: ").await;
    head.send(format!("{}\r\nContent-Length: 2\r\n\r\n{{}}", signature(b"{}")).as_bytes()).await;
    upload.send(b"2]").await;
    memory.begun.acquire_many(2).await.unwrap().forget();
    memory.commits.add_permits(free);
    for peer in [&mut head, &mut upload, &mut busy] {
        assert_eq!(peer.answer().await.map(|a| a.status), Some(200));
        assert!(peer.is_closed().await);
    }
    assert_eq!(drained.await.unwrap(), 0);
    assert_eq!(memory.events(), 3);
}

#[tokio::test]
async fn f24_what_does_not_finish_within_the_grace_is_cut_without_a_2xx() {
    let bed = Bed::with(vec![slow_source()], patient());
    let [_silent, _idle, mut head, mut upload, mut busy] = five(&bed).await;
    assert_eq!(busy.answer().await.map(|a| a.status), Some(200));
    let memory = bed.memory.clone();
    assert_eq!(bed.server.drain(SHORT).await, 2);
    assert!(head.answer().await.is_none() && upload.answer().await.is_none());
    assert_eq!(memory.events(), 1);
}

#[tokio::test]
async fn f24_many_bad_connections_keep_nobody_waiting_and_all_end() {
    const EACH: usize = 40;
    let limits = Limits { first_byte: SHORT, head: SHORT, body: SHORT, idle: SHORT, ..Limits::default() };
    let bed = Bed::with(vec![gh()], limits);
    let body = push("/in/gh", "d-slow", &[b' '; 1000]);
    let starts: [&[u8]; 4] = [b"", b"POST /in/gh HT", &body[..body.len() - 500], &push("/in/none", "d-0", b"{}")];
    let mut bad = Vec::new();
    for start in starts.iter().cycle().take(EACH * starts.len()) {
        let mut peer = bed.peer().await;
        peer.send(start).await;
        bad.push(peer);
    }
    for n in 0..EACH {
        // On a machine that stalls even a good sender can be late for its first byte. Then it comes again.
        loop {
            let mut peer = bed.peer().await;
            peer.send(&push("/in/gh", &format!("d-{n}"), b"{}")).await;
            if let Some(answer) = peer.answer().await {
                assert_eq!(answer.status, 200);
                break;
            }
        }
    }
    for mut peer in bad {
        // An answer, if one came, then the end.
        while peer.answer().await.is_some() {}
    }
    assert_eq!(bed.memory.events(), EACH);
}
