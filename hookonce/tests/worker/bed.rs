//! The bed of the loops' tests: the model as store, destinations that do what a test says, and one time for all of it.
//!
//! The store's clock is the runtime's, which stands still while anything can run and jumps to the next timer when
//! nothing can: a test over three days takes a moment, and never depends on how fast it runs.

use std::collections::BTreeMap;
use std::fmt;
use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use hookonce::chance::Seeded;
use hookonce::clock::Clock;
use hookonce::engine::{Engine, LEASE, Post};
use hookonce::store::Store;
use hookonce::testkit::model::{ModelStore, Rows};
use hookonce_core::admit::{Origin, Submission};
use hookonce_core::consumer::{Consumer, From, OnDead, Order, Pattern, Policy};
use hookonce_core::delivery::Outcome;
use hookonce_core::destination::{Destination, Sending, Sent};
use hookonce_core::event::{Item, Key, KeyKind, Mapped};
use hookonce_core::frame;
use hookonce_core::message::Message;
use hookonce_core::request::Headers;
use hookonce_core::time::{Micros, SECOND};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

/// Far in virtual time: a test that waits longer hangs.
const HANGS: Duration = Duration::from_secs(30 * 24 * 3_600);
pub const SEED: u64 = 7;

/// The runtime's time as the store's.
#[derive(Debug)]
pub struct RuntimeClock(Instant);

impl Clock for RuntimeClock {
    fn now(&self) -> Micros {
        1_700_000_000 * SECOND + Micros::try_from(self.0.elapsed().as_micros()).unwrap()
    }
}

pub fn model() -> Arc<ModelStore> {
    Arc::new(ModelStore::new(Arc::new(RuntimeClock(Instant::now()))))
}

/// What a receiver does with a message.
#[derive(Clone, Debug)]
pub enum Step {
    Says(Outcome),
    /// The same after that long.
    After(Duration, Outcome),
    Pauses(Outcome),
    Panics(&'static str),
    /// Never ends.
    Hangs,
}

impl Step {
    pub fn fails() -> Step {
        Step::Says(Outcome::Retry { reason: "no".into(), after: None })
    }
}

/// One send as it arrived.
#[derive(Clone, Debug)]
pub struct Arrival {
    pub key: String,
    pub id: String,
    pub body: Bytes,
    pub at: Instant,
    /// The how manieth of that key, from 1.
    pub nth: usize,
    /// Others that were on their way at that moment.
    pub beside: usize,
}

type Script = dyn Fn(&Arrival) -> Step + Send + Sync;

/// A receiver by script, and what it got.
pub struct Scripted {
    script: Box<Script>,
    arrivals: Mutex<Vec<Arrival>>,
    count: watch::Sender<usize>,
    busy: AtomicUsize,
    most: AtomicUsize,
}

impl fmt::Debug for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scripted")
    }
}

impl Scripted {
    pub fn new(script: impl Fn(&Arrival) -> Step + Send + Sync + 'static) -> Arc<Scripted> {
        Arc::new(Scripted {
            script: Box::new(script),
            arrivals: Mutex::default(),
            count: watch::Sender::new(0),
            busy: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
        })
    }

    pub fn arrivals(&self) -> Vec<Arrival> {
        self.arrivals.lock().unwrap().clone()
    }

    pub fn keys(&self) -> Vec<String> {
        self.arrivals().into_iter().map(|a| a.key).collect()
    }

    pub fn of(&self, key: &str) -> Vec<Arrival> {
        self.arrivals().into_iter().filter(|a| a.key == key).collect()
    }

    /// On their way now.
    pub fn now(&self) -> usize {
        self.busy.load(Ordering::SeqCst)
    }

    /// Most that were on their way at once.
    pub fn most(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }

    pub async fn arrived(&self, count: usize) {
        let mut seen = self.count.subscribe();
        timeout(HANGS, seen.wait_for(|n| *n >= count)).await.expect("so many never arrived").unwrap();
    }

    pub async fn key_arrived(&self, key: &str, times: usize) {
        let mut seen = self.count.subscribe();
        let enough = |_: &usize| self.of(key).len() >= times;
        timeout(HANGS, seen.wait_for(enough)).await.expect("it never arrived so often").unwrap();
    }

    fn took(&self, message: &Message) -> Arrival {
        let key = String::from_utf8_lossy(message.headers.get("hookonce-key").unwrap()).into_owned();
        let mut arrivals = self.arrivals.lock().unwrap();
        let nth = arrivals.iter().filter(|a| a.key == key).count() + 1;
        let beside = self.busy.load(Ordering::SeqCst) - 1;
        let (id, body) = (message.id.clone(), message.body.clone());
        let arrival = Arrival { key, id, body, at: Instant::now(), nth, beside };
        arrivals.push(arrival.clone());
        arrival
    }
}

/// Counts a send as long as it lives, also if it is given up.
struct Busy<'a>(&'a Scripted);

impl<'a> Busy<'a> {
    fn new(scripted: &'a Scripted) -> Busy<'a> {
        let busy = scripted.busy.fetch_add(1, Ordering::SeqCst) + 1;
        scripted.most.fetch_max(busy, Ordering::SeqCst);
        Busy(scripted)
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Destination for Scripted {
    fn send(&self, message: Message, _: Duration) -> Sending<'_> {
        Box::pin(async move {
            let _busy = Busy::new(self);
            let arrival = self.took(&message);
            self.count.send_modify(|n| *n += 1);
            match (self.script)(&arrival) {
                Step::Says(outcome) => outcome.into(),
                Step::After(delay, outcome) => {
                    tokio::time::sleep_until(Instant::now() + delay).await;
                    outcome.into()
                }
                Step::Pauses(outcome) => Sent { outcome, pause: Some("is gone".into()) },
                Step::Panics(text) => panic!("{text}"),
                Step::Hangs => pending().await,
            }
        })
    }
}

pub fn consumer(name: &str) -> Consumer {
    Consumer {
        id: 0,
        name: name.into(),
        on: vec![Pattern::parse("*/*").unwrap()],
        order: Order::Arrival,
        on_dead: OnDead::Hold,
        retry: Policy::default(),
        from: From::Beginning,
        key_name: name.into(),
        pulled: false,
    }
}

pub fn post(consumer: Consumer, destination: Arc<dyn Destination>) -> Post {
    Post { consumer, destination, concurrency: 4, timeout: Duration::from_secs(10), lease: LEASE }
}

pub async fn engine(store: Arc<dyn Store>, posts: Vec<Post>) -> Engine {
    Engine::start(store, posts, Arc::new(Seeded::new(SEED))).await.unwrap()
}

/// An event with that key, in the lane of that aggregate.
pub fn submission(key: &str, aggregate: Option<&str>) -> Submission {
    let body = format!("{{\"key\":\"{key}\"}}");
    let hash = frame::sha256(body.as_bytes());
    let item = Item {
        source: "crm".into(),
        namespace: "crm".into(),
        rule: 1,
        key: Key { kind: KeyKind::Provider, bytes: key.into(), text: key.into() },
        digest: frame::digest("crm", KeyKind::Provider, key.as_bytes()),
        fingerprint: hash,
        body_hash: hash,
        kind: "thing.done".into(),
        aggregate: aggregate.map(Into::into),
        version: None,
        event_time: None,
        schema_version: None,
        span: None,
        item: 0,
        provider_delivery: None,
        attempt_mark: None,
        guard: None,
        hold: None,
    };
    Submission {
        source: "crm".into(),
        namespace: "crm".into(),
        received: 0,
        target: "POST /in/crm".into(),
        headers: Headers::default(),
        body: body.into(),
        secret: None,
        mapped: vec![Mapped::Item(Box::new(item))],
        origin: Origin::Receive,
    }
}

/// Admits events in this order: `K1` lies in the lane of `K`, `-1` in none.
pub async fn admit(store: &dyn Store, keys: &[&str]) {
    for key in keys {
        let aggregate = key.trim_end_matches(|c: char| c.is_ascii_digit());
        store.admit(submission(key, Some(aggregate).filter(|a| *a != "-"))).await.unwrap();
    }
}

/// Ends when the rows look so; time jumps from timer to timer meanwhile.
pub async fn until(store: &ModelStore, wanted: impl Fn(&Rows) -> bool) -> Rows {
    let mut looks = tokio::time::interval(Duration::from_millis(10));
    let seen = async {
        loop {
            looks.tick().await;
            let rows = store.rows();
            if wanted(&rows) {
                return rows;
            }
        }
    };
    timeout(HANGS, seen).await.expect("the rows never looked so")
}

/// Lets that much time pass.
pub async fn pass(time: Duration) {
    tokio::time::interval_at(Instant::now() + time, time).tick().await;
}

/// Ends when nothing can run any more.
pub async fn drained(store: &ModelStore) -> Rows {
    until(store, |rows| rows.work.is_empty() && rows.delivery.len() >= rows.event.len()).await
}

/// The state of each delivery by the key of its event.
pub fn states(rows: &Rows) -> BTreeMap<String, String> {
    let state = |d: &hookonce::testkit::model::rows::Delivery| match rows.halted.get(&d.id) {
        Some(halted) => halted.kind.clone(),
        None => d.state.clone().unwrap_or_else(|| "open".into()),
    };
    rows.delivery.values().map(|d| (rows.event[&d.event].key_text.clone(), state(d))).collect()
}

/// Outcomes of a delivery in the order of its history.
pub fn history(rows: &Rows, key: &str) -> Vec<String> {
    let id = rows.delivery.values().find(|d| rows.event[&d.event].key_text == key).unwrap().id;
    rows.attempt.values().filter(|a| a.delivery == id).map(|a| a.outcome.clone()).collect()
}
