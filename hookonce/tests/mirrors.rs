//! The mirror tests, and that statement files, the list of mirrors and these tests are one to one.

use std::collections::BTreeSet;

use hookonce::sql::call::Stmt;
use hookonce::sqlite::bed::Sheets;
use hookonce::testkit::mirrors::{ALL, Mirror};

fn run(mirror: &Mirror) {
    let worlds = (mirror.test)(&Sheets::empty(), mirror.stmt);
    println!("{mirror:?}: {worlds} worlds");
    assert!(worlds > 1, "{mirror:?} tried nothing");
}

fn run_number(number: u8) {
    let of = ALL.iter().filter(|mirror| mirror.number == number);
    assert_ne!(of.map(run).count(), 0, "M{number} has no statement");
}

#[test]
fn m1_a_digest_is_known_and_a_copy_counts() {
    run_number(1);
}

#[test]
fn m2_what_stands_beside_a_new_key() {
    run_number(2);
}

#[test]
fn m3_due_and_lost() {
    run_number(3);
}

#[test]
fn m4_the_fence() {
    run_number(4);
}

#[test]
fn m5_the_next_of_a_lane() {
    run_number(5);
}

/// A rule in SQL that is on no list would be a rule that nothing ties to core.
#[test]
fn headers_and_the_list_agree() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/sql/sqlite");
    let files = std::fs::read_dir(folder).expect("the folder of statements is there");
    let mut headers = BTreeSet::new();
    for file in files {
        let path = file.expect("its entries can be read").path();
        let text = std::fs::read_to_string(&path).expect("a statement is text");
        let name = path.file_stem().and_then(|name| name.to_str()).expect("names are text").to_owned();
        let Some(number) = text.lines().next().and_then(|line| line.strip_prefix("-- Mirrors M")) else { continue };
        headers.insert((number.parse::<u8>().unwrap_or_else(|_| panic!("{name}: `{number}` is no mirror")), name));
    }
    let list: BTreeSet<(u8, String)> = ALL.iter().map(|m| (m.number, m.stmt.name.to_owned())).collect();
    assert_eq!(headers, list);
    assert_eq!(list.iter().map(|(number, _)| *number).collect::<BTreeSet<_>>(), BTreeSet::from([1, 2, 3, 4, 5]));
}

/// What each statement may not lack: (its file, a part of it, what stands there instead).
const LACKS: &[(&str, &str, &str)] = &[
    ("admit_key", "do nothing", "do update set seen = seen + 1"),
    ("admit_seen", "max(last_seen, ?2)", "?2"),
    ("admit_seen", "where digest = ?1", "where ?1 is ?1"),
    (
        "admit_beside",
        "select event from hookonce_ledger where digest = ?1",
        "select max(event) from hookonce_ledger where ?1 is ?1",
    ),
    ("admit_beside", "where name = ?2", "where ?2 is ?2"),
    ("claim_due", "w.due <= ?2", "w.due < ?2"),
    ("claim_due", "w.lost < ?3", "w.lost <= ?3"),
    ("claim_due", "w.consumer = ?1 and", "w.consumer >= ?1 and"),
    ("claim_due", "order by w.due, w.seq", "order by w.seq"),
    ("claim_due_quiet", "w.due <= ?2", "w.due < ?2"),
    ("claim_due_quiet", "order by w.due, w.seq", "order by w.seq"),
    ("claim_take", "lost + (token is not null)", "lost + 1"),
    ("claim_take", "epoch = epoch + 1", "epoch = epoch"),
    ("renew", "epoch = ?2", "?2 is ?2"),
    ("renew", "token = ?3", "?3 is ?3"),
    ("renew", "?4 = ?5", "?4 is ?4 and ?5 is ?5"),
    ("release", "epoch = ?2", "?2 is ?2"),
    ("release", "token = ?3", "?3 is ?3"),
    ("release", "?4 = ?5", "?4 is ?4 and ?5 is ?5"),
    ("settle_gone", "epoch = ?2", "?2 is ?2"),
    ("settle_gone", "token = ?3", "?3 is ?3"),
    ("settle_gone", "?4 = ?5", "?4 is ?4 and ?5 is ?5"),
    ("settle_later", "epoch = ?2", "?2 is ?2"),
    ("settle_later", "token = ?3", "?3 is ?3"),
    ("settle_later", "?4 = ?5", "?4 is ?4 and ?5 is ?5"),
    ("settle_next", "and open = 1", ""),
    ("settle_next", "seq > ?2", "?2 is ?2"),
    ("settle_next", "on conflict (seq) do nothing", "on conflict (seq) do update set due = excluded.due + 1"),
    ("settle_next", "where not exists (select 1 from hookonce_halted h where h.id = d.id)", "where true"),
    ("sweep_lanes", "and d.open = 1", ""),
    ("sweep_lanes", "and not exists (select 1 from hookonce_work w where w.seq = d.seq)", ""),
    ("sweep_lanes", "and not exists (select 1 from hookonce_halted h where h.id = d.id)", ""),
    ("sweep_lanes", "where p.lane = d.lane", "where p.lane <= 0"),
];

/// A mirror test that passes whatever the statement says would prove nothing.
#[test]
fn a_statement_that_lacks_a_part_is_found() {
    for (name, part, instead) in LACKS {
        let mirror = ALL.iter().find(|m| m.stmt.name == *name).unwrap_or_else(|| panic!("{name} is no mirror"));
        assert!(mirror.stmt.text.contains(part), "{name} does not say `{part}`");
        let text = mirror.stmt.text.replacen(part, instead, 1);
        let stmt = Stmt { name: mirror.stmt.name, text: text.leak() };
        let sheets = Sheets::empty();
        // A world that the changed statement cannot even be run in is found, too; the text must still be SQL.
        assert!(sheets.is_sql(&stmt), "{name} with `{instead}` is no SQL");
        let tried = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| (mirror.test)(&sheets, &stmt)));
        assert!(tried.is_err(), "{name} without `{part}` is not found");
    }
}
