//! The whole way out on the embedded store: admission, router, worker, real sockets.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hookonce::chance::Seeded;
use hookonce::engine::{Engine, LEASE, Post};
use hookonce::sqlite::{Options, SqliteStore};
use hookonce::store::Store;
use hookonce::view::{Page, Query};
use hookonce_core::admit::{Origin, Submission, Verdict};
use hookonce_core::consumer::{Consumer, From, OnDead, Order, Pattern, Policy};
use hookonce_core::event::{Item, Key, KeyKind, Mapped};
use hookonce_core::frame;
use hookonce_core::request::Headers;
use hookonce_destinations::http::{Config, Http};
use hookonce_destinations::testkit::receiver::{Received, Receiver, Reply};
use hookonce_http::Intake as _;
use http::{HeaderName, HeaderValue};
use tokio::time::timeout;

/// Longer than anything here takes on the slowest machine.
const HANGS: Duration = Duration::from_secs(120);

fn open(folder: &Path) -> Arc<SqliteStore> {
    Arc::new(SqliteStore::open(&folder.join("hookonce.db"), Options::default()).unwrap())
}

fn consumer(retry: Policy) -> Consumer {
    Consumer {
        id: 0,
        name: "app".into(),
        on: vec![Pattern::parse("*/*").unwrap()],
        order: Order::Arrival,
        on_dead: OnDead::Hold,
        retry,
        from: From::Beginning,
        key_name: "app".into(),
        pulled: false,
    }
}

async fn engine(store: &Arc<SqliteStore>, receiver: &Receiver, config: Config, retry: Policy) -> Engine {
    let http = Http::new(Config { url: receiver.url(), allow_private: true, ..config }).unwrap();
    let post = Post {
        consumer: consumer(retry),
        destination: Arc::new(http),
        concurrency: 32,
        timeout: Duration::from_secs(10),
        lease: LEASE,
    };
    Engine::start(store.clone(), vec![post], Arc::new(Seeded::new(1))).await.unwrap()
}

async fn arrived(receiver: &Receiver, count: usize) -> Vec<Received> {
    timeout(HANGS, receiver.arrived(count)).await.expect("so many never arrived")
}

fn item(key: &str, bytes: &[u8]) -> Item {
    let hash = frame::sha256(bytes);
    Item {
        source: "gh".into(),
        namespace: "gh".into(),
        rule: 1,
        key: Key { kind: KeyKind::Provider, bytes: key.into(), text: key.into() },
        digest: frame::digest("gh", KeyKind::Provider, key.as_bytes()),
        fingerprint: hash,
        body_hash: hash,
        kind: "push".into(),
        aggregate: None,
        version: Some("7".into()),
        event_time: None,
        schema_version: None,
        span: None,
        item: 0,
        provider_delivery: None,
        attempt_mark: None,
        guard: None,
        hold: None,
    }
}

fn submission(headers: &[(&'static str, &'static str)], body: &[u8], items: Vec<Item>) -> Submission {
    let pair =
        |(name, value): &(&'static str, &'static str)| (HeaderName::from_static(name), HeaderValue::from_static(value));
    Submission {
        source: "gh".into(),
        namespace: "gh".into(),
        received: 1_700_000_000_000_000,
        target: "POST /in/gh".into(),
        headers: Headers(headers.iter().map(pair).collect()),
        body: Bytes::copy_from_slice(body),
        secret: None,
        mapped: items.into_iter().map(|item| Mapped::Item(Box::new(item))).collect(),
        origin: Origin::Receive,
    }
}

fn single(key: &str, body: &[u8]) -> Submission {
    submission(&[("content-type", "application/json")], body, vec![item(key, body)])
}

/// F01: what is forwarded is what was received, byte for byte, whatever the bytes are.
#[tokio::test(flavor = "multi_thread")]
async fn f01_forwarded_bytes_are_the_received_ones() {
    let bodies: BTreeMap<&str, &[u8]> = BTreeMap::from([
        ("d-1", &b"{\"id\": 1,  \"b\":2.0,\"a\":\"x\"}\r\n"[..]),
        ("d-2", "{\"t\":\"😀 ñ …\"}".as_bytes()),
        ("d-3", br#"{"t":"\ud83d\ude00 \u00f1 \u2026"}"#),
        ("d-4", "{\"t\":\"a\u{2028}b\"}".as_bytes()),
        ("d-5", br#"{"t":"a\u2028b"}"#),
        ("d-6", b"\0\xff\xfe not text"),
        ("d-7", b""),
    ]);
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let receiver = Receiver::start(|_, _| Reply::Status(200)).await.unwrap();
    let engine = engine(&store, &receiver, Config::new(""), Policy::default()).await;
    for (key, body) in &bodies {
        let headers =
            [("content-type", "application/json"), ("x-hub-signature-256", "sha256=00"), ("webhook-id", "theirs")];
        engine.inbox().admit(submission(&headers, body, vec![item(key, body)])).await.unwrap();
    }
    for request in arrived(&receiver, bodies.len()).await {
        let key = request.header("hookonce-key").unwrap();
        assert_eq!(&request.body[..], bodies[key], "{key}");
        assert_eq!(request.header("content-type"), Some("application/json"));
        assert_eq!(request.header("x-hub-signature-256"), Some("sha256=00"));
        assert_eq!(request.header("original-webhook-id"), Some("theirs"));
        assert_eq!(request.header("hookonce-source"), Some("gh"));
        assert_eq!(request.header("hookonce-version"), Some("7"));
        assert!(request.header("hookonce-event").unwrap().starts_with("evt_"));
    }
    engine.shutdown(HANGS).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_item_of_a_batch_is_sent_as_its_own_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let receiver = Receiver::start(|_, _| Reply::Status(200)).await.unwrap();
    let engine = engine(&store, &receiver, Config::new(""), Policy::default()).await;
    let body = br#"[{"id": 1.0}, {"id":2}]"#;
    let part = |key, span: (u64, u64), n| {
        let bytes = &body[span.0 as usize..span.1 as usize];
        Item { span: Some(span), item: n, ..item(key, bytes) }
    };
    let items = vec![part("a", (1, 12), 0), part("b", (14, 22), 1)];
    engine.inbox().admit(submission(&[("content-type", "text/plain"), ("digest", "x")], body, items)).await.unwrap();
    let mut got: Vec<_> = arrived(&receiver, 2).await;
    got.sort_by(|a, b| a.header("hookonce-key").cmp(&b.header("hookonce-key")));
    let bodies: Vec<&[u8]> = got.iter().map(|r| &r.body[..]).collect();
    assert_eq!(bodies, [&br#"{"id": 1.0}"#[..], br#"{"id":2}"#]);
    assert!(got.iter().all(|r| r.header("content-type") == Some("application/json") && r.header("digest").is_none()));
    assert_ne!(got[0].header("webhook-id"), got[1].header("webhook-id"));
    engine.shutdown(HANGS).await;
}

/// F11: sixty-four copies at once, worker beside: one event, one effect, and every copy is answered.
#[tokio::test(flavor = "multi_thread")]
async fn f11_sixty_four_copies_are_one_effect() {
    const ROUNDS: usize = 20;
    const COPIES: usize = 64;
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let receiver = Receiver::start(|_, _| Reply::Status(200)).await.unwrap();
    let engine = engine(&store, &receiver, Config::new(""), Policy::default()).await;
    for round in 0..ROUNDS {
        let key = format!("evt_{round}");
        let barrier = Arc::new(tokio::sync::Barrier::new(COPIES));
        let copies: Vec<_> = (0..COPIES)
            .map(|_| {
                let (inbox, barrier, copy) = (engine.inbox(), barrier.clone(), single(&key, b"{\"n\":1}"));
                tokio::spawn(async move {
                    barrier.wait().await;
                    inbox.admit(copy).await.unwrap().verdicts.remove(0)
                })
            })
            .collect();
        let mut events = Vec::new();
        let mut accepted = 0;
        for copy in copies {
            match copy.await.unwrap() {
                Verdict::Accepted { event, .. } => {
                    accepted += 1;
                    events.push(event);
                }
                Verdict::Duplicate { of } => events.push(of),
                other => panic!("{other:?}"),
            }
        }
        events.dedup();
        assert_eq!((accepted, events.len()), (1, 1), "round {round}");
    }
    let got = arrived(&receiver, ROUNDS).await;
    engine.shutdown(HANGS).await;
    let mut per_key: BTreeMap<&str, usize> = BTreeMap::new();
    got.iter().for_each(|r| *per_key.entry(r.header("hookonce-key").unwrap()).or_default() += 1);
    assert!(per_key.len() == ROUNDS && per_key.values().all(|n| *n == 1), "{per_key:?}");
    assert_eq!(receiver.requests().len(), ROUNDS);
}

/// F12.3: a late copy of a dead event is a duplicate, and shows beside the dead letter.
#[tokio::test(flavor = "multi_thread")]
async fn f12_a_copy_of_a_dead_event_is_a_duplicate_and_not_silence() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let receiver = Receiver::start(|_, _| Reply::Full(422, vec![], Bytes::from_static(b"never"))).await.unwrap();
    let permanent = Config { permanent: vec![422], ..Config::new("") };
    let engine = engine(&store, &receiver, permanent, Policy::default()).await;
    let first = engine.inbox().admit(single("d-b3", b"{}")).await.unwrap();
    let Verdict::Accepted { event, .. } = first.verdicts[0] else { panic!("{first:?}") };
    let dead = timeout(HANGS, dead(&store)).await.expect("it never died");
    assert_eq!((dead.event, dead.reason.as_deref()), (event, Some("answered 422: never")));
    let second = engine.inbox().admit(single("d-b3", b"{}")).await.unwrap();
    assert_eq!(second.verdicts, [Verdict::Duplicate { of: event }]);
    engine.shutdown(HANGS).await;
    let Page::Why(why) = store.read(Query::Why { event }).await.unwrap() else { panic!("no story") };
    assert_eq!((&*why.deliveries[0].state, why.event.seen), ("permanently_failed", 2));
    assert!(why.requests.iter().any(|r| r.verdict == "duplicate"), "{:?}", why.requests);
    assert_eq!(receiver.requests().len(), 1);
}

async fn dead(store: &SqliteStore) -> hookonce::view::DeliveryRow {
    let mut looks = tokio::time::interval(Duration::from_millis(5));
    loop {
        looks.tick().await;
        if let Page::Deliveries(rows, _) = store.read(Query::Dead { after: None, limit: 10 }).await.unwrap()
            && let Some(row) = rows.into_iter().next()
        {
            return row;
        }
    }
}

/// What a dead process held is due as soon as the next one starts, and the receiver knows each repeat again: also after
/// the store was lost and everything began from nothing.
#[tokio::test(flavor = "multi_thread")]
async fn repeats_after_a_restart_and_after_the_loss_of_the_store_carry_the_same_id() {
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::start(|n, _| if n == 0 { Reply::Silence } else { Reply::Status(200) }).await.unwrap();
    let begin = async |folder: &Path, key: &str| {
        let store = open(folder);
        let engine = engine(&store, &receiver, Config::new(""), Policy::default()).await;
        engine.inbox().admit(single(key, b"{\"n\":1}")).await.unwrap();
        (store, engine)
    };
    let (store, first) = begin(folder.path(), "k").await;
    arrived(&receiver, 1).await;
    // Dropped, not shut down: nothing is given back.
    drop(first);
    store.close().await.unwrap();
    drop(store);

    let (store, second) = begin(folder.path(), "k").await;
    arrived(&receiver, 2).await;
    second.shutdown(HANGS).await;
    store.close().await.unwrap();

    let empty = tempfile::tempdir().unwrap();
    let (_store, third) = begin(empty.path(), "other").await;
    third.inbox().admit(single("k", b"{\"n\":1}")).await.unwrap();
    let requests = arrived(&receiver, 4).await;
    third.shutdown(HANGS).await;
    let ids: Vec<_> = requests.iter().filter(|r| r.header("hookonce-key") == Some("k")).collect();
    assert_eq!(ids.len(), 3);
    assert!(ids.windows(2).all(|w| w[0].header("webhook-id") == w[1].header("webhook-id") && w[0].body == w[1].body));
}
