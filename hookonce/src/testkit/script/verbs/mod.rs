//! One function a verb: runs it on the bed and says in words what it came to.

use std::collections::BTreeMap;
use std::sync::Arc;

use hookonce_core::claim::Claimed;
use hookonce_core::consumer::Consumer;
use hookonce_core::route::Routing;
use hookonce_core::time::Micros;

use super::bed::Bed;
use super::words::Line;
use crate::clock::Clock as _;
use crate::store::{Store, StoreError};
use crate::testkit::invariant::Configurations;
use crate::testkit::model::Rows;

mod around;
mod intake;
mod work;

/// The dice of every run: the jitter then is half of the rung.
const DICE: u64 = 0;

/// A bed with what a script has said so far.
pub struct Runner<'b> {
    bed: &'b dyn Bed,
    consumers: Vec<Consumer>,
    routing: Option<Routing>,
    configurations: Configurations,
    /// What each worker believes to hold.
    held: Vec<(String, Claimed)>,
    tokens: u64,
}

impl std::fmt::Debug for Runner<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runner").field("bed", &self.bed.name()).finish_non_exhaustive()
    }
}

impl<'b> Runner<'b> {
    pub fn new(bed: &'b dyn Bed) -> Runner<'b> {
        Runner {
            bed,
            consumers: Vec::new(),
            routing: None,
            configurations: BTreeMap::new(),
            held: Vec::new(),
            tokens: 0,
        }
    }

    pub fn store(&self) -> Arc<dyn Store> {
        self.bed.store()
    }

    pub fn rows(&self) -> Rows {
        self.bed.rows()
    }

    /// What each worker believes to hold.
    pub fn held(&self) -> &[(String, Claimed)] {
        &self.held
    }

    pub fn configurations(&self) -> &Configurations {
        &self.configurations
    }

    /// Runs a line; the error says why it makes no sense, the answer what it came to.
    pub fn line(&mut self, line: &Line) -> Result<String, String> {
        match line.verb.as_str() {
            "consumer" => self.consumer(line),
            "without" => self.without(line),
            "configure" => self.configure(),
            "admit" => self.admit(line),
            "route" => self.route(),
            "claim" => self.claim(line),
            "renew" => self.renew(line),
            "release" => self.release(line),
            "crash" => self.crash(line),
            "settle" => self.settle(line),
            "tick" => self.tick(line),
            "show" => self.show(line),
            "history" => self.history(line),
            "floor" => self.floor(line),
            "cancel" => self.cancel(line),
            "sweep" => self.sweep(),
            "purge" => self.purge(line),
            "restart" => self.restart(),
            "refuse" => self.refuse(line),
            "rule" => self.rule(line),
            "fault" => self.fault(line),
            _ => self.command(line),
        }
    }

    fn now(&self) -> Micros {
        self.bed.clock().now()
    }
}

fn said(error: StoreError) -> String {
    error.to_string()
}
