//! The same binary on PostgreSQL: databases that cannot be used, and the schema.

use std::process::Output;

use crate::bed::Bed;
use crate::database::{Database, Line};

const SECRET: &str = "field-test-secret-A-0123456789abcdef";
const CRM: &str = "[sources.crm]\nprovider = \"crmbridge\"\nsecret = { env = \"CRM\" }\n";

fn node(url: &str) -> Bed {
    Bed::node(url, CRM, &[("CRM", SECRET)])
}

/// Exit code, and what was said.
fn refused(bed: &Bed) -> (Option<i32>, String) {
    let Output { status, stderr, .. } = bed.run(&["serve"]);
    (status.code(), String::from_utf8_lossy(&stderr).into_owned())
}

#[test]
fn a_database_that_cannot_be_used_is_named_with_what_to_do() {
    let database = Database::new();
    let elsewhere = |from: &str, to: &str| database.url().replacen(from, to, 1);
    let nobody = Line::new();
    nobody.cut();
    let as_it_is = || {};
    type Case<'a> = (&'a str, String, &'a dyn Fn(), i32, &'a str);
    let cases: [Case<'_>; 7] = [
        ("unreachable", nobody.url(&database), &as_it_is, 7, "trying again is safe"),
        ("no such database", format!("{}_not", database.url()), &as_it_is, 6, "createdb"),
        ("no such user", elsewhere("postgres@", "nobody_of_that_name@"), &as_it_is, 4, "PGPASSWORD"),
        ("read only", database.url(), &|| database.set("default_transaction_read_only", Some("on")), 6, "primary"),
        ("not durable", database.url(), &|| database.set("synchronous_commit", Some("off")), 6, "synchronous_commit"),
        ("foreign", database.url(), &|| database.run("create schema hookonce"), 6, "hookonce"),
        ("newer", database.url(), &|| of_a_newer_program(&database), 6, "newer program"),
    ];
    for (name, url, make, exit, says) in cases {
        make();
        let (code, said) = refused(&node(&url));
        assert_eq!(code, Some(exit), "{name}: {said}");
        assert!(said.contains(says) && said.contains("hint: "), "{name}: {said}");
        ["default_transaction_read_only", "synchronous_commit"].iter().for_each(|setting| database.set(setting, None));
    }
}

fn of_a_newer_program(database: &Database) {
    database.run("drop schema hookonce");
    let out = node(&database.url()).run(&["migrate", "up"]);
    assert!(out.status.success(), "{out:?}");
    database.run("update hookonce.setting set value = '999' where name = 'schema'");
}

#[test]
fn a_schema_that_somebody_changed_is_not_written_to() {
    let database = Database::new();
    let bed = node(&database.url());
    assert!(bed.run(&["migrate", "up"]).status.success());
    database.run("alter table hookonce.event rename column fingerprint to print");
    let (code, said) = refused(&bed);
    assert_eq!(code, Some(6), "{said}");
    assert!(said.contains("fingerprint") && said.contains("hint: "), "{said}");
}

#[test]
fn the_schema_is_made_before_anything_runs_on_it() {
    let database = Database::new();
    let bed = node(&database.url());
    let status = bed.json(&["migrate", "status"]);
    assert_eq!((&status[0]["found"], status[0]["of"].as_str()), (&serde_json::json!(0), Some("database")), "{status}");
    let plan = bed.json(&["migrate", "plan"]);
    assert_eq!(plan[0]["version"], 1, "{plan}");
    assert_eq!(
        database.count("select count(*) from pg_namespace where nspname = 'hookonce'"),
        0,
        "a look changes nothing"
    );
    let done = bed.json(&["migrate", "up"]);
    assert_eq!(done.as_array().map(Vec::len), plan.as_array().map(Vec::len));
    assert_eq!(bed.json(&["migrate", "plan"]), serde_json::json!([]));
    let status = bed.json(&["migrate", "status"]);
    assert_eq!(status[0]["found"], status[0]["known"]);
}
