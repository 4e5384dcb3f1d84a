//! A store on a database of the test's, opened as the test wants it, on the real clock.

use std::future::Future;
use std::sync::Arc;

use hookonce::postgres::bed::{Database, client};
use hookonce::postgres::sheets::Sheets;
use hookonce::postgres::{Options, PostgresStore};
use hookonce::store::{Store as _, StoreError};
use hookonce::testkit::model::Rows;
use hookonce_core::admit::{Submission, Verdict};
use tokio::runtime::Runtime;
use tokio_postgres::Client;

pub struct Bed {
    pub store: PostgresStore,
    pub database: Database,
}

impl Bed {
    pub fn new(options: Options) -> Bed {
        let database = Database::default();
        let url = database.url();
        Bed::at(database, &url, options)
    }

    /// Over another address than the database's own.
    pub fn at(database: Database, url: &str, options: Options) -> Bed {
        let opened = database.runtime.block_on(PostgresStore::open(url, options));
        Bed { store: opened.unwrap(), database }
    }

    pub fn runtime(&self) -> Arc<Runtime> {
        self.database.runtime.clone()
    }

    pub fn wait<T>(&self, answer: impl Future<Output = T>) -> T {
        self.database.runtime.block_on(answer)
    }

    pub fn admit(&self, submission: Submission) -> Result<Vec<Verdict>, StoreError> {
        self.wait(self.store.admit(submission)).map(|admission| admission.verdicts)
    }

    pub fn rows(&self) -> Rows {
        Sheets::of(&self.database).rows()
    }

    /// Somebody else on the same database.
    pub fn stranger(&self) -> Stranger {
        Stranger { db: self.wait(client(self.database.name())), runtime: self.runtime() }
    }
}

pub struct Stranger {
    db: Client,
    runtime: Arc<Runtime>,
}

impl Stranger {
    pub fn run(&self, sql: &str) {
        self.runtime.block_on(self.db.batch_execute(sql)).unwrap();
    }

    pub fn number(&self, sql: &str) -> i64 {
        self.runtime.block_on(self.db.query_one(sql, &[])).unwrap().get(0)
    }

    /// Asks until the answer is this.
    pub fn until(&self, sql: &str, answer: i64) {
        while self.number(sql) != answer {
            std::thread::yield_now();
        }
    }
}

/// How many sessions of this database wait for a lock.
pub const WAITING: &str = "select count(*) from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'";
