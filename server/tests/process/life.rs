//! Start and end: files, modes, secrets that are missing, and a drain that waits for nobody who is silent.

use std::io::Write as _;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;

use crate::bed::{Bed, Letter};

const SECRET: &str = "field-test-secret-A-0123456789abcdef";
const CRM: &str = "[sources.crm]\nprovider = \"crmbridge\"\nsecret = { env = \"CRM\" }\n";

fn letter(secret: &str, body: &str) -> Letter {
    Letter::signed("crmbridge", secret, &[], body)
}

#[test]
fn everything_it_writes_is_its_owners_alone() {
    let mut bed = Bed::new(CRM, &[("CRM", SECRET)]);
    bed.start(&[]);
    assert_eq!(bed.send("crm", &letter(SECRET, r#"{"a":1}"#)).verdict(), "accepted");
    for name in ["hookonce.db", "hookonce.inbox.db", "hookonce.token"] {
        let mode = std::fs::metadata(bed.file(name)).expect(name).permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{name}");
    }
}

#[test]
fn a_second_server_on_the_same_store_is_refused() {
    let mut bed = Bed::new(CRM, &[("CRM", SECRET)]);
    bed.start(&[]);
    let out = bed.run(&["serve"]);
    assert!(!out.status.success());
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(said.contains("already open"), "{said}");
}

/// F07 B: nothing, an empty text, blanks: never a key that everybody knows.
#[test]
fn f07_a_missing_secret_is_503_and_never_a_key() {
    let forged = Letter {
        headers: vec![(
            http::HeaderName::from_static("x-hub-signature-256"),
            http::HeaderValue::from_static("sha256=22f8eea909400af98adf3681a9f31923ef6b7fcba4abb553d92823a3e9d5c25e"),
        )],
        body: "{}".to_owned(),
    };
    for env in [&[][..], &[("CRM", "")][..], &[("CRM", "   ")][..]] {
        let mut bed = Bed::new(CRM, env);
        let strict = bed.run(&["serve", "--strict"]);
        assert_eq!(strict.status.code(), Some(3), "{}", String::from_utf8_lossy(&strict.stderr));
        assert!(String::from_utf8_lossy(&strict.stderr).contains("sources.crm"), "it names the source");
        bed.start(&[]);
        let answer = bed.send("crm", &forged);
        assert_eq!(answer.status(), 503, "{answer:?}");
        assert!(answer.header("retry-after").is_some());
        assert_eq!(bed.json(&["events", "list"]).as_array().map(Vec::len), Some(0));
    }
}

/// F24: idle, silent and half-sent connections do not keep a server from ending.
#[test]
fn f24_sigterm_ends_it_whoever_is_silent() {
    let mut bed = Bed::new(CRM, &[("CRM", SECRET)]);
    bed.start(&["--shutdown-timeout", "2s"]);
    let silent = TcpStream::connect(bed.ingest).expect("a connection");
    let mut half = TcpStream::connect(bed.ingest).expect("a connection");
    half.write_all(b"POST /in/crm HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{").expect("half a request");
    assert_eq!(bed.send("crm", &letter(SECRET, r#"{"a":2}"#)).verdict(), "accepted");
    bed.signal("TERM");
    assert_eq!(bed.ended(), Some(0), "a drain is a good end");
    drop((silent, half));
    bed.start(&[]);
    assert_eq!(bed.send("crm", &letter(SECRET, r#"{"a":2}"#)).verdict(), "duplicate", "what was answered is there");
}

/// X5: a write that fails. No 2xx from that process ever after, its own exit code, and all that was answered is there.
#[test]
fn x5_a_failed_write_ends_the_process_and_loses_nothing() {
    let mut bed = Bed::new(CRM, &[("CRM", SECRET)]);
    bed.start(&[]);
    bed.signal("TERM");
    assert_eq!(bed.ended(), Some(0));
    let filler = "x".repeat(64 * 1024);
    let letter = |n: usize| letter(SECRET, &format!(r#"{{"n":{n},"filler":"{filler}"}}"#));

    bed.start_cramped(2_048);
    let refused = (0..200).find(|n| bed.send("crm", &letter(*n)).status() != 200).expect("the file is full at last");
    assert!(refused > 1, "it worked before");
    assert_eq!(bed.ended(), Some(10), "an exit code of its own");

    bed.start(&[]);
    for n in 0..refused {
        assert_eq!(bed.send("crm", &letter(n)).verdict(), "duplicate", "event {n} was answered 2xx");
    }
    assert_eq!(bed.send("crm", &letter(refused)).verdict(), "accepted", "what was refused is the provider's to repeat");
}
