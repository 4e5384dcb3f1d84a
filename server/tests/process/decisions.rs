//! What people decide through the commands: unmapped requests, held events, dead letters.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicUsize, Ordering};

use serde_json::Value;

use crate::bed::{Bed, Letter, receiver};

const SECRET: &str = "field-test-secret-A-0123456789abcdef";

fn crm(require: &str) -> String {
    format!("[sources.crm]\nprovider = \"crmbridge\"\nsecret = {{ env = \"CRM\" }}\nrequire = [\"{require}\"]\n")
}

fn letter(body: &str) -> Letter {
    Letter::signed("crmbridge", SECRET, &[], body)
}

fn first(list: &Value, member: &str) -> Option<String> {
    list.get(0).and_then(|row| row[member].as_str()).map(str::to_owned)
}

#[test]
fn an_unmapped_request_waits_and_is_admitted_under_better_rules() {
    let mut bed = Bed::new(&crm("$.PrimaryKey"), &[("CRM", SECRET)]);
    bed.start(&[]);
    let odd = letter(r#"{"Entity":"Patient","Action":"Update","Key":"7"}"#);
    assert_eq!((bed.send("crm", &odd).status(), bed.send("crm", &odd).verdict()), (200, "unmapped"));
    let id = first(&bed.json(&["requests", "list", "--verdict", "unmapped"]), "id").expect("it is listed");

    let out = bed.run(&["requests", "admit", &id, "--reason", "r"]);
    assert_eq!(out.status.code(), Some(6), "today's rules cannot map it either");
    bed.configure(&crm("$.Key"));
    bed.signal("HUP");
    bed.wait_for("configuration reloaded");
    let done = bed.json(&["requests", "admit", &id, "--reason", "the field was renamed"]);
    assert_eq!(done["verdicts"][0]["verdict"], "accepted", "{done}");
    assert_eq!(bed.run(&["requests", "admit", &id, "--reason", "r"]).status.code(), Some(6), "once decided, decided");

    let event = first(&bed.json(&["events", "list"]), "id").expect("the event");
    let raw = bed.run(&["events", "raw", &event]);
    assert_eq!(raw.stdout, odd.body.as_bytes(), "its bytes are the sent ones");
}

#[test]
fn an_unmapped_request_is_dropped_with_a_record() {
    let mut bed = Bed::new(&crm("$.PrimaryKey"), &[("CRM", SECRET)]);
    bed.start(&[]);
    assert_eq!(bed.send("crm", &letter(r#"{"Entity":"x"}"#)).verdict(), "unmapped");
    let id = first(&bed.json(&["requests", "list", "--verdict", "unmapped"]), "id").expect("it is listed");
    assert_eq!(bed.json(&["requests", "drop", &id, "--reason", "noise"])["done"], "unmapped.drop");
    assert!(!bed.json(&["requests", "get", &id])["decided"].is_null());
    assert_eq!(bed.run(&["requests", "drop", &id, "--reason", "r"]).status.code(), Some(6));
    assert_eq!(bed.run(&["requests", "drop", "req_zzzz", "--reason", "r"]).status.code(), Some(5));
    assert_eq!(
        bed.run(&["requests", "drop", "evt_1", "--reason", "r"]).status.code(),
        Some(2),
        "an event is no request"
    );
}

#[test]
fn a_held_event_is_dropped_once() {
    let mut bed = Bed::new(&crm("$.PrimaryKey"), &[("CRM", SECRET)]);
    bed.start(&[]);
    bed.send("crm", &letter(r#"{"PrimaryKey":"1","Entity":"Patient","Action":"Update"}"#));
    let event = bed.until("the hold", |bed| first(&bed.json(&["held", "list"]), "event"));
    assert_eq!(bed.json(&["held", "drop", &event, "--reason", "a test"])["done"], "held.drop");
    assert_eq!(bed.run(&["held", "release", &event, "--reason", "r"]).status.code(), Some(6), "decided is decided");
}

/// S34: whatever changes something says why, to the CLI and to the API.
#[test]
fn s34_nothing_is_decided_without_a_reason() {
    let mut bed = Bed::new(&crm("$.PrimaryKey"), &[("CRM", SECRET)]);
    bed.start(&[]);
    bed.send("crm", &letter(r#"{"PrimaryKey":"1","Entity":"Patient","Action":"Update"}"#));
    bed.send("crm", &letter(r#"{"Entity":"x"}"#));
    let event = bed.until("the hold", |bed| first(&bed.json(&["held", "list"]), "event"));
    let unmapped = first(&bed.json(&["requests", "list", "--verdict", "unmapped"]), "id").expect("it is listed");
    let commands: [&[&str]; 4] = [
        &["held", "release", &event],
        &["held", "drop", &event],
        &["requests", "admit", &unmapped],
        &["requests", "drop", &unmapped],
    ];
    for command in commands {
        for reason in [&[][..], &["--reason", ""], &["--reason", "  "]] {
            let out = bed.run(&[command, reason].concat());
            let said = String::from_utf8_lossy(&out.stderr);
            assert_eq!(out.status.code(), Some(2), "{command:?} {reason:?}: {said}");
            assert!(said.contains("reason"), "{said}");
        }
    }
    assert_eq!(first(&bed.json(&["held", "list"]), "event"), Some(event), "nothing was decided");
    assert!(bed.json(&["requests", "get", &unmapped])["decided"].is_null());
}

#[test]
fn a_dead_letter_is_seen_and_tried_again() {
    let (status, calls) = (Arc::new(AtomicU16::new(500)), Arc::new(AtomicUsize::new(0)));
    let port = receiver(status.clone(), calls.clone());
    let consumer = format!(
        "[consumers.app]\nkind = \"http\"\non = [\"crm/*\"]\nurl = \"http://127.0.0.1:{port}/\"\nallow_private = true\n\
         retry = {{ first = \"1ms\", max = \"2ms\", attempts = 2 }}\n"
    );
    let mut bed = Bed::new(&(crm("$.PrimaryKey") + &consumer), &[("CRM", SECRET)]);
    bed.start(&[]);
    bed.send("crm", &letter(r#"{"PrimaryKey":"1","Entity":"Patient","Action":"Update"}"#));
    let dead = bed.until("the dead letter", |bed| first(&bed.json(&["dead", "list"]), "id"));
    assert_eq!(calls.load(Ordering::SeqCst), 2, "two attempts were allowed");
    let why = bed.json(&["why", dead.split('/').next().expect("an event")]);
    assert!(why["sentence"].as_str().is_some_and(|s| s.contains("gave up") && s.contains("500")), "{why}");

    status.store(204, Ordering::SeqCst);
    assert_eq!(bed.json(&["dead", "retry", &dead, "--reason", "mended"])["done"], "dead.retry");
    bed.until("its success", |bed| (bed.json(&["deliveries", "get", &dead])["state"] == "succeeded").then_some(()));
    assert_eq!(bed.run(&["dead", "retry", &dead, "--reason", "r"]).status.code(), Some(5), "it is not dead any more");
}

#[test]
fn the_bytes_of_a_duplicate_are_those_of_its_event() {
    let mut bed = Bed::new(&crm("$.PrimaryKey"), &[("CRM", SECRET)]);
    bed.start(&[]);
    let twice = letter(r#"{"PrimaryKey":"1","Entity":"Patient","Action":"Update"}"#);
    assert_eq!((bed.send("crm", &twice).verdict(), bed.send("crm", &twice).verdict()), ("accepted", "duplicate"));
    let event = first(&bed.json(&["events", "list"]), "id").expect("the event");
    let copy = first(&bed.json(&["requests", "list", "--verdict", "duplicate"]), "id").expect("the copy");
    let out = bed.run(&["requests", "raw", &copy, "--json"]);
    assert_eq!((out.status.code(), out.stdout.len()), (Some(5), 0));
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    for part in [
        format!("the bytes of {copy} were not stored"),
        format!("its content is that of {event}"),
        format!("`hookonce events raw {event}`"),
    ] {
        assert!(said.contains(&part), "{part}: {said}");
    }
    assert_eq!(bed.run(&["events", "raw", &event]).stdout, twice.body.as_bytes());
    assert_eq!(bed.run(&["requests", "raw", "req_zzzz"]).status.code(), Some(5));
}
