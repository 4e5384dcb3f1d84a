//! A store in a fresh folder with a clock that stands still.

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::join_all;
use hookonce::clock::ManualClock;
use hookonce::sqlite::{Options, SqliteStore};
use hookonce::store::{Run, Store as _};
use hookonce_core::admit::{Admission, Submission, Verdict};
use hookonce_core::claim::Ask;
use hookonce_core::consumer::Consumer;
use hookonce_core::delivery::Outcome;
use hookonce_core::route::Routing;
use hookonce_core::settle::{Settled, plan};
use hookonce_core::time::SECOND;

pub use crate::sent::{T0, consumer, item, of_items, sent};

pub struct Bed {
    pub folder: tempfile::TempDir,
    pub clock: Arc<ManualClock>,
    pub store: SqliteStore,
}

impl Bed {
    pub fn new() -> Bed {
        Bed::with(|options| options)
    }

    pub fn with(change: impl FnOnce(Options) -> Options) -> Bed {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::new(T0));
        let options = change(Options { clock: clock.clone(), seed: Some(1), ..Options::default() });
        let store = SqliteStore::open(&folder.path().join("hookonce.db"), options).unwrap();
        Bed { folder, clock, store }
    }

    pub fn work_file(&self) -> PathBuf {
        self.folder.path().join("hookonce.db")
    }

    pub fn inbox_file(&self) -> PathBuf {
        self.folder.path().join("hookonce.inbox.db")
    }

    /// Beside the store, as somebody outside would.
    pub fn on_inbox(&self, sql: &str) {
        outside(&self.inbox_file()).execute(sql, []).unwrap();
    }

    pub fn on_work(&self, sql: &str) {
        outside(&self.work_file()).execute(sql, []).unwrap();
    }

    pub fn inbox_count(&self, sql: &str) -> i64 {
        outside(&self.inbox_file()).query_row(sql, [], |row| row.get(0)).unwrap()
    }

    pub fn work_count(&self, sql: &str) -> i64 {
        outside(&self.work_file()).query_row(sql, [], |row| row.get(0)).unwrap()
    }

    pub async fn admit(&self, key: &str, body: &str) -> Verdict {
        self.store.admit(sent(key, body)).await.unwrap().verdicts.remove(0)
    }

    /// All at the same time: they meet in groups.
    pub async fn admit_all(&self, submissions: Vec<Submission>) -> Vec<Admission> {
        let all = submissions.into_iter().map(|submission| self.store.admit(submission));
        join_all(all).await.into_iter().map(|answer| answer.unwrap()).collect()
    }

    pub async fn consumers(&self, consumers: Vec<Consumer>) -> Routing {
        self.store.configure(consumers).await.unwrap()
    }

    pub async fn route(&self, routing: &Routing) {
        while self.store.route(routing).await.unwrap().more {}
    }

    pub async fn claim(&self, consumer: i64, n: usize) -> Vec<Run> {
        self.store.claim(self.ask(consumer, n)).await.unwrap()
    }

    pub fn ask(&self, consumer: i64, n: usize) -> Ask {
        let tokens = (0..n).map(|_| token()).collect();
        Ask { consumer, tokens, lease: 30 * SECOND, owner: self.store.identity().instance, quiet: false }
    }

    pub async fn settle(&self, consumer: &Consumer, runs: &[Run], outcome: &Outcome) -> Vec<Settled> {
        let endings = runs.iter().map(|run| plan(&run.claimed, outcome, consumer, 10, 0)).collect();
        self.store.settle(endings, None).await.unwrap().0
    }
}

fn outside(path: &std::path::Path) -> rusqlite::Connection {
    let db = rusqlite::Connection::open(path).unwrap();
    db.busy_timeout(std::time::Duration::from_secs(30)).unwrap();
    db
}

fn token() -> [u8; 16] {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let mut token = [0; 16];
    token[8..].copy_from_slice(&NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    token
}
