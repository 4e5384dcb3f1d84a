//! How the statements that run for every request and every delivery are carried out. A table of its own, which SQLite
//! opens where a statement answers what it changed or reads what it writes, costs more than all the rest of it.

use hookonce::sql::call::Stmt;
use hookonce::sql::sqlite as sql;
use hookonce::sqlite::bed::Sheets;

const HOT: &[&Stmt] = &[
    sql::ADMIT_KEY,
    sql::ADMIT_KNOWN,
    sql::ADMIT_SEEN,
    sql::ADMIT_EVENT,
    sql::ADMIT_PAYLOAD,
    sql::ADMIT_REQUEST,
    sql::ADMIT_REQUEST_MANY,
    sql::ROUTE_EVENTS,
    sql::ROUTE_TAIL,
    sql::ROUTE_WRITE_DELIVERY,
    sql::ROUTE_WRITE_WORK,
    sql::ROUTE_WRITE_PASS,
    sql::CLAIM_PAUSED,
    sql::CLAIM_DUE,
    sql::CLAIM_DUE_QUIET,
    sql::CLAIM_TAKE,
    sql::CLAIM_LOST,
    sql::CLAIM_BODY,
    sql::NEXT_DUE,
    sql::RENEW,
    sql::SETTLE_GONE,
    sql::SETTLE_ENDED,
    sql::SETTLE_LATER,
    sql::SETTLE_TRIED,
    sql::SETTLE_NEXT,
];

/// SQLite's names for tables made for one run, and for sorting.
const DEAR: [&str; 3] = ["OpenEphemeral", "OpenAutoindex", "SorterOpen"];

fn steps(sheets: &Sheets, text: &str) -> Vec<String> {
    let explain = format!("explain {text}");
    let prepared = [&sheets.inbox, &sheets.work].into_iter().find_map(|db| db.prepare(&explain).ok());
    let mut prepared = prepared.unwrap_or_else(|| panic!("{text} is no SQL"));
    let opcodes = prepared.raw_query().mapped(|row| row.get::<_, String>(1)).collect::<Result<_, _>>();
    opcodes.unwrap()
}

fn dear(sheets: &Sheets, text: &str) -> Vec<String> {
    steps(sheets, text).into_iter().filter(|opcode| DEAR.contains(&opcode.as_str())).collect()
}

#[test]
fn what_runs_for_every_request_and_delivery_opens_no_table_of_its_own() {
    let sheets = Sheets::empty();
    for stmt in HOT {
        assert_eq!(dear(&sheets, stmt.text), Vec::<String>::new(), "{}", stmt.name);
    }
}

#[test]
fn such_a_table_would_be_found() {
    let sheets = Sheets::empty();
    let returning = format!("{} returning id", sql::SETTLE_GONE.text.trim_end());
    assert_eq!(dear(&sheets, &returning), ["OpenEphemeral"]);
    assert!(!dear(&sheets, "select event from hookonce_hold order by since").is_empty());
}

const CLEANING: &[&Stmt] = &[
    sql::PURGE_LOOK,
    sql::PURGE_LAST,
    sql::PURGE_PARTS,
    sql::PURGE_UNDECIDED,
    sql::PURGE_FACTS,
    sql::PURGE_AGAIN,
    sql::PURGE_KEPT,
    sql::PURGE_GOING,
    sql::PURGE_ATTEMPTS,
    sql::PURGE_DELIVERIES,
    sql::PURGE_HOLDS,
    sql::PURGE_REQUESTS,
    sql::PURGE_EVENT_REQUESTS,
];

/// F27 d: a step that finds nothing to delete, however large the tables are, walks none of them.
#[test]
fn cleaning_walks_no_table() {
    let sheets = Sheets::empty();
    for stmt in CLEANING {
        let explain = format!("explain query plan {}", stmt.text);
        let prepared = [&sheets.inbox, &sheets.work].into_iter().find_map(|db| db.prepare(&explain).ok());
        let mut prepared = prepared.unwrap_or_else(|| panic!("{} is no SQL", stmt.name));
        let plan: Vec<String> = prepared.raw_query().mapped(|row| row.get(3)).collect::<Result<_, _>>().unwrap();
        let scans = |line: &String| line.starts_with("SCAN") && !line.contains("CONSTANT ROW");
        assert!(!plan.iter().any(scans), "{}: {plan:#?}", stmt.name);
    }
}
