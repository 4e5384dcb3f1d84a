//! How fast the embedded store is by itself, without HTTP: `cargo run --release -p hookonce --example store -- admit`.
//!
//! `admit [seconds]`, `hold work|inbox [seconds] [held ms] [pause ms]`, `work [events]`, `beside [seconds]`,
//! `known [identities]`. Figures go to docs/adr.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hookonce::sqlite::{Options, SqliteStore};
use hookonce::store::{Run, Store as _};
use hookonce_core::admit::{Origin, Submission};
use hookonce_core::claim::Ask;
use hookonce_core::consumer::{Consumer, From, OnDead, Order, Pattern, Policy};
use hookonce_core::delivery::Outcome;
use hookonce_core::event::{Item, Key, KeyKind, Mapped};
use hookonce_core::request::Headers;
use hookonce_core::settle::plan;
use hookonce_core::time::SECOND;

/// Submitters that wait for their answer before they send the next.
const CONNECTIONS: usize = 64;
const BODY: usize = 1_100;
/// Rows in a claim.
const BATCH: usize = 200;

#[tokio::main]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    let number = |at: usize, otherwise: u64| word(at).parse().unwrap_or(otherwise);
    match word(0) {
        "hold" => hold(word(1), number(2, 10), number(3, 1_000), number(4, 100)).await,
        "work" => work(number(1, 50_000)).await,
        "beside" => beside(number(1, 10)).await,
        "known" => known(number(1, 1_000_000)).await,
        _ => admit(number(1, 10)).await,
    }
}

fn open(folder: &Path) -> Arc<SqliteStore> {
    Arc::new(SqliteStore::open(&folder.join("hookonce.db"), Options::default()).expect("the store opens"))
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(".").expect("a folder here, on the disk to be measured")
}

async fn admit(seconds: u64) {
    let folder = folder();
    let store = open(folder.path());
    report("admit", &load(&store, Duration::from_secs(seconds)).await);
    println!("frames in the logs: {:?}", store.wal_frames());
}

/// Somebody holds the write lock of one of the files, lets it go, takes it again.
async fn hold(which: &str, seconds: u64, held_ms: u64, pause_ms: u64) {
    let folder = folder();
    let store = open(folder.path());
    report("before", &load(&store, Duration::from_secs(seconds)).await);
    let file = if which == "inbox" { "hookonce.inbox.db" } else { "hookonce.db" };
    let (path, over) = (folder.path().join(file), Arc::new(AtomicBool::new(false)));
    let stop = over.clone();
    let holder = tokio::task::spawn_blocking(move || {
        let db = rusqlite::Connection::open(path).expect("the file is there");
        db.busy_timeout(Duration::from_secs(5)).expect("a time-out can be set");
        while !stop.load(Ordering::Relaxed) {
            let held = db.execute("begin immediate", []).is_ok();
            std::thread::park_timeout(Duration::from_millis(held_ms));
            if held {
                db.execute("commit", []).expect("nothing was written");
            }
            std::thread::park_timeout(Duration::from_millis(pause_ms));
        }
    });
    report(&format!("held {which}"), &load(&store, Duration::from_secs(seconds)).await);
    over.store(true, Ordering::Relaxed);
    holder.await.expect("the holder ends");
}

/// Acks alone, then with the router and a consumer flat out beside them.
async fn beside(seconds: u64) {
    let folder = folder();
    let store = open(folder.path());
    report("alone", &load(&store, Duration::from_secs(seconds)).await);
    let routing = store.configure(vec![consumer("free", Order::None)]).await.expect("the consumer is new");
    let over = Arc::new(AtomicBool::new(false));
    let (router, stop) = (store.clone(), over.clone());
    let routed = tokio::spawn(async move {
        let mut routed = 0;
        while !stop.load(Ordering::Relaxed) {
            let passed = router.route(&routing).await.expect("it routes");
            routed += passed.events;
            if passed.events == 0 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
        routed
    });
    let (worker, stop) = (store.clone(), over.clone());
    let done = tokio::spawn(async move {
        let (free, mut done, mut runs) = (Consumer { id: 1, ..consumer("free", Order::None) }, 0, Vec::new());
        while !stop.load(Ordering::Relaxed) {
            runs = turn(&worker, &free, &runs, done).await;
            done += runs.len() as u64;
        }
        done
    });
    let begun = Instant::now();
    report("beside", &load(&store, Duration::from_secs(seconds)).await);
    over.store(true, Ordering::Relaxed);
    rate("routed meanwhile", routed.await.expect("the router ends") as u64, begun);
    rate("claimed and settled meanwhile", done.await.expect("the worker ends"), begun);
    println!("frames in the logs: {:?}", store.wal_frames());
}

fn consumer(name: &str, order: Order) -> Consumer {
    Consumer {
        id: 0,
        name: name.into(),
        on: vec![Pattern::parse("crm/*").expect("a pattern")],
        order,
        on_dead: OnDead::Hold,
        retry: Policy::default(),
        from: From::Beginning,
        key_name: name.into(),
        pulled: false,
    }
}

/// Settles the last batch and claims the next in one commit.
async fn turn(store: &SqliteStore, consumer: &Consumer, runs: &[Run], done: u64) -> Vec<Run> {
    let endings = runs.iter().map(|run| plan(&run.claimed, &Outcome::Done, consumer, 10, 0)).collect();
    let ask = Ask {
        consumer: consumer.id,
        tokens: (0..BATCH as u64).map(|n| random(done + n)).collect(),
        lease: 30 * SECOND,
        owner: store.identity().instance,
        quiet: false,
    };
    store.settle(endings, Some(ask)).await.expect("it settles").1
}

async fn known(identities: u64) {
    let folder = folder();
    drop(open(folder.path()));
    for (at, rows) in [10_000, identities].into_iter().enumerate() {
        fill(&folder.path().join("hookonce.inbox.db"), at as u64, rows);
        let store = open(folder.path());
        report(&format!("{rows} known"), &load(&store, Duration::from_secs(10)).await);
    }
}

fn fill(path: &Path, salt: u64, rows: u64) {
    let mut db = rusqlite::Connection::open(path).expect("the file is there");
    let tx = db.transaction().expect("nobody else has it");
    for n in 0..rows {
        let digest = random(n ^ (salt << 40) ^ 0x5555_0000_0000_0000);
        let sql = "insert into hookonce_ledger values (?1, zeroblob(32), zeroblob(32), 1, ?2, 0, 0, 1)";
        let mut statement = tx.prepare_cached(sql).expect("it fits the schema");
        statement.execute(rusqlite::params![&digest[..], n as i64]).expect("it is new");
    }
    tx.commit().expect("it is written");
}

async fn work(events: u64) {
    let folder = folder();
    let store = open(folder.path());
    let routing = store.configure(vec![consumer("lanes", Order::Arrival), consumer("free", Order::None)]).await;
    let routing = routing.expect("the consumers are new");
    let next = Arc::new(AtomicU64::new(0));
    let tasks = (0..CONNECTIONS).map(|_| {
        let (store, next) = (store.clone(), next.clone());
        tokio::spawn(async move {
            while next.load(Ordering::Relaxed) < events {
                let n = next.fetch_add(1, Ordering::Relaxed);
                store.admit(submission(n)).await.expect("it is taken");
            }
        })
    });
    futures_util::future::join_all(tasks).await;
    let begun = Instant::now();
    while store.route(&routing).await.expect("it routes").more {}
    rate("events routed to two consumers", events, begun);
    for consumer in &routing.consumers {
        let begun = Instant::now();
        let (mut done, mut runs) = (0, Vec::new());
        loop {
            runs = turn(&store, consumer, &runs, done).await;
            done += runs.len() as u64;
            if runs.is_empty() {
                break;
            }
        }
        rate(&format!("claimed and settled, {}", consumer.name), done, begun);
    }
}

fn rate(what: &str, n: u64, begun: Instant) {
    println!("{what}: {n}, {:.0}/s", n as f64 / begun.elapsed().as_secs_f64());
}

/// Answers' times in microseconds, and how long it all took.
struct Load {
    times: Vec<u32>,
    busy: u64,
    took: Duration,
}

async fn load(store: &Arc<SqliteStore>, time: Duration) -> Load {
    static SALT: AtomicU64 = AtomicU64::new(1);
    let begun = Instant::now();
    let tasks = (0..CONNECTIONS).map(|_| {
        let (store, salt) = (store.clone(), SALT.fetch_add(1, Ordering::Relaxed) << 32);
        tokio::spawn(async move {
            let (mut times, mut busy, mut n) = (Vec::new(), 0, 0);
            while begun.elapsed() < time {
                let sent = Instant::now();
                match store.admit(submission(salt | n)).await {
                    Ok(_) => times.push(sent.elapsed().as_micros() as u32),
                    Err(_) => busy += 1,
                }
                n += 1;
            }
            (times, busy)
        })
    });
    let mut all = Load { times: Vec::new(), busy: 0, took: Duration::ZERO };
    for part in futures_util::future::join_all(tasks).await {
        let (times, busy) = part.expect("a submitter ends");
        all.times.extend(times);
        all.busy += busy;
    }
    all.took = begun.elapsed();
    all.times.sort_unstable();
    all
}

fn report(name: &str, load: &Load) {
    let at = |part: f64| load.times.get((load.times.len() as f64 * part) as usize).copied().unwrap_or(0);
    let rate = load.times.len() as f64 / load.took.as_secs_f64();
    println!(
        "{name}: {rate:.0} acks/s, p50 {} us, p99 {} us, p99.9 {} us, max {} us, busy {}",
        at(0.5),
        at(0.99),
        at(0.999),
        load.times.last().unwrap_or(&0),
        load.busy
    );
}

/// A distinct number's bytes, spread as a hash would.
fn random(n: u64) -> [u8; 16] {
    let mix = |mut x: u64| {
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    };
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&mix(n.wrapping_add(0x9e37_79b9_7f4a_7c15)).to_be_bytes());
    bytes[8..].copy_from_slice(&n.to_be_bytes());
    bytes
}

fn submission(n: u64) -> Submission {
    let mut hash = [0; 32];
    hash[..16].copy_from_slice(&random(n));
    let key = format!("evt_{n:016x}");
    let item = Item {
        source: "crm".into(),
        namespace: "crm".into(),
        rule: 1,
        key: Key { kind: KeyKind::Provider, bytes: key.clone().into_bytes(), text: key },
        digest: random(n),
        fingerprint: hash,
        body_hash: hash,
        kind: "Patient.Update".into(),
        aggregate: Some(format!("a{}", n % 1_000)),
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
        received: 1_800_000_000 * SECOND,
        target: "POST /in/crm".into(),
        headers: Headers(
            [("content-type", "application/json"), ("user-agent", "crm/1.0")]
                .map(|(n, v)| (http::HeaderName::from_static(n), http::HeaderValue::from_static(v)))
                .to_vec(),
        ),
        body: vec![b'x'; BODY].into(),
        secret: Some("main".into()),
        mapped: vec![Mapped::Item(Box::new(item))],
        origin: Origin::Receive,
    }
}
