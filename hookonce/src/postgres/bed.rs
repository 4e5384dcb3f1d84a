//! For tests: the store as a bed of the suite, in a database of its own on the server that tests are given.

use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio::runtime::Runtime;
use tokio_postgres::{Client, NoTls};

use super::lent::Lent;
use super::sheets::Sheets;
use super::{Options, PostgresStore, migrate};
use crate::clock::ManualClock;
use crate::sql::call::Stmt;
use crate::store::{Store, StoreError};
use crate::testkit::faulty::Fault;
use crate::testkit::model::Rows;
use crate::testkit::script::bed::{BEGIN, Bed};

/// Names the server, a user who may make databases, and a database to make them from.
pub const SERVER: &str = "HOOKONCE_TEST_POSTGRES";

/// `postgres://user@host:port`, without a database.
pub fn server() -> String {
    std::env::var(SERVER).unwrap_or_else(|_| "postgres://postgres@127.0.0.1:5432".to_owned())
}

/// A database that goes with it, with our schema and a clock that listens to [`Options::clock`].
#[derive(Debug)]
pub struct Database {
    name: String,
    /// Everything of a test that waits for the server runs here.
    pub runtime: Arc<Runtime>,
}

/// A copy of the template.
impl Default for Database {
    fn default() -> Database {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = Arc::new(runtime.expect("a runtime can be had"));
        let name = format!("hookonce_test_{}_{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let template = template(&runtime);
        runtime.block_on(async {
            admin("postgres", &format!("create database {name} template {template}")).await;
        });
        Database { name, runtime }
    }
}

impl Database {
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn url(&self) -> String {
        format!("{}/{}", server(), self.name)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let drop = format!("drop database if exists {} with (force)", self.name);
        self.runtime.block_on(admin("postgres", &drop));
    }
}

/// Its clock is the test's, which each flight brings along; somebody without one gets the real time. The dice of the
/// published functions lie still, or as a test says.
const CLOCK: &str = "create or replace function hookonce.now_us() returns bigint language sql volatile as
    $$ select coalesce(nullif(current_setting('hookonce.now_us', true), ''),
        (extract(epoch from clock_timestamp()) * 1000000)::bigint::text)::bigint $$;
    create or replace function hookonce.dice() returns double precision language sql volatile as
    $$ select coalesce(nullif(current_setting('hookonce.dice', true), ''), '0')::double precision $$";

/// A database with the schema, made once by this process: copying one is faster than building it. Those of processes
/// that are gone are cleared away.
fn template(runtime: &Runtime) -> &'static str {
    static TEMPLATE: OnceLock<String> = OnceLock::new();
    TEMPLATE.get_or_init(|| {
        let name = format!("hookonce_test_{}_template", std::process::id());
        runtime.block_on(async {
            clear().await;
            admin("postgres", &format!("create database {name}")).await;
            let db = client(&name).await;
            migrate::up(&db).await.expect("the schema fits an empty database");
            db.batch_execute(CLOCK).await.expect("the clock can be replaced");
        });
        name
    })
}

async fn clear() {
    let db = client("postgres").await;
    let found = db.query("select datname::text from pg_database where datname like 'hookonce_test_%'", &[]).await;
    for row in found.expect("databases can be listed") {
        let name: String = row.get(0);
        let of = name.split('_').nth(2).unwrap_or_default();
        if !std::path::Path::new("/proc").join(of).exists() {
            // Another test process may be about it as well.
            let _ = db.batch_execute(&format!("drop database if exists {name} with (force)")).await;
        }
    }
}

async fn admin(database: &str, statement: &str) {
    let db = client(database).await;
    db.batch_execute(statement).await.unwrap_or_else(|error| panic!("{statement}: {error}"));
}

/// A missing database is a failure, never a reason to leave a test out.
pub async fn client(database: &str) -> Client {
    let url = format!("{}/{database}", server());
    let connected = tokio_postgres::connect(&url, NoTls).await;
    let (client, connection) = connected.unwrap_or_else(|error| {
        panic!("{url}: {error}\nhint: `cargo xtask test` starts a server, `{SERVER}` names another one")
    });
    tokio::spawn(connection);
    client
}

/// A store in a database of the test's.
#[derive(Debug)]
pub struct PostgresBed {
    /// `None` while it is closed.
    store: Mutex<Option<Arc<PostgresStore>>>,
    clock: Arc<ManualClock>,
    fault: Arc<Fault>,
    pub sheets: Sheets,
    instead: &'static [Stmt],
    pub database: Database,
}

impl Default for PostgresBed {
    fn default() -> Self {
        PostgresBed::instead(&[])
    }
}

impl PostgresBed {
    /// With other statements than ours.
    pub fn instead(instead: &'static [Stmt]) -> PostgresBed {
        let database = Database::default();
        let sheets = Sheets::of(&database);
        let clock = Arc::new(ManualClock::new(BEGIN));
        let bed = PostgresBed { store: Mutex::default(), clock, fault: Arc::default(), sheets, instead, database };
        bed.open();
        bed
    }

    /// A connection like those of users' programs.
    pub fn lent(&self) -> Lent {
        self.wait(self.engine().lent())
    }

    pub fn engine(&self) -> Arc<PostgresStore> {
        let store = self.store.lock().unwrap_or_else(PoisonError::into_inner).clone();
        store.expect("it is closed only by a restart")
    }

    /// The answer of what must not fail.
    pub fn wait<T>(&self, answer: impl Future<Output = Result<T, StoreError>>) -> T {
        self.database.runtime.block_on(answer).expect("nothing is in the way")
    }

    /// A column of numbers that the model does not have.
    pub fn numbers(&self, sql: &str) -> Vec<i64> {
        self.sheets.numbers(sql)
    }

    fn open(&self) {
        let options = Options {
            clock: Some(self.clock.clone()),
            seed: Some(1),
            tap: Some(self.fault.clone()),
            instead: self.instead,
            ..Options::default()
        };
        let opened = self.database.runtime.block_on(PostgresStore::open(&self.database.url(), options));
        let store = opened.expect("the store opens");
        *self.store.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(store));
    }
}

impl Bed for PostgresBed {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn store(&self) -> Arc<dyn Store> {
        self.engine()
    }

    fn clock(&self) -> &ManualClock {
        &self.clock
    }

    fn rows(&self) -> Rows {
        self.sheets.rows()
    }

    fn edit(&self, change: &dyn Fn(&mut Rows)) {
        self.sheets.edit(change);
    }

    fn restart(&self) {
        let store = self.store.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(store) = store {
            self.database.runtime.block_on(store.close()).expect("the store closes");
        }
        self.open();
    }

    fn arm(&self, nth: usize, behind: bool) {
        self.fault.arm(nth, behind);
    }

    fn struck(&self) -> bool {
        self.fault.struck()
    }
}
