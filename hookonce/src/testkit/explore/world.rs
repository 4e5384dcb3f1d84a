//! A world: the tables, the tasks and what they remember, the clock, and what was seen outside.

use hookonce_core::claim::Claimed;
use hookonce_core::route::{Opened, Routing};
use hookonce_core::time::Micros;

use super::evidence::Evidence;
use super::setup::Setup;
use crate::testkit::model::{Rows, admit, configure};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World {
    pub rows: Rows,
    pub now: Micros,
    /// For each thing sent, its copies; sorted, for copies are alike.
    pub copies: Vec<Vec<Copy>>,
    pub workers: Vec<Worker>,
    pub routers: Vec<Router>,
    pub left: Left,
    pub evidence: Evidence,
}

/// How far one copy of a request has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Copy {
    /// On its way, or its sender heard nothing and sends it again.
    Sent,
    /// Looked for in the ledger and not found (only where looking and inserting are apart).
    Unknown,
    /// Answered before its commit (only where that is allowed).
    Early,
    Answered,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Worker {
    Idle,
    /// `done`: its effect has committed by itself (only where effect and settle are apart).
    Holds {
        run: Claimed,
        done: bool,
    },
}

/// How a run came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    Done,
    Failed,
    Dead,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Router {
    Idle,
    Opened(Box<Opened>),
}

impl std::hash::Hash for Router {
    // A pass is known by the row that it stands on and by how far it saw.
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        match self {
            Router::Idle => 0.hash(state),
            Router::Opened(o) => (1, o.last.n, o.upto, o.own, o.requests.len(), o.events.len()).hash(state),
        }
    }
}

/// What may still go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Left {
    pub crashes: u8,
    pub expiries: u8,
    pub failures: u8,
    pub deaths: u8,
    pub commands: u8,
    pub marks: u8,
    pub purges: u8,
}

/// The configurations of a world by their order: the first is in force at its beginning.
pub type Routings = Vec<Routing>;

impl World {
    /// The first state: nothing sent yet, the configuration in force.
    pub fn begin(setup: &Setup) -> (World, Routings) {
        let mut rows = Rows::default();
        let mut routings = vec![configure::configure(&mut rows, setup.consumers.clone(), 0)];
        if !setup.later.is_empty() {
            // Ids and numbers do not depend on when it comes.
            routings.push(configure::configure(&mut rows.clone(), setup.later.clone(), 0));
        }
        for submission in &setup.before {
            // The worlds are written by hand, and the model refuses nothing of what they write.
            let _ = admit::admit(&mut rows, submission, 0);
        }
        let world = World {
            rows,
            now: 0,
            copies: setup.sent.iter().map(|(_, copies)| vec![Copy::Sent; *copies]).collect(),
            workers: vec![Worker::Idle; setup.workers],
            routers: vec![Router::Idle; setup.routers],
            left: Left {
                crashes: setup.crashes,
                expiries: setup.expiries,
                failures: setup.failures,
                deaths: setup.deaths,
                commands: setup.commands,
                marks: setup.marks,
                purges: setup.purges,
            },
            evidence: Evidence::default(),
        };
        (world, routings)
    }

    /// Which configuration is in force.
    pub fn in_force<'r>(&self, routings: &'r Routings) -> &'r Routing {
        let config = self.rows.pass.values().next_back().map(|pass| pass.config);
        routings.iter().find(|routing| Some(routing.config) == config).unwrap_or(&routings[0])
    }

    /// Moves one copy of a thing sent on; copies are alike, so the order among them says nothing.
    pub fn move_copy(&mut self, sent: usize, from: Copy, to: Copy) {
        let copies = &mut self.copies[sent];
        if let Some(at) = copies.iter().position(|c| *c == from) {
            copies[at] = to;
            copies.sort_unstable();
        }
    }

    /// Workers are alike: which of them holds what says nothing.
    pub fn sort_workers(&mut self) {
        self.workers.sort_by_key(|w| match w {
            Worker::Holds { run, .. } => (run.lease.seq, run.lease.epoch),
            Worker::Idle => (i64::MAX, 0),
        });
    }

    pub fn has_copy(&self, sent: usize, state: Copy) -> bool {
        self.copies[sent].contains(&state)
    }
}
