//! The mirror tests, and that statement files, the list of mirrors and these tests are one to one, for each dialect.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use hookonce::sql::call::Stmt;
use hookonce::testkit::mirrors::Mirror;

/// Every statement of a number. There is one, or the number is not built.
fn run<S>(all: &[Mirror<S>], number: u8, sheets: &S) {
    let of: Vec<&Mirror<S>> = all.iter().filter(|mirror| mirror.number == number).collect();
    assert!(!of.is_empty(), "M{number} has no statement");
    for mirror in of {
        let worlds = (mirror.test)(sheets, mirror.stmt);
        println!("{mirror:?}: {worlds} worlds");
        assert!(worlds > 1, "{mirror:?} tried nothing");
    }
}

/// A rule in SQL that is on no list would be a rule that nothing ties to core. `numbers`: those that are built.
fn headers_and_the_list_agree<S>(dialect: &str, all: &[Mirror<S>], numbers: &[u8]) {
    let folder = format!("{}/src/sql/{dialect}", env!("CARGO_MANIFEST_DIR"));
    let mut headers = BTreeSet::new();
    for file in std::fs::read_dir(folder).expect("the folder of statements is there") {
        let path = file.expect("its entries can be read").path();
        let text = std::fs::read_to_string(&path).expect("a statement is text");
        let name = path.file_stem().and_then(|name| name.to_str()).expect("names are text").to_owned();
        for number in text.lines().filter_map(|line| line.strip_prefix("-- Mirrors M")) {
            let number = number.parse::<u8>().unwrap_or_else(|_| panic!("{name}: `{number}` is no mirror"));
            if numbers.contains(&number) {
                headers.insert((number, name.clone()));
            }
        }
    }
    let list: BTreeSet<(u8, String)> = all.iter().map(|m| (m.number, m.stmt.name.to_owned())).collect();
    assert_eq!(headers, list);
    assert_eq!(list.iter().map(|(number, _)| *number).collect::<BTreeSet<_>>(), numbers.iter().copied().collect());
}

/// What a statement may not lack: (its file, a part of it, what stands there instead).
type Lack = (&'static str, &'static str, &'static str);

/// A mirror test that passes whatever the statement says would prove nothing.
fn a_statement_that_lacks_a_part_is_found<S>(
    all: &[Mirror<S>],
    lacks: &[Lack],
    sheets: impl Fn() -> S,
    is_sql: impl Fn(&S, &Stmt) -> bool,
) {
    for (name, part, instead) in lacks {
        let mirrors: Vec<&Mirror<S>> = all.iter().filter(|m| m.stmt.name == *name).collect();
        let stmt = mirrors.first().unwrap_or_else(|| panic!("{name} is no mirror")).stmt;
        assert!(stmt.text.contains(part), "{name} does not say `{part}`");
        let stmt = Stmt { name: stmt.name, text: stmt.text.replacen(part, instead, 1).leak() };
        let sheets = sheets();
        // A world that the changed statement cannot even be run in is found, too; the text must still be SQL.
        assert!(is_sql(&sheets, &stmt), "{name} with `{instead}` is no SQL");
        let tried = |mirror: &&Mirror<S>| catch_unwind(AssertUnwindSafe(|| (mirror.test)(&sheets, &stmt))).is_err();
        assert!(mirrors.iter().any(tried), "{name} without `{part}` is not found");
    }
}

mod sqlite {
    use hookonce::sqlite::bed::Sheets;
    use hookonce::testkit::mirrors::sqlite::ALL;

    #[test]
    fn m1_a_digest_is_known_and_a_copy_counts() {
        super::run(ALL, 1, &Sheets::empty());
    }

    #[test]
    fn m2_what_stands_beside_a_new_key() {
        super::run(ALL, 2, &Sheets::empty());
    }

    #[test]
    fn m3_due_and_lost() {
        super::run(ALL, 3, &Sheets::empty());
    }

    #[test]
    fn m4_the_fence() {
        super::run(ALL, 4, &Sheets::empty());
    }

    #[test]
    fn m5_the_next_of_a_lane() {
        super::run(ALL, 5, &Sheets::empty());
    }

    #[test]
    fn headers_and_the_list_agree() {
        super::headers_and_the_list_agree("sqlite", ALL, &[1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn a_statement_that_lacks_a_part_is_found() {
        super::a_statement_that_lacks_a_part_is_found(ALL, LACKS, Sheets::empty, Sheets::is_sql);
    }

    const LACKS: &[super::Lack] = &[
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
        // Purge by `open` alone.
        ("purge_facts", " or exists (select 1 from hookonce_halted h where h.id = d.id)", ""),
        ("purge_facts", "d.open = 1 or ", ""),
        ("purge_facts", " and o.released is null", ""),
        ("purge_facts", "where r.event = ?1", "where true"),
        ("purge_facts", "max(d.ended)", "min(d.ended)"),
    ];
}

mod postgres {
    use hookonce::postgres::bed::Database;
    use hookonce::postgres::sheets::Sheets;
    use hookonce::testkit::mirrors::postgres::ALL;

    fn run(number: u8) {
        let database = Database::default();
        super::run(ALL, number, &Sheets::of(&database));
    }

    #[test]
    fn m1_a_digest_is_known_and_a_copy_counts() {
        run(1);
    }

    #[test]
    fn m2_what_stands_beside_a_new_key() {
        run(2);
    }

    #[test]
    fn m3_due_and_lost() {
        run(3);
    }

    #[test]
    fn m4_the_fence() {
        run(4);
    }

    #[test]
    fn m5_the_next_of_a_lane() {
        run(5);
    }

    #[test]
    fn m6_what_may_go() {
        run(6);
    }

    #[test]
    fn headers_and_the_list_agree() {
        super::headers_and_the_list_agree("postgres", ALL, &[1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn a_statement_that_lacks_a_part_is_found() {
        let database = Database::default();
        super::a_statement_that_lacks_a_part_is_found(ALL, LACKS, || Sheets::of(&database), Sheets::is_sql);
    }

    const LACKS: &[super::Lack] = &[
        ("admit_keys", "l.rule <> excluded.rule and ", ""),
        ("admit_keys", "l.fingerprint = excluded.fingerprint", "false"),
        ("admit_keys", "greatest(l.last_seen, excluded.last_seen)", "excluded.last_seen"),
        ("admit_seen", "l.seen + u.copies", "l.seen + 1"),
        ("admit_seen", "greatest(l.last_seen, $3)", "$3"),
        ("admit_seen", "where l.digest = u.digest", "where true"),
        ("admit_guards", "do update set seen = l.seen", "do update set seen = l.seen + 1"),
        ("admit_floors", "name = any($1) and ", "$1::text[] is not null and "),
        ("admit_floors", " and floor is not null", ""),
        ("claim", "w.due <= (", "w.due < ("),
        ("claim", "w.lost < $4", "w.lost <= $4"),
        ("claim", "w.consumer = $1", "w.consumer >= $1"),
        ("claim", "order by w.due, w.seq", "order by w.seq"),
        ("claim", "(order by c.due, c.seq)", "(order by c.seq desc)"),
        ("claim", "'live') = 'live'", "'live') <> ''"),
        ("claim", "order by s.number desc", "order by s.number"),
        ("claim", "limit $5", "limit $5 + 1"),
        ("claim", "case when t.token is null then 0 else 1 end", "1"),
        ("claim", "epoch = w.epoch + 1", "epoch = w.epoch"),
        ("claim", "where t.token is not null)", ")"),
        ("claim", "token = t.fresh", "token = coalesce(t.token, t.fresh)"),
        ("claim_quiet", "w.due <= (", "w.due < ("),
        ("claim_quiet", "w.lost >= 3 and w.lost >= $4", "w.lost >= $4 - 1"),
        ("claim_quiet", "order by w.due, w.seq", "order by w.seq"),
        ("renew", "w.epoch = a.epoch", "true"),
        ("renew", "w.token = a.token", "true"),
        ("renew", "a.store = $5", "$5 = $5"),
        ("release", "w.epoch = a.epoch", "true"),
        ("release", "w.token = a.token", "true"),
        ("release", "a.store = $5", "$5 = $5"),
        ("settle_lock", "w.epoch = a.epoch", "true"),
        ("settle_lock", "w.token = a.token", "true"),
        ("settle_lock", "a.store = $5", "$5 = $5"),
        ("settle_end", "w.epoch = a.epoch", "true"),
        ("settle_end", "w.token = a.token", "true"),
        ("settle_end", "a.store = $5", "$5 = $5"),
        ("settle_end", "and n.open order by", "order by"),
        ("settle_end", "n.seq > g.seq", "n.seq <> g.seq"),
        (
            "settle_end",
            "where not g.open and g.lane < 0\n    and not exists (select 1 from hookonce.work",
            "where g.lane < 0\n    and not exists (select 1 from hookonce.work",
        ),
        ("settle_end", "and not exists (select 1 from hookonce.work w where w.seq = d.seq)", ""),
        ("settle_end", "and not exists (select 1 from hookonce.halted h where h.id = d.id)", ""),
        ("settle_end", "from gone where kind is not null)", "from gone where kind is null)"),
        ("settle_later", "w.epoch = a.epoch", "true"),
        ("settle_later", "w.token = a.token", "true"),
        ("settle_later", "a.store = $5", "$5 = $5"),
        ("settle_later", "case when a.counted then (select hookonce.now_us()) end", "(select hookonce.now_us())"),
        ("route_check_next", "and n.open", ""),
        ("route_check_next", "n.seq > c.behind", "n.seq <> c.behind"),
        ("route_check_next", "select distinct", "select"),
        ("route_check_next", "not exists (select 1 from hookonce.work w where w.seq = d.seq)", "true"),
        ("route_check_next", "and not exists (select 1 from hookonce.halted h where h.id = d.id)", ""),
        ("sweep_lanes", "and d.open", ""),
        ("sweep_lanes", "and not exists (select 1 from hookonce.work w where w.seq = d.seq)", ""),
        ("sweep_lanes", "and not exists (select 1 from hookonce.halted h where h.id = d.id)", ""),
        ("sweep_lanes", "where p.lane = d.lane", "where p.lane <= 0"),
        // Purge by `open` alone.
        ("purge_facts", " or exists (select 1 from hookonce.halted h where h.id = d.id)", ""),
        ("purge_facts", "d.open or ", ""),
        ("purge_facts", " and o.released is null", ""),
        ("purge_facts", "where r.event = g.id", "where true"),
        ("purge_facts", "max(d.ended)", "min(d.ended)"),
    ];
}
