//! What is bounded stays bounded: rows for one event, samples, counts, and what forged traffic may touch.

use hookonce::sqlite::bed::Sheets;
use hookonce::store::{Refusals, SAMPLE_BYTES, SAMPLE_ROWS, Sample, Store as _};
use hookonce::testkit::dump;
use hookonce::view::{Page, Query};
use hookonce_core::admit::REQUEST_ROWS;
use hookonce_core::consumer::Order;
use hookonce_core::delivery::Outcome;
use hookonce_core::request::Headers;
use hookonce_core::settle::{ATTEMPT_ROWS, Settled};
use hookonce_core::time::SECOND;

use crate::bed::{Bed, consumer, sent};

#[tokio::test]
async fn copies_of_one_event_are_counted_and_their_rows_end_at_the_limit() {
    let bed = Bed::new();
    let copies = REQUEST_ROWS + 100;
    bed.admit_all((0..=copies).map(|_| sent("k", "x")).collect()).await;
    assert_eq!(bed.inbox_count("select count(*) from hookonce_request"), REQUEST_ROWS);
    assert_eq!(bed.inbox_count("select seen from hookonce_ledger"), copies + 1);
}

/// However often it is tried: the first rows of its history and the newest one are kept, and that one's number counts.
#[tokio::test]
async fn the_history_of_one_delivery_ends_at_the_limit() {
    let bed = Bed::new();
    bed.admit("k", "x").await;
    let routing = bed.consumers(vec![consumer("app", Order::Arrival)]).await;
    bed.route(&routing).await;
    bed.on_work(&format!(
        "with recursive n(no) as (select 1 union all select no + 1 from n where no < {})
         insert into hookonce_attempt select d.id, n.no, 1, 1, 'deferred', '503' from n, hookonce_delivery d",
        ATTEMPT_ROWS - 1
    ));
    let put_off = Outcome::Deferred { reason: "503".into(), after: Some(SECOND) };
    for outcome in [&put_off, &put_off, &put_off, &Outcome::Done] {
        let runs = bed.claim(1, 1).await;
        assert_eq!(bed.settle(&routing.consumers[0], &runs, outcome).await, [Settled::Kept]);
        bed.clock.advance(10 * SECOND);
    }
    let look = |sql: &str| bed.work_count(&format!("select {sql} from hookonce_attempt"));
    assert_eq!((look("count(*)"), look("count(distinct no)"), look("max(no)")), (1_000, 1_000, 1_003));
    assert_eq!(look("min(no)"), 1);
    assert_eq!(bed.work_count("select no from hookonce_attempt where outcome = 'done'"), 1_003);
}

#[tokio::test]
async fn counts_are_folded_and_stay_true() {
    let bed = Bed::new();
    for n in 0..1_100 {
        bed.admit(&format!("k{}", n / 2), "x").await;
    }
    assert!(bed.inbox_count("select count(*) from hookonce_tally") <= 513);
    let Page::Tally(tally) = bed.store.read(Query::Tally).await.unwrap() else { panic!("another page") };
    let want = [("accepted", 550), ("duplicate", 550)].map(|(verdict, n)| ("crm".to_owned(), verdict.to_owned(), n));
    assert_eq!(tally, want);
}

fn refusals(n: usize, body: usize) -> Refusals {
    let sample = |at: usize| Sample {
        source: "crm".into(),
        target: "POST /in/crm".into(),
        headers: Headers::default(),
        body: vec![b'x'; body],
        reason: format!("bad_signature {at}"),
        received: 1,
    };
    Refusals { samples: (0..n).map(sample).collect(), counts: vec![("crm".into(), "bad_signature".into(), n as u64)] }
}

#[tokio::test]
async fn samples_are_bounded_by_number_and_by_bytes_and_the_oldest_go() {
    let bed = Bed::new();
    for _ in 0..10 {
        bed.store.refused(refusals(50, 10)).await.unwrap();
    }
    assert_eq!(bed.inbox_count("select count(*) from hookonce_sample"), SAMPLE_ROWS);
    let newest = bed.inbox_count("select max(id) from hookonce_sample");
    bed.store.refused(refusals(5, SAMPLE_BYTES as usize / 4)).await.unwrap();
    assert_eq!(bed.inbox_count("select count(*) from hookonce_sample"), 3);
    assert!(bed.inbox_count("select min(id) from hookonce_sample") > newest);
}

/// Invariant 22: whatever is refused changes samples and counts, and nothing else.
#[tokio::test]
async fn forged_traffic_touches_nothing_else() {
    let bed = Bed::new();
    bed.admit("a-1", "x").await;
    let routing = bed.consumers(vec![consumer("app", Order::Arrival)]).await;
    bed.route(&routing).await;
    let look = || dump::dump(&Sheets::of_store(&bed.work_file()).rows());
    let settings =
        "select group_concat(name || hex(value)) = (select group_concat(name || hex(value)) from hookonce_setting)
                    from hookonce_setting";
    assert_eq!(bed.inbox_count(settings), 1);
    let before = look();
    bed.store.refused(refusals(20, 10)).await.unwrap();
    let changed = dump::differences(&look(), &before);
    assert!(!changed.is_empty());
    let allowed = |line: &String| line.starts_with("- sample ") || line.starts_with("- tally crm refused/");
    assert!(changed.iter().all(allowed), "{changed:#?}");
}

#[tokio::test]
async fn the_audit_of_lanes_finds_and_mends_what_must_never_be() {
    let bed = Bed::new();
    for key in ["a-1", "a-2", "b-1", "free"] {
        bed.admit(key, "x").await;
    }
    let routing = bed.consumers(vec![consumer("app", Order::Arrival)]).await;
    bed.route(&routing).await;
    assert!(bed.store.sweep().await.unwrap().headless.is_empty());
    bed.on_work("delete from hookonce_work where event in (1, 4)");
    let swept = bed.store.sweep().await.unwrap();
    assert_eq!(swept.headless.len(), 2, "{swept:?}");
    assert_eq!(bed.claim(1, 10).await.len(), 3);
    while !bed.store.sweep().await.unwrap().headless.is_empty() {}
}
