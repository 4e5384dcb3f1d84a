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
