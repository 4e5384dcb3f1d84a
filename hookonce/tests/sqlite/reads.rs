//! What people see.

use hookonce::store::{Refusals, Sample, Store as _};
use hookonce::view::{DeliveryRow, EventRow, Page, Query, Reached, RequestRow};
use hookonce_core::command::{Command, Refused, Who};
use hookonce_core::consumer::{Consumer, Order, Pattern};
use hookonce_core::delivery::Outcome;
use hookonce_core::event::Mapped;
use hookonce_core::request::Headers;
use hookonce_core::route::Routing;
use hookonce_core::time::SECOND;

use crate::bed::{Bed, consumer, of_items, sent};

async fn events(bed: &Bed, status: Option<&str>, after: Option<i64>, limit: usize) -> Vec<EventRow> {
    let query = Query::Events { source: None, status: status.map(Into::into), after, limit };
    match bed.store.read(query).await.unwrap() {
        Page::Events(rows) => rows,
        other => panic!("{other:?}"),
    }
}

async fn deliveries(bed: &Bed, state: Option<&str>) -> Vec<DeliveryRow> {
    let state = state.map(Into::into);
    let query = Query::Deliveries { consumer: Some("app".into()), state, event: None, after: None, limit: 100 };
    match bed.store.read(query).await.unwrap() {
        Page::Deliveries(rows) => rows,
        other => panic!("{other:?}"),
    }
}

async fn requests(bed: &Bed, verdict: Option<&str>, after: Option<Reached>, limit: usize) -> Vec<RequestRow> {
    let query = Query::Requests { source: None, verdict: verdict.map(Into::into), after, limit };
    match bed.store.read(query).await.unwrap() {
        Page::Requests(rows) => rows,
        other => panic!("{other:?}"),
    }
}

/// One lane with a dead head and one behind it, one that ended, one that nobody takes, one not yet routed.
async fn scene() -> (Bed, Routing) {
    let bed = Bed::new();
    for key in ["a-1", "a-2", "b-1"] {
        bed.admit(key, "x").await;
    }
    let mut nobody = sent("c-1", "x");
    nobody.source = "other".into();
    if let Mapped::Item(item) = &mut nobody.mapped[0] {
        item.source = "other".into();
    }
    bed.store.admit(nobody).await.unwrap();
    let routing = bed.consumers(vec![consumer("app", Order::Arrival)]).await;
    bed.route(&routing).await;
    let runs = bed.claim(1, 10).await;
    bed.settle(&routing.consumers[0], &runs[..1], &Outcome::Dead("410".into())).await;
    bed.settle(&routing.consumers[0], &runs[1..], &Outcome::Done).await;
    bed.admit("d-1", "x").await;
    (bed, routing)
}

#[tokio::test]
async fn events_have_the_status_that_follows_from_what_is_owed() {
    let (bed, _) = scene().await;
    let all = events(&bed, None, None, 100).await;
    let statuses: Vec<_> = all.iter().map(|e| (e.id, e.status.as_str())).collect();
    let want = [(5, "received"), (4, "unmatched"), (3, "done"), (2, "in_progress"), (1, "needs_attention")];
    assert_eq!(statuses, want);
    for (id, status) in want {
        let found: Vec<_> = events(&bed, Some(status), None, 100).await.iter().map(|e| e.id).collect();
        assert_eq!(found, [id], "{status}");
    }
    let page: Vec<_> = events(&bed, None, Some(4), 2).await.iter().map(|e| e.id).collect();
    assert_eq!(page, [3, 2]);
}

#[tokio::test]
async fn deliveries_have_one_of_the_nine_states_and_say_what_they_wait_for() {
    let (bed, routing) = scene().await;
    let all = deliveries(&bed, None).await;
    let states: Vec<_> = all.iter().map(|d| (d.event, d.state.as_str(), d.behind)).collect();
    assert_eq!(states, [(3, "succeeded", None), (2, "waiting", Some(all[2].id)), (1, "permanently_failed", None)]);
    for state in ["succeeded", "waiting", "permanently_failed"] {
        assert_eq!(deliveries(&bed, Some(state)).await.len(), 1, "{state}");
    }
    bed.route(&routing).await;
    assert_eq!(deliveries(&bed, Some("ready")).await.len(), 1);
    let runs = bed.claim(1, 1).await;
    assert_eq!(deliveries(&bed, Some("processing")).await[0].event, 5);
    bed.settle(&routing.consumers[0], &runs, &Outcome::Retry { reason: "500".into(), after: None }).await;
    let failed = deliveries(&bed, Some("retryable_failed")).await;
    assert_eq!((failed[0].attempts, failed[0].reason.as_deref()), (1, Some("500")));
}

#[tokio::test]
async fn why_tells_the_whole_story() {
    let (bed, _) = scene().await;
    bed.admit("a-1", "x").await;
    bed.admit("a-1", "y").await;
    let Page::Why(why) = bed.store.read(Query::Why { event: 1 }).await.unwrap() else { panic!("no story") };
    let verdicts: Vec<_> = why.requests.iter().map(|r| r.verdict.as_str()).collect();
    assert_eq!(verdicts, ["accepted", "duplicate", "conflict"]);
    assert_eq!((why.event.seen, why.event.conflicts, why.event.attempts), (2, 1, 1));
    let history: Vec<_> =
        why.deliveries[0].history.iter().map(|a| (a.no, a.outcome.as_str(), a.detail.as_str())).collect();
    assert_eq!(history, [(1, "dead", "410")]);
    assert!(why.routed && why.hold.is_none());
    assert!(matches!(bed.store.read(Query::Why { event: 99 }).await.unwrap(), Page::None));
}

#[tokio::test]
async fn a_dead_letter_comes_back_once_and_is_on_record() {
    let (bed, _) = scene().await;
    let Page::Deliveries(dead) = bed.store.read(Query::Dead { after: None, limit: 10 }).await.unwrap() else {
        panic!("another page")
    };
    let retry = Command::DeadRetry { delivery: dead[0].id };
    let who = Who { actor: "ann".into(), reason: "mended".into() };
    assert_eq!(bed.store.command(retry.clone(), who.clone()).await.unwrap(), Ok(1));
    assert_eq!(bed.store.command(retry, who).await.unwrap(), Err(Refused::NotFound));
    assert_eq!(bed.claim(1, 1).await[0].claimed.decided, Some(1));
    assert_eq!(bed.work_count("select count(*) from hookonce_audit"), 1);
}

#[tokio::test]
async fn what_is_held_is_released_to_whoever_takes_it_by_then() {
    let (bed, _) = scene().await;
    let Page::Held(held) = bed.store.read(Query::Held { after: None, limit: 10 }).await.unwrap() else {
        panic!("another page")
    };
    assert_eq!((held[0].event, held[0].reason.as_str()), (4, "no_consumer"));
    let taker = Consumer { on: vec![Pattern::parse("*/*").unwrap()], ..consumer("late", Order::None) };
    let taker = Consumer { from: hookonce_core::consumer::From::Now, ..taker };
    let routing = bed.consumers(vec![consumer("app", Order::Arrival), taker]).await;
    let who = Who { actor: "ann".into(), reason: "now there is one".into() };
    bed.store.command(Command::HeldRelease { event: 4 }, who).await.unwrap().unwrap();
    bed.route(&routing).await;
    let runs = bed.claim(routing.consumers[1].id, 10).await;
    assert_eq!(runs.iter().map(|run| run.event.id).collect::<Vec<_>>(), [4]);
}

#[tokio::test]
async fn requests_of_every_verdict_stand_in_one_list() {
    let bed = Bed::new();
    bed.admit("k", "x").await;
    bed.clock.advance(SECOND);
    bed.admit("k", "x").await;
    bed.clock.advance(SECOND);
    bed.admit("k", "y").await;
    bed.clock.advance(SECOND);
    let unmapped = vec![Mapped::Unmapped { item: 0, span: None, reason: "no id".into() }];
    bed.store.admit(of_items(b"raw", unmapped)).await.unwrap();
    let sample = Sample {
        source: "crm".into(),
        target: "POST /in/crm".into(),
        headers: Headers::default(),
        body: b"forged".to_vec(),
        reason: "bad_signature".into(),
        received: crate::bed::T0 + 10 * SECOND,
    };
    bed.store.refused(Refusals { samples: vec![sample], counts: Vec::new() }).await.unwrap();
    let all = requests(&bed, None, None, 10).await;
    let verdicts: Vec<_> = all.iter().map(|r| r.verdict.as_str()).collect();
    assert_eq!(verdicts, ["refused", "unmapped", "conflict", "duplicate", "accepted"]);
    for row in &all {
        assert_eq!(requests(&bed, Some(&row.verdict), None, 10).await.len(), 1, "{}", row.verdict);
    }
    let page = requests(&bed, None, Some(all[1].cursor), 2).await;
    assert_eq!(page.iter().map(|r| r.id.as_str()).collect::<Vec<_>>(), [all[2].id.as_str(), all[3].id.as_str()]);
    let number = |row: &RequestRow| hookonce_core::id::parse(hookonce_core::id::Named::Request, &row.id).unwrap();
    for (row, want) in [(&all[0], &b"forged"[..]), (&all[1], b"raw"), (&all[2], b"y")] {
        let Page::Raw(raw) = bed.store.read(Query::RequestRaw { id: number(row) }).await.unwrap() else {
            panic!("no bytes of {row:?}")
        };
        assert_eq!(raw.body.as_ref(), want);
    }
}

#[tokio::test]
async fn each_conflict_shows_its_own_bytes_whatever_else_came_in_its_instant() {
    let bed = Bed::new();
    for body in ["first", "second", "third", "second"] {
        bed.admit("k", body).await;
    }
    for (id, want) in [(1, "second"), (2, "third"), (3, "second")] {
        let Page::Raw(raw) = bed.store.read(Query::RequestRaw { id }).await.unwrap() else {
            panic!("no bytes of {id}")
        };
        assert_eq!(raw.body, want, "request {id}");
    }
}

/// The ninth content of a key is on record without its bytes: none are shown, least of all another's.
#[tokio::test]
async fn a_conflict_that_is_not_kept_has_no_bytes() {
    let bed = Bed::new();
    for body in 0..=9 {
        bed.admit("k", &body.to_string()).await;
    }
    assert!(matches!(bed.store.read(Query::RequestRaw { id: 8 }).await.unwrap(), Page::Raw(raw) if raw.body == "8"));
    assert!(matches!(bed.store.read(Query::RequestRaw { id: 9 }).await.unwrap(), Page::None));
}

#[tokio::test]
async fn pages_of_one_instant_leave_none_out() {
    let bed = Bed::new();
    for _ in 0..7 {
        bed.admit("k", "x").await;
    }
    for limit in [1, 3, 7] {
        let (mut ids, mut after) = (Vec::new(), None);
        loop {
            let page = requests(&bed, None, after, limit).await;
            ids.extend(page.iter().map(|row| row.id.clone()));
            after = page.last().map(|row| row.cursor);
            if page.len() < limit {
                break;
            }
        }
        let all = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!((ids.len(), all), (7, 7), "pages of {limit}: {ids:?}");
    }
}

#[tokio::test]
async fn an_unmapped_one_is_decided_once() {
    let bed = Bed::new();
    let unmapped = vec![Mapped::Unmapped { item: 0, span: None, reason: "no id".into() }];
    bed.store.admit(of_items(b"raw", unmapped)).await.unwrap();
    let who = Who { actor: "ann".into(), reason: "noise".into() };
    let drop = Command::UnmappedDrop { id: 1 };
    assert_eq!(bed.store.command(drop.clone(), who.clone()).await.unwrap(), Ok(1));
    assert_eq!(bed.store.command(drop, who.clone()).await.unwrap(), Err(Refused::State));
    assert_eq!(bed.store.command(Command::UnmappedDrop { id: 9 }, who).await.unwrap(), Err(Refused::NotFound));
    let Page::Requests(rows) = bed.store.read(Query::Unmapped { id: 1 }).await.unwrap() else { panic!("gone") };
    assert_eq!(rows[0].decided.as_deref(), Some("dropped by ann"));
    let mut late = sent("k", "x");
    let (actor, reason) = ("ben".to_owned(), "mapped".to_owned());
    late.origin = hookonce_core::admit::Origin::Admit { unmapped: 1, actor, reason };
    assert!(bed.store.admit(late).await.is_err(), "it was decided otherwise");
    assert_eq!(bed.inbox_count("select count(*) from hookonce_event"), 0);
}

#[tokio::test]
async fn consumers_say_what_they_owe() {
    let (bed, routing) = scene().await;
    bed.route(&routing).await;
    let Page::Consumers(rows) = bed.store.read(Query::Consumers).await.unwrap() else { panic!("another page") };
    let app = &rows[0];
    assert_eq!((app.name.as_str(), app.state.as_str(), app.pos), ("app", "live", 5));
    assert_eq!((app.ready, app.processing, app.dead), (1, 0, 1));
}
