//! The commit is nobody's to cancel (F23 c), and an answer waits for it no longer than the provider does.

use std::time::Duration;

use hookonce_http::Limits;

use crate::bed::{Bed, gh, push};

/// Until the store has taken so many more requests in hand.
async fn begun(bed: &Bed, requests: u32) {
    bed.memory.begun.acquire_many(requests).await.unwrap().forget();
}

#[tokio::test]
async fn f23_c_a_sender_that_hangs_up_cancels_nothing() {
    let bed = Bed::new(vec![gh()]);
    let free = bed.memory.commits.forget_permits(usize::MAX);
    for n in 0..50 {
        let mut peer = bed.peer().await;
        peer.send(&push("/in/gh", &format!("d-{n}"), b"{}")).await;
        begun(&bed, 1).await;
        // Every other one is reset instead of closed.
        if n % 2 == 0 {
            peer.stream.set_zero_linger().unwrap();
        }
    }
    bed.memory.commits.add_permits(free);
    let memory = bed.memory.clone();
    assert_eq!(bed.server.drain(Duration::from_secs(60)).await, 0);
    assert_eq!(memory.events(), 50, "all are there before the drain ends");
}

#[tokio::test]
async fn what_was_cut_off_and_comes_again_is_there_once() {
    let bed = Bed::new(vec![gh()]);
    for n in 0..100 {
        let mut peer = bed.peer().await;
        peer.send(&push("/in/gh", &format!("d-{n}"), b"{}")).await;
    }
    for n in 0..100 {
        assert_eq!(bed.push(&format!("d-{n}"), b"{}").await.status, 200);
    }
    let memory = bed.memory.clone();
    bed.server.drain(Duration::from_secs(60)).await;
    assert_eq!(memory.events(), 100);
}

#[tokio::test]
async fn a_late_commit_is_answered_503_and_goes_on() {
    let mut source = gh();
    source.ack_deadline = Duration::from_millis(20);
    let bed = Bed::new(vec![source]);
    let free = bed.memory.commits.forget_permits(usize::MAX);
    let late = bed.push("d-1", b"{}").await;
    assert_eq!((late.status, late.header("retry-after")), (503, Some("5")));
    bed.memory.commits.add_permits(free);
    let again = bed.push("d-1", b"{}").await;
    assert_eq!((again.status, again.header("hookonce-verdict")), (200, Some("duplicate")));
    assert_eq!(bed.memory.events(), 1);
}

#[tokio::test]
async fn a_cut_connection_still_has_its_commit_waited_for() {
    let bed = Bed::with(vec![gh()], Limits::default());
    let free = bed.memory.commits.forget_permits(usize::MAX);
    let mut peer = bed.peer().await;
    peer.send(&push("/in/gh", "d-1", b"{}")).await;
    begun(&bed, 1).await;
    let memory = bed.memory.clone();
    let drained = tokio::spawn(bed.server.drain(Duration::ZERO));
    // Cut without an answer: what was not promised may come again.
    assert!(peer.answer().await.is_none());
    assert_eq!(memory.events(), 0);
    memory.commits.add_permits(free);
    assert_eq!(drained.await.unwrap(), 1);
    assert_eq!(memory.events(), 1);
}
