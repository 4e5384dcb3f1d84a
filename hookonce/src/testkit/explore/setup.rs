//! Which world: what is sent, who works, what may go wrong and how often.

use hookonce_core::admit::Submission;
use hookonce_core::consumer::{Consumer, From, OnDead, Order, Pattern, Policy};
use hookonce_core::time::{Micros, SECOND};

use super::mutation::Mutation;
use crate::testkit::script::{item, words};

/// The length of every lease.
pub const LEASE: Micros = 10 * SECOND;

#[derive(Clone, Debug)]
pub struct Setup {
    pub name: &'static str,
    /// What is there when the world begins, answered and not routed: it spares the orders in which it could have come.
    pub before: Vec<Submission>,
    /// What is sent, and in how many copies at the same time.
    pub sent: Vec<(Submission, usize)>,
    pub consumers: Vec<Consumer>,
    /// The configuration that somebody brings in meanwhile; none: it stays.
    pub later: Vec<Consumer>,
    pub workers: usize,
    /// More than one: their passes are two steps each, with the fence between them.
    pub routers: usize,
    /// Process crashes, and crashes of a single worker.
    pub crashes: u8,
    /// Leases that end under a worker that still runs.
    pub expiries: u8,
    /// Runs that fail and are tried again.
    pub failures: u8,
    /// Runs that end dead.
    pub deaths: u8,
    /// Decisions of a person: retries of dead letters, releases of held events, and marks to cancel what is open.
    pub commands: u8,
    pub marks: u8,
    /// Steps of cleaning, to which everything that is done is old enough.
    pub purges: u8,
    pub without: Option<Mutation>,
}

impl Setup {
    /// A world where nothing goes wrong, of one worker and one consumer with lanes.
    pub fn new(name: &'static str, sent: &[(&str, usize)]) -> Setup {
        Setup {
            name,
            before: Vec::new(),
            sent: sent.iter().map(|(line, copies)| (submission(line), *copies)).collect(),
            consumers: vec![consumer("app", "*/*", OnDead::Hold)],
            later: Vec::new(),
            workers: 1,
            routers: 1,
            crashes: 0,
            expiries: 0,
            failures: 0,
            deaths: 0,
            commands: 0,
            marks: 0,
            purges: 0,
            without: None,
        }
    }

    /// With these there already.
    pub fn after(mut self, before: &[&str]) -> Setup {
        self.before = before.iter().map(|line| submission(line)).collect();
        self
    }

    pub fn lacks(&self, mutation: Mutation) -> bool {
        self.without == Some(mutation)
    }

    pub fn without(mut self, mutation: Mutation) -> Setup {
        self.without = Some(mutation);
        self
    }
}

/// What a script line would admit: `gh/a1 agg=a body=B`.
fn submission(line: &str) -> Submission {
    let line = words::line(1, &format!("admit {line}"));
    item::submission(&line, 0).expect("the worlds are written by hand")
}

/// A consumer with lanes.
pub fn consumer(name: &str, on: &str, on_dead: OnDead) -> Consumer {
    Consumer {
        id: 0,
        name: name.into(),
        on: Pattern::parse(on).into_iter().collect(),
        order: Order::Arrival,
        on_dead,
        retry: Policy { first: SECOND, ..Policy::default() },
        from: From::Now,
        key_name: name.into(),
        pulled: false,
    }
}
