//! What people see, on every store.

#![allow(clippy::unwrap_used, reason = "in a test an unwrap is a failed assertion")]

mod sent;

use std::sync::Arc;

use hookonce::clock::Clock as _;
use hookonce::postgres::bed::PostgresBed;
use hookonce::sqlite::bed::SqliteBed;
use hookonce::store::{Refusals, Run, Sample, Store};
use hookonce::testkit::dump;
use hookonce::testkit::model::{Rows, rows};
use hookonce::testkit::script::bed::{Bed, ModelBed, wait};
use hookonce::testkit::script::{pages, random};
use hookonce::view::{DeliveryRow, EventRow, Page, Query, Reached, RequestRow, WALK_MAX, Why};
use hookonce_core::claim::Ask;
use hookonce_core::command::{Command, Refused, Who};
use hookonce_core::consumer::{Consumer, From, Order, Pattern};
use hookonce_core::delivery::Outcome;
use hookonce_core::event::Mapped;
use hookonce_core::request::Headers;
use hookonce_core::route::Routing;
use hookonce_core::settle::plan;
use hookonce_core::time::SECOND;
use sent::{T0, consumer, of_items, sent};

macro_rules! reads {
    ($($name:ident),+ $(,)?) => {
        mod model {
            $(#[test]
            fn $name() {
                super::$name(&super::Desk::of(&super::ModelBed::default()));
            })+
        }
        mod sqlite {
            $(#[test]
            fn $name() {
                let folder = tempfile::tempdir().unwrap();
                super::$name(&super::Desk::of(&super::SqliteBed::new(folder.path())));
            })+
        }
        mod postgres {
            $(#[test]
            fn $name() {
                super::$name(&super::Desk::of(&super::PostgresBed::default()));
            })+
        }
    };
}

reads! {
    events_have_the_status_that_follows_from_what_is_owed,
    deliveries_have_one_of_the_nine_states_and_say_what_they_wait_for,
    why_tells_the_whole_story,
    a_dead_letter_comes_back_once_and_is_on_record,
    what_is_held_is_released_to_whoever_takes_it_by_then,
    requests_of_every_verdict_stand_in_one_list,
    each_conflict_shows_its_own_bytes_whatever_else_came_in_its_instant,
    a_conflict_that_is_not_kept_has_no_bytes,
    pages_of_one_instant_leave_none_out,
    an_unmapped_one_is_decided_once,
    consumers_say_what_they_owe,
    a_filter_that_finds_little_gives_short_pages_and_where_to_go_on,
}

/// Worlds that random scripts lead to.
fn worlds() -> impl Iterator<Item = ModelBed> {
    (1..=12).map(|seed| {
        let model = ModelBed::default();
        random::run(seed, random::Faults::None, &model);
        model
    })
}

/// Loads each world into a store and asks it everything; what it shows is what the model shows.
fn shows_every_world(bed: &dyn Bed, load: &dyn Fn(&Rows)) {
    for model in worlds() {
        let world = with_counts(model.rows());
        load(&world);
        bed.clock().set(model.clock().now());
        let counters = world.counters.clone();
        let rows = Rows { counters, ..bed.rows() };
        assert!(
            rows == world,
            "what was loaded is read back: {:#?}",
            dump::differences(&dump::dump(&rows), &dump::dump(&world))
        );
        let difference = pages::difference((&rows, &*bed.store()), (&world, &*model.store()));
        assert_eq!(difference, None);
    }
}

/// The model counts beside its tables; a store reads its counts from them.
fn with_counts(mut world: Rows) -> Rows {
    let counts: Vec<(&String, &String, i64)> =
        world.counters.tally.iter().map(|((source, verdict), n)| (source, verdict, *n)).collect();
    let counts = serde_json::to_string(&counts).unwrap();
    world.tally.put(rows::Tally { id: 1, at: 0, counts });
    world
}

#[test]
fn sqlite_shows_every_world() {
    let folder = tempfile::tempdir().unwrap();
    let bed = SqliteBed::new(folder.path());
    shows_every_world(&bed, &|world| bed.edit(&|rows| *rows = world.clone()));
}

#[test]
fn postgres_shows_every_world() {
    let bed = PostgresBed::default();
    shows_every_world(&bed, &|world| bed.sheets.load(world));
}

/// A store with its clock, and the shortest way to ask it.
struct Desk<'b> {
    bed: &'b dyn Bed,
    store: Arc<dyn Store>,
}

impl<'b> Desk<'b> {
    fn of(bed: &'b dyn Bed) -> Desk<'b> {
        bed.clock().set(T0);
        Desk { bed, store: bed.store() }
    }

    /// What each conflicting request came with, as far as it is kept; the oldest first.
    fn conflicts(&self) -> Vec<Option<String>> {
        let bytes = |row: &RequestRow| {
            let id = hookonce_core::id::parse(hookonce_core::id::Named::Request, &row.id).unwrap();
            match self.page(Query::RequestRaw { id }) {
                Page::Raw(raw) => Some(String::from_utf8(raw.body.to_vec()).unwrap()),
                _ => None,
            }
        };
        self.requests(Some("conflict"), None, 20).iter().rev().map(bytes).collect()
    }

    fn admit(&self, key: &str, body: &str) {
        wait(self.store.admit(sent(key, body))).unwrap();
    }

    fn consumers(&self, consumers: Vec<Consumer>) -> Routing {
        wait(self.store.configure(consumers)).unwrap()
    }

    fn route(&self, routing: &Routing) {
        while wait(self.store.route(routing)).unwrap().more {}
    }

    fn claim(&self, consumer: i64, n: u8) -> Vec<Run> {
        let now = self.bed.clock().now().to_be_bytes();
        let token = |n: u8| {
            let mut token = [n; 16];
            token[..8].copy_from_slice(&now);
            token
        };
        let tokens = (0..n).map(token).collect();
        let owner = self.store.identity().instance;
        wait(self.store.claim(Ask { consumer, tokens, lease: 30 * SECOND, owner, quiet: false })).unwrap()
    }

    fn settle(&self, consumer: &Consumer, runs: &[Run], outcome: &Outcome) {
        let endings = runs.iter().map(|run| plan(&run.claimed, outcome, consumer, 10, 0)).collect();
        wait(self.store.settle(endings, None)).unwrap();
    }

    fn page(&self, query: Query) -> Page {
        wait(self.store.read(query)).unwrap()
    }

    fn events(&self, status: Option<&str>, after: Option<i64>, limit: usize) -> (Vec<EventRow>, Option<i64>) {
        match self.page(Query::Events { source: None, status: status.map(Into::into), after, limit }) {
            Page::Events(rows, next) => (rows, next),
            other => panic!("{other:?}"),
        }
    }

    fn deliveries(&self, state: Option<&str>) -> Vec<DeliveryRow> {
        let state = state.map(Into::into);
        match self.page(Query::Deliveries { consumer: Some("app".into()), state, event: None, after: None, limit: 100 })
        {
            Page::Deliveries(rows, _) => rows,
            other => panic!("{other:?}"),
        }
    }

    fn requests(&self, verdict: Option<&str>, after: Option<Reached>, limit: usize) -> Vec<RequestRow> {
        match self.page(Query::Requests { source: None, verdict: verdict.map(Into::into), after, limit }) {
            Page::Requests(rows) => rows,
            other => panic!("{other:?}"),
        }
    }

    fn why(&self, event: i64) -> Why {
        match self.page(Query::Why { event }) {
            Page::Why(why) => *why,
            other => panic!("{other:?}"),
        }
    }

    /// The event of that key.
    fn event(&self, key: &str) -> i64 {
        self.events(None, None, 100).0.into_iter().find(|e| e.key == key).unwrap().id
    }

    fn key(&self, event: i64) -> String {
        self.events(None, None, 100).0.into_iter().find(|e| e.id == event).unwrap().key
    }

    fn command(&self, command: Command, reason: &str) -> Result<i64, Refused> {
        wait(self.store.command(command, Who { actor: "ann".into(), reason: reason.into() })).unwrap()
    }
}

/// One lane with a dead head and one behind it, one that ended, one that nobody takes, one not yet routed.
fn scene(desk: &Desk<'_>) -> Routing {
    for key in ["a-1", "a-2", "b-1"] {
        desk.admit(key, "x");
    }
    let mut nobody = sent("c-1", "x");
    nobody.source = "other".into();
    if let Mapped::Item(item) = &mut nobody.mapped[0] {
        item.source = "other".into();
    }
    wait(desk.store.admit(nobody)).unwrap();
    let routing = desk.consumers(vec![consumer("app", Order::Arrival)]);
    desk.route(&routing);
    let runs = desk.claim(1, 10);
    desk.settle(&routing.consumers[0], &runs[..1], &Outcome::Dead("410".into()));
    desk.settle(&routing.consumers[0], &runs[1..], &Outcome::Done);
    desk.admit("d-1", "x");
    routing
}

fn events_have_the_status_that_follows_from_what_is_owed(desk: &Desk<'_>) {
    scene(desk);
    let (all, next) = desk.events(None, None, 100);
    assert_eq!(next, None);
    let statuses: Vec<_> = all.iter().map(|e| (e.key.as_str(), e.status.as_str())).collect();
    let want = [
        ("d-1", "received"),
        ("c-1", "unmatched"),
        ("b-1", "done"),
        ("a-2", "in_progress"),
        ("a-1", "needs_attention"),
    ];
    assert_eq!(statuses, want);
    for (key, status) in want {
        let found: Vec<_> = desk.events(Some(status), None, 100).0.into_iter().map(|e| e.key).collect();
        assert_eq!(found, [key], "{status}");
    }
    let (page, next) = desk.events(None, Some(all[1].id), 2);
    assert_eq!(page.iter().map(|e| e.key.as_str()).collect::<Vec<_>>(), ["b-1", "a-2"]);
    assert_eq!(next, Some(page[1].id));
    let of_source = Query::Events { source: Some("other".into()), status: None, after: None, limit: 10 };
    let Page::Events(rows, None) = desk.page(of_source) else { panic!("another page") };
    assert_eq!(rows.iter().map(|e| e.key.as_str()).collect::<Vec<_>>(), ["c-1"]);
}

fn deliveries_have_one_of_the_nine_states_and_say_what_they_wait_for(desk: &Desk<'_>) {
    let routing = scene(desk);
    let all = desk.deliveries(None);
    let states: Vec<_> = all.iter().map(|d| (desk.key(d.event), d.state.as_str(), d.behind)).collect();
    let want = [
        ("b-1".to_owned(), "succeeded", None),
        ("a-2".to_owned(), "waiting", Some(all[2].id)),
        ("a-1".to_owned(), "permanently_failed", None),
    ];
    assert_eq!(states, want);
    for state in ["succeeded", "waiting", "permanently_failed"] {
        assert_eq!(desk.deliveries(Some(state)).len(), 1, "{state}");
    }
    desk.route(&routing);
    assert_eq!(desk.deliveries(Some("ready")).len(), 1);
    let runs = desk.claim(1, 1);
    assert_eq!(desk.key(desk.deliveries(Some("processing"))[0].event), "d-1");
    desk.settle(&routing.consumers[0], &runs, &Outcome::Retry { reason: "500".into(), after: None });
    let failed = desk.deliveries(Some("retryable_failed"));
    assert_eq!((failed[0].attempts, failed[0].reason.as_deref()), (1, Some("500")));
}

fn why_tells_the_whole_story(desk: &Desk<'_>) {
    scene(desk);
    desk.admit("a-1", "x");
    desk.admit("a-1", "y");
    let why = desk.why(desk.event("a-1"));
    let verdicts: Vec<_> = why.requests.iter().map(|r| r.verdict.as_str()).collect();
    assert_eq!(verdicts, ["accepted", "duplicate", "conflict"]);
    assert_eq!((why.event.seen, why.event.conflicts, why.event.attempts), (2, 1, 1));
    let history: Vec<_> =
        why.deliveries[0].history.iter().map(|a| (a.no, a.outcome.as_str(), a.detail.as_str())).collect();
    assert_eq!(history, [(1, "dead", "410")]);
    assert!(why.routed && why.hold.is_none());
    assert!(!desk.why(desk.event("d-1")).routed);
    assert!(matches!(desk.page(Query::Why { event: 99 }), Page::None));
}

fn a_dead_letter_comes_back_once_and_is_on_record(desk: &Desk<'_>) {
    scene(desk);
    let Page::Deliveries(dead, _) = desk.page(Query::Dead { after: None, limit: 10 }) else { panic!("another page") };
    let retry = Command::DeadRetry { delivery: dead[0].id };
    assert_eq!(desk.command(retry.clone(), "mended"), Ok(1));
    assert_eq!(desk.command(retry, "mended"), Err(Refused::NotFound));
    assert_eq!(desk.claim(1, 1)[0].claimed.decided, Some(1));
    assert_eq!(desk.bed.rows().work_audit.len(), 1);
}

fn what_is_held_is_released_to_whoever_takes_it_by_then(desk: &Desk<'_>) {
    scene(desk);
    let Page::Held(held) = desk.page(Query::Held { after: None, limit: 10 }) else { panic!("another page") };
    assert_eq!((held[0].key.as_str(), held[0].reason.as_str()), ("c-1", "no_consumer"));
    let taker = Consumer { on: vec![Pattern::parse("*/*").unwrap()], ..consumer("late", Order::None) };
    let taker = Consumer { from: From::Now, ..taker };
    let routing = desk.consumers(vec![consumer("app", Order::Arrival), taker]);
    desk.command(Command::HeldRelease { event: held[0].event }, "now there is one").unwrap();
    desk.route(&routing);
    let runs = desk.claim(routing.consumers[1].id, 10);
    assert_eq!(runs.iter().map(|run| run.event.key_text.as_str()).collect::<Vec<_>>(), ["c-1"]);
}

fn requests_of_every_verdict_stand_in_one_list(desk: &Desk<'_>) {
    desk.admit("k", "x");
    desk.bed.clock().advance(SECOND);
    desk.admit("k", "x");
    desk.bed.clock().advance(SECOND);
    desk.admit("k", "y");
    desk.bed.clock().advance(SECOND);
    let unmapped = vec![Mapped::Unmapped { item: 0, span: None, reason: "no id".into() }];
    wait(desk.store.admit(of_items(b"raw", unmapped))).unwrap();
    let sample = Sample {
        source: "crm".into(),
        target: "POST /in/crm".into(),
        headers: Headers::default(),
        body: b"forged".to_vec(),
        reason: "bad_signature".into(),
        received: T0 + 10 * SECOND,
    };
    wait(desk.store.refused(Refusals { samples: vec![sample], counts: Vec::new() })).unwrap();
    let all = desk.requests(None, None, 10);
    let verdicts: Vec<_> = all.iter().map(|r| r.verdict.as_str()).collect();
    assert_eq!(verdicts, ["refused", "unmapped", "conflict", "duplicate", "accepted"]);
    for row in &all {
        assert_eq!(desk.requests(Some(&row.verdict), None, 10).len(), 1, "{}", row.verdict);
    }
    let page = desk.requests(None, Some(all[1].cursor), 2);
    assert_eq!(page.iter().map(|r| r.id.as_str()).collect::<Vec<_>>(), [all[2].id.as_str(), all[3].id.as_str()]);
    let number = |row: &RequestRow| hookonce_core::id::parse(hookonce_core::id::Named::Request, &row.id).unwrap();
    for (row, want) in [(&all[0], &b"forged"[..]), (&all[1], b"raw"), (&all[2], b"y")] {
        let Page::Raw(raw) = desk.page(Query::RequestRaw { id: number(row) }) else { panic!("no bytes of {row:?}") };
        assert_eq!(raw.body.as_ref(), want);
    }
    let Page::Raw(raw) = desk.page(Query::EventRaw { id: desk.event("k") }) else { panic!("no bytes") };
    assert_eq!((raw.body.as_ref(), raw.target.as_str()), (&b"x"[..], "POST /in/crm"));
    // What came again has no bytes of its own.
    assert!(matches!(desk.page(Query::RequestRaw { id: number(&all[3]) }), Page::None));
}

fn each_conflict_shows_its_own_bytes_whatever_else_came_in_its_instant(desk: &Desk<'_>) {
    for body in ["first", "second", "third", "second"] {
        desk.admit("k", body);
    }
    assert_eq!(desk.conflicts(), [Some("second".into()), Some("third".into()), Some("second".into())]);
}

/// The ninth content of a key is on record without its bytes: none are shown, least of all another's.
fn a_conflict_that_is_not_kept_has_no_bytes(desk: &Desk<'_>) {
    for body in 0..=9 {
        desk.admit("k", &body.to_string());
    }
    let kept = (1..=8).map(|body| Some(body.to_string()));
    assert_eq!(desk.conflicts(), kept.chain([None]).collect::<Vec<_>>());
}

fn pages_of_one_instant_leave_none_out(desk: &Desk<'_>) {
    for _ in 0..7 {
        desk.admit("k", "x");
    }
    for limit in [1, 3, 7] {
        let (mut ids, mut after) = (Vec::new(), None);
        loop {
            let page = desk.requests(None, after, limit);
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

fn an_unmapped_one_is_decided_once(desk: &Desk<'_>) {
    let unmapped = vec![Mapped::Unmapped { item: 0, span: None, reason: "no id".into() }];
    wait(desk.store.admit(of_items(b"raw", unmapped))).unwrap();
    let id = desk.bed.rows().unmapped.keys().copied().next().unwrap();
    let drop = Command::UnmappedDrop { id };
    assert_eq!(desk.command(drop.clone(), "noise"), Ok(1));
    assert_eq!(desk.command(drop, "noise"), Err(Refused::State));
    assert_eq!(desk.command(Command::UnmappedDrop { id: id + 8 }, "noise"), Err(Refused::NotFound));
    let Page::Requests(rows) = desk.page(Query::Unmapped { id }) else { panic!("gone") };
    assert_eq!(rows[0].decided.as_deref(), Some("dropped by ann"));
    let mut late = sent("k", "x");
    let (actor, reason) = ("ben".to_owned(), "mapped".to_owned());
    late.origin = hookonce_core::admit::Origin::Admit { unmapped: id, actor, reason };
    assert!(wait(desk.store.admit(late)).is_err(), "it was decided otherwise");
    assert!(desk.bed.rows().event.is_empty());
}

fn consumers_say_what_they_owe(desk: &Desk<'_>) {
    let routing = scene(desk);
    desk.route(&routing);
    let Page::Consumers(rows) = desk.page(Query::Consumers) else { panic!("another page") };
    let app = &rows[0];
    assert_eq!((app.name.as_str(), app.state.as_str(), app.pos), ("app", "live", desk.event("d-1")));
    assert_eq!((app.ready, app.processing, app.dead), (1, 0, 1));
}

/// The first event is done, thousands behind it are not even routed.
fn a_filter_that_finds_little_gives_short_pages_and_where_to_go_on(desk: &Desk<'_>) {
    scene(desk);
    let done = desk.event("b-1");
    let template = desk.bed.rows().event.values().next_back().cloned().unwrap();
    let more = i64::try_from(WALK_MAX).unwrap() + 100;
    desk.bed.edit(&|rows| {
        for n in 1..=more {
            rows.event.put(rows::Event { id: template.id + n, ..template.clone() });
        }
    });
    let (first, next) = desk.events(Some("done"), None, 5);
    assert!(first.is_empty() && next.is_some(), "it looked at them all: {first:?}");
    let (second, end) = desk.events(Some("done"), next, 5);
    assert_eq!((second.iter().map(|e| e.id).collect::<Vec<_>>(), end), (vec![done], None));
    let (full, next) = desk.events(Some("received"), None, 5);
    assert_eq!((full.len(), next), (5, Some(template.id + more - 4)));
}
