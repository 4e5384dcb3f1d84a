//! What is left of refused requests: counts, and bounded, redacted copies (invariant 22, S2).

use std::sync::atomic::Ordering::SeqCst;

use http::HeaderName;

use crate::bed::{Bed, gh, request};

const FORGED: &str = "sha256=0000000000000000000000000000000000000000000000000000000000000000";

async fn forge(bed: &Bed, body: &[u8]) {
    let headers = [
        ("X-GitHub-Delivery", "d-1"),
        ("X-Hub-Signature-256", FORGED),
        ("Authorization", "Bearer canary"),
        ("X-Gate-Key", "canary"),
    ];
    assert_eq!(bed.ask(&request("POST", "/in/gh?x=1", &headers, body)).await.status, 401);
}

#[tokio::test]
async fn forged_traffic_is_counted_and_a_few_of_it_copied() {
    let mut source = gh();
    source.secret_headers = vec![HeaderName::from_static("x-gate-key")];
    let bed = Bed::new(vec![source]);
    let long = vec![b'x'; 100_000];
    for _ in 0..50 {
        forge(&bed, &long).await;
    }
    bed.ask(&request("GET", "/in/gh", &[], b"")).await;
    bed.post("/in/gh", &[], b"{}").await;
    bed.post("/in/none", &[], b"{}").await;
    bed.ingest.report_now().await;

    assert!(bed.memory.stored().is_empty(), "no inbox has changed");
    let reasons = bed.memory.reasons();
    let wanted = [("signature_mismatch", 50), ("method", 1), ("missing_header", 1)];
    assert_eq!(reasons, wanted.map(|(reason, times)| (reason.to_owned(), times)).into());

    let batches = bed.memory.refused.lock().unwrap();
    assert!(batches.iter().all(|batch| batch.samples.len() <= 4), "a few of each batch");
    let sample = &batches[0].samples[0];
    assert_eq!((&*sample.source, &*sample.target, sample.body.len()), ("gh", "POST /in/gh?x=1", 16 * 1024));
    assert_eq!(sample.headers.get("x-hub-signature-256"), Some(FORGED.as_bytes()), "else nobody could explain it");
    assert_eq!(sample.headers.get("authorization"), Some(&b"[redacted]"[..]));
    assert_eq!(sample.headers.get("x-gate-key"), Some(&b"[redacted]"[..]));
    assert!(!format!("{batches:?}").contains("canary"));
}

#[tokio::test]
async fn one_source_does_not_take_the_copies_of_another() {
    let mut other = gh();
    other.name = "other".into();
    let bed = Bed::new(vec![gh(), other]);
    for _ in 0..50 {
        forge(&bed, b"{}").await;
    }
    bed.post("/in/other", &[], b"{}").await;
    bed.ingest.report_now().await;
    let batches = bed.memory.refused.lock().unwrap();
    assert!(batches.iter().flat_map(|batch| &batch.samples).any(|sample| &*sample.source == "other"));
}

#[tokio::test]
async fn counts_that_the_store_cannot_take_are_not_lost() {
    let bed = Bed::new(vec![gh()]);
    bed.memory.refuses.store(true, SeqCst);
    forge(&bed, b"{}").await;
    bed.ingest.report_now().await;
    assert!(bed.memory.reasons().is_empty());
    bed.memory.refuses.store(false, SeqCst);
    forge(&bed, b"{}").await;
    bed.ingest.report_now().await;
    assert_eq!(bed.memory.reasons(), [("signature_mismatch".to_owned(), 2)].into());
}

#[tokio::test]
async fn a_drain_hands_over_the_last_of_them() {
    let bed = Bed::new(vec![gh()]);
    forge(&bed, b"{}").await;
    let memory = bed.memory.clone();
    bed.server.drain(std::time::Duration::from_secs(60)).await;
    assert_eq!(memory.reasons(), [("signature_mismatch".to_owned(), 1)].into());
}
