//! What is done to a store from outside, by the program's own commands.

use serde_json::Value;

use crate::bed::{Bed, Letter};
use crate::database::Database;

const SECRET: &str = "field-test-secret-A-0123456789abcdef";
const CRM: &str = "[sources.crm]\nprovider = \"crmbridge\"\nsecret = { env = \"CRM\" }\n";

fn letter(body: &str) -> Letter {
    Letter::signed("crmbridge", SECRET, &[], body)
}

fn crm() -> Bed {
    Bed::new(CRM, &[("CRM", SECRET)])
}

fn stopped(bed: &mut Bed) {
    bed.signal("TERM");
    assert_eq!(bed.ended(), Some(0));
}

#[test]
fn a_backup_of_a_served_store_is_brought_back() {
    let mut bed = crm();
    bed.start(&[]);
    assert_eq!(bed.send("crm", &letter(r#"{"a":1}"#)).verdict(), "accepted");
    let taken = bed.json(&["backup", "taken"]);
    assert_eq!(taken["backup"]["events"], 1, "{taken}");
    assert_eq!(bed.send("crm", &letter(r#"{"a":2}"#)).verdict(), "accepted");
    assert_eq!(bed.run(&["restore", "taken", "--replace"]).status.code(), Some(6), "it is served");
    stopped(&mut bed);
    assert_eq!(bed.run(&["restore", "taken"]).status.code(), Some(6), "there is a store");
    let done = bed.json(&["restore", "taken", "--replace"]);
    assert_eq!((&done["generation"], &done["events"]), (&Value::from(2), &Value::from(1)), "{done}");
    bed.start(&[]);
    let verdicts = [r#"{"a":1}"#, r#"{"a":2}"#].map(|body| bed.send("crm", &letter(body)).verdict().to_owned());
    assert_eq!(verdicts, ["duplicate", "accepted"]);
}

/// What became of the two letters that were sent before and after the backup, and of one key of each.
fn brought_back_on(database: &Database) -> (Vec<String>, Value) {
    let mut bed = Bed::node(&database.url(), CRM, &[("CRM", SECRET)]);
    bed.start(&[]);
    assert_eq!(bed.send("crm", &letter(r#"{"a":1}"#)).verdict(), "accepted");
    bed.json(&["backup", "taken"]);
    assert_eq!(bed.send("crm", &letter(r#"{"a":2}"#)).verdict(), "accepted");
    let refused = bed.run(&["restore", "taken", "--replace"]);
    assert_eq!(refused.status.code(), Some(6), "a node lives");
    stopped(&mut bed);
    assert_eq!(bed.run(&["restore", "taken"]).status.code(), Some(6), "there is a store");
    let done = bed.json(&["restore", "taken", "--replace"]);
    bed.start(&[]);
    let verdicts = [r#"{"a":1}"#, r#"{"a":2}"#].map(|body| bed.send("crm", &letter(body)).verdict().to_owned());
    (verdicts.to_vec(), done)
}

#[test]
fn a_backup_of_a_served_database_is_brought_back() {
    let database = Database::new();
    let (verdicts, done) = brought_back_on(&database);
    assert_eq!((&done["generation"], &done["events"]), (&Value::from(2), &Value::from(1)), "{done}");
    assert_eq!(verdicts, ["duplicate", "accepted"]);
    let first = database.count("select max(id) from hookonce.event");
    assert_eq!(first, (2 << 40) + 2, "the copy drew a number as well");
    assert_eq!(database.count("select count(*) from hookonce.namespace where floor > 0"), 1);
    let kept = "select count(*) from pg_namespace where nspname like 'hookonce_replaced_%'";
    assert_eq!(database.count(kept), 1);
}

/// A node on the database that the bed's files moved into.
fn moved_to(database: &Database) -> Bed {
    Bed::node(&database.url(), CRM, &[("CRM", SECRET)])
}

#[test]
fn a_store_moves_into_a_database_and_leaves_its_files_behind() {
    let (mut bed, database) = (crm(), Database::new());
    bed.start(&[]);
    for n in 0..20 {
        let body = format!("{{\"n\":{n},\"text\":\"a\\u0000b\"}}");
        assert_eq!(bed.send("crm", &letter(&body)).verdict(), "accepted");
    }
    let args = ["move", "--to", &database.url(), "--wait", "0s"];
    assert_eq!(bed.run(&args).status.code(), Some(8), "it is served");
    assert_eq!(bed.send("crm", &letter("{\"late\":1}")).verdict(), "accepted");
    let half = moved_to(&database).run(&["serve"]);
    assert_eq!(half.status.code(), Some(6), "half a store is none: {}", String::from_utf8_lossy(&half.stderr));
    stopped(&mut bed);
    let moved = bed.json(&args);
    let events = moved.as_array().expect("tables").iter().find(|table| table["table"] == "event");
    assert_eq!(events.map(|table| &table["rows"]), Some(&Value::from(21)), "{moved}");
    let refused = bed.run(&["serve"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("has moved to postgres://"), "{said}");
    let mut node = moved_to(&database);
    node.start(&[]);
    assert_eq!(node.send("crm", &letter("{\"late\":1}")).verdict(), "duplicate");
    assert_eq!(node.send("crm", &letter("{\"new\":1}")).verdict(), "accepted");
    assert_eq!(database.count("select max(id) from hookonce.event"), (2 << 40) + 2, "the copy drew a number as well");
    assert_eq!(bed.run(&args).status.code(), Some(6), "there is a store");
}
