//! A webhook passes the kill points of ingest in their order. Run with `--features failpoints`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "ingest/bed.rs"]
#[allow(dead_code)]
mod bed;

use std::sync::Mutex;

use bed::{Bed, gh};

static PASSED: Mutex<Vec<String>> = Mutex::new(Vec::new());

#[tokio::test]
async fn an_accepted_webhook_passes_every_point() {
    hookonce_core::fault::on_point(|name| PASSED.lock().unwrap().push(name.to_owned()));
    let bed = Bed::new(vec![gh()]);
    assert_eq!(bed.push("d-1", b"{}").await.status, 200);
    let points = ["limits", "verified", "identified", "queued", "answering", "answered"];
    assert_eq!(*PASSED.lock().unwrap(), points);
    PASSED.lock().unwrap().clear();
    assert_eq!(bed.post("/in/gh", &[], b"{}").await.status, 401);
    assert_eq!(*PASSED.lock().unwrap(), ["limits", "answering", "answered"], "a forged one never comes further");
}
