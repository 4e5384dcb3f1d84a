//! The bugs that can be planted here do what they say: the judge looks for exactly these. Run with `--features planted`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "ingest/bed.rs"]
#[allow(dead_code)]
mod bed;

use std::sync::Mutex;

use bed::{Bed, gh};

static PLANTED: Mutex<&str> = Mutex::new("");

fn plant(name: &'static str) {
    *PLANTED.lock().unwrap() = name;
}

#[tokio::test]
async fn each_bug_breaks_its_promise_and_no_other() {
    hookonce_core::fault::on_planted(|name| *PLANTED.lock().unwrap() == name);
    let body = b"{\"id\": 1,  \"b\":2.0}\r\n";

    let bed = Bed::new(vec![gh()]);
    assert_eq!(bed.push("d-1", body).await.status, 200);
    assert_eq!(bed.memory.stored()[0].body, &body[..]);
    plant("reserialise-body");
    assert_eq!(bed.push("d-2", body).await.status, 200);
    assert_eq!(bed.memory.stored()[1].body, &br#"{"id":1,"b":2.0}"#[..]);

    plant("");
    assert_eq!(bed.post("/in/gh", &[], body).await.status, 401);
    assert_eq!(bed.memory.stored().len(), 2);
    plant("refused-writes");
    assert_eq!(bed.post("/in/gh", &[], body).await.status, 200);
    assert_eq!(bed.memory.stored().len(), 3);
}
