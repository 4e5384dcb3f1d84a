//! X11: a synchronous standby that is not there. What only the primary has is answered by nobody, whoever ends the wait.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use hookonce::postgres::{Options, PostgresStore};
use hookonce::store::{Store as _, StoreError};
use hookonce_core::admit::Verdict;
use hookonce_judge::rig::Cluster;
use tokio::runtime::Runtime;
use tokio_postgres::{Client, NoTls};

use crate::sent::sent;

/// The cluster, a store on it, and somebody who sets it.
struct Bed {
    store: PostgresStore,
    db: Client,
    runtime: Runtime,
    url: String,
    _cluster: Cluster,
}

impl Bed {
    fn new(options: Options) -> Bed {
        let cluster = Cluster::start().unwrap();
        let url = format!("{}/postgres", cluster.url());
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let store = runtime.block_on(PostgresStore::open(&url, options)).unwrap();
        let (db, connection) = runtime.block_on(tokio_postgres::connect(&url, NoTls)).unwrap();
        runtime.spawn(connection);
        Bed { store, db, runtime, url, _cluster: cluster }
    }

    fn admit(&self, key: &str) -> Result<Vec<Verdict>, StoreError> {
        self.runtime.block_on(self.store.admit(sent(key, "x"))).map(|admission| admission.verdicts)
    }

    fn run(&self, sql: &str) {
        self.runtime.block_on(self.db.batch_execute(sql)).unwrap();
    }

    fn number(&self, sql: &str) -> i64 {
        self.runtime.block_on(self.db.query_one(sql, &[])).unwrap().get(0)
    }

    /// Who must have a commit besides the primary.
    fn standby(&self, name: &str) {
        self.run("set synchronous_commit = local");
        self.run(&format!("alter system set synchronous_standby_names = '{name}'"));
        self.run("select pg_reload_conf()");
    }

    /// Nobody has it. The server hears of that when it likes: somebody commits until he has to wait.
    fn without_standby(&self) {
        self.standby("nobody");
        let (other, connection) = self.runtime.block_on(tokio_postgres::connect(&self.url, NoTls)).unwrap();
        self.runtime.spawn(connection);
        let commit = "insert into hookonce.tally (at, counts) values (0, '[]')";
        let commits = self.runtime.spawn(async move { while other.batch_execute(commit).await.is_ok() {} });
        while self.number(&waits("count(*)", "")) == 0 {
            std::thread::yield_now();
        }
        commits.abort();
    }
}

/// Sessions that wait for the standby; ours have a name.
fn waits(what: &str, name: &str) -> String {
    format!("select {what} from pg_stat_activity where wait_event = 'SyncRep' and application_name = '{name}'")
}

fn impatient() -> Options {
    let (short, patience) = (Duration::from_millis(200), Duration::from_secs(1));
    Options { lock_wait: short, answer_limit: patience, ack_patience: patience, ..Options::default() }
}

#[test]
fn what_the_standby_does_not_have_is_not_answered() {
    let bed = Bed::new(impatient());
    assert_eq!(bed.admit("before"), Ok(vec![Verdict::Accepted { event: 1, hold: None }]));
    bed.without_standby();
    let answer = bed.admit("k");
    assert!(matches!(answer, Err(StoreError::Busy(_))), "{answer:?}");
    bed.standby("");
    assert!(bed.admit("k").is_ok());
    assert!(matches!(bed.admit("k").as_deref(), Ok([Verdict::Duplicate { .. }])));
}

/// A cancelled wait commits here and says so in a warning; a killed one says nothing.
#[test]
fn a_wait_that_somebody_ends_is_no_success() {
    for end in ["pg_cancel_backend", "pg_terminate_backend"] {
        let patience = Duration::from_secs(600);
        let bed = Bed::new(Options { answer_limit: patience, ack_patience: patience, ..Options::default() });
        bed.admit("before").unwrap();
        bed.without_standby();
        let (answer, over) = (bed.store.admit(sent("k", "x")), AtomicBool::new(false));
        let waits = waits(&format!("count({end}(pid))"), "hookonce");
        let answer = std::thread::scope(|scope| {
            let ender = scope.spawn(|| {
                let mut ended = 0;
                while !over.load(SeqCst) {
                    ended += bed.number(&waits);
                }
                ended
            });
            let answer = bed.runtime.block_on(answer);
            over.store(true, SeqCst);
            assert!(ender.join().unwrap() > 0, "nobody waited: this proves nothing");
            answer
        });
        assert!(matches!(answer, Err(StoreError::Busy(_))), "{end}: {answer:?}");
        bed.standby("");
        assert!(matches!(bed.admit("k").as_deref(), Ok([Verdict::Duplicate { .. }])), "it was here all the time");
    }
}
