//! SIGHUP: new sources and secrets at once, a bad file changes nothing.

use crate::bed::{Bed, Letter};

const A: &str = "whsec_ZmllbGQtc3cta2V5LUEtMDEyMzQ1Njc4OWFiY2RlZiE=";
const B: &str = "whsec_ZmllbGQtc3cta2V5LUItMDEyMzQ1Njc4OWFiY2RlZiE=";

fn source(secrets: &str) -> String {
    format!("[sources.sw]\nprovider = \"standard-webhooks\"\nsecrets = [{secrets}]\n")
}

fn letter(secret: &str, id: &str) -> Letter {
    Letter::signed("standard-webhooks", secret, &[("webhook-id", id)], r#"{"type":"order.paid","data":{"id":"ord_1"}}"#)
}

#[test]
fn f08_keys_change_without_a_restart() {
    let mut bed = Bed::new(&source(r#"{ name = "a", env = "A" }"#), &[("A", A), ("B", B)]);
    bed.start(&[]);
    assert_eq!(bed.send("sw", &letter(A, "msg_1")).verdict(), "accepted");
    assert_eq!(bed.send("sw", &letter(B, "msg_2")).status(), 401, "nobody knows key B yet");

    bed.configure(&source(r#"{ name = "a", env = "A" }, { name = "b", env = "B" }"#));
    bed.signal("HUP");
    bed.wait_for("configuration reloaded");
    assert_eq!(bed.send("sw", &letter(A, "msg_3")).verdict(), "accepted", "in the overlap both");
    assert_eq!(bed.send("sw", &letter(B, "msg_1")).verdict(), "duplicate", "the same event under the other key");

    bed.configure(&source(r#"{ name = "b", env = "B" }"#));
    bed.signal("HUP");
    bed.wait_for("configuration reloaded");
    assert_eq!(bed.send("sw", &letter(A, "msg_4")).status(), 401, "key A is retired");
    assert_eq!(bed.send("sw", &letter(B, "msg_5")).verdict(), "accepted");
    let event = &bed.json(&["events", "list", "--limit", "1"])[0];
    let secret = bed.json(&["events", "get", event["id"].as_str().expect("an id")])["secret"].clone();
    assert_eq!(secret, "b", "the record names the key that matched");
}

#[test]
fn a_bad_file_changes_nothing_and_says_so() {
    let mut bed = Bed::new(&source(r#"{ name = "a", env = "A" }"#), &[("A", A)]);
    bed.start(&[]);
    bed.configure("[sources.sw]\nprovidr = \"stripe\"\n");
    bed.signal("HUP");
    bed.wait_for("nothing was changed");
    bed.wait_for("did you mean `provider`?");
    assert_eq!(bed.send("sw", &letter(A, "msg_1")).verdict(), "accepted");
}

#[test]
fn what_needs_a_restart_is_named() {
    let mut bed = Bed::new(&source(r#"{ name = "a", env = "A" }"#), &[("A", A)]);
    bed.start(&[]);
    let consumer =
        "[consumers.app]\nkind = \"http\"\non = [\"sw/*\"]\nurl = \"http://127.0.0.1:9/\"\nallow_private = true\n";
    bed.configure(&(source(r#"{ name = "a", env = "A" }"#) + consumer));
    bed.signal("HUP");
    let said = bed.wait_for("next start only");
    assert!(said.contains("[consumers]"), "{said}");
}

#[test]
fn a_rotated_signing_secret_of_a_consumer_needs_a_restart_and_is_named() {
    let consumer = |secret: &str| {
        format!(
            "[consumers.app]\nkind = \"http\"\non = [\"sw/*\"]\nurl = \"http://127.0.0.1:9/\"\nallow_private = true\n\
             sign = {{ env = \"{secret}\" }}\n"
        )
    };
    let mut bed = Bed::new(&(source(r#"{ name = "a", env = "A" }"#) + &consumer("A")), &[("A", A), ("B", B)]);
    bed.start(&[]);
    bed.configure(&(source(r#"{ name = "a", env = "A" }"#) + &consumer("B")));
    bed.signal("HUP");
    let said = bed.wait_for("next start only");
    assert!(said.contains("[consumers]"), "{said}");
}

/// Said when it begins, not with the first event that is turned away.
#[test]
fn a_source_that_loses_its_secret_is_an_alarm_at_once() {
    let mut bed = Bed::new(&source(r#"{ name = "a", env = "A" }"#), &[("A", A)]);
    bed.start(&[]);
    for (secret, why) in [
        (r#"{ name = "a", env = "GONE" }"#, "secret `a` is missing"),
        (r#"{ name = "a", env = "A", not_after = "2020-12-31" }"#, "none of its secrets is valid now"),
    ] {
        bed.configure(&source(secret));
        bed.signal("HUP");
        let said = bed.wait_for("source_without_secret");
        assert!(said.contains("`sw` answers 503") && said.contains(why), "{said}");
        bed.wait_for("configuration reloaded");
        assert_eq!(bed.send("sw", &letter(A, "msg_1")).status(), 503);
    }
    bed.configure(&source(r#"{ name = "a", env = "A" }"#));
    bed.signal("HUP");
    bed.wait_for("configuration reloaded");
    assert_eq!(bed.send("sw", &letter(A, "msg_1")).verdict(), "accepted", "503 has used up nothing");
}

fn app(more: &str) -> String {
    format!("[consumers.app]\nkind = \"http\"\nurl = \"http://127.0.0.1:9/\"\nallow_private = true\n{more}\n")
}

/// Rules, filters, who leaves, and what a beginning leaves out: before any of it is in force.
#[test]
fn what_a_change_touches_is_said_before() {
    let head = source(r#"{ name = "a", env = "A" }"#);
    let mut bed = Bed::new(&(head.clone() + &app("on = [\"sw/*\"]")), &[("A", A)]);
    bed.start(&[]);
    assert_eq!(bed.send("sw", &letter(A, "msg_1")).verdict(), "accepted");

    bed.configure(&(head.clone() + "key = \"$.data.id\"\n" + &app("on = [\"sw/order.*\"]\nfrom = \"beginning\"")));
    bed.signal("HUP");
    for said in [
        "source `sw`: its identity rule changes in `fallback`, `key`, for requests from now on",
        "at the next start: consumer `app`: `from` has no effect any more",
        r#"at the next start: consumer `app`: `on` was ["sw/*"] and is ["sw/order.*"]"#,
        "configuration reloaded",
    ] {
        bed.wait_for(said);
    }
    bed.signal("TERM");
    assert_eq!(bed.ended(), Some(0));

    let other = app("on = [\"sw/*\"]").replace("consumers.app", "consumers.late");
    bed.configure(&(head + "key = \"$.type\"\n" + &other));
    let said = bed.start_and_hear(&[]);
    for change in [
        "source `sw`: its identity rule changes in",
        "consumer `app` leaves: it is paused and keeps what it has not done",
        "consumer `late` is new: events up to evt_1 are left out",
    ] {
        assert!(said.iter().any(|line| line.contains(change)), "`{change}` was not said: {said:#?}");
    }
    let consumers = bed.json(&["consumers", "list"]);
    let standing = |name: &str| {
        let rows = consumers.as_array().expect("a list");
        rows.iter().find(|row| row["name"] == name).map(|row| row["state"].clone()).expect("it is listed")
    };
    assert_eq!((standing("app"), standing("late")), ("paused".into(), "live".into()));
}
