//! What is in the air: the runs whose leases this loop holds, when they are renewed and when they are given up.

use std::collections::HashMap;
use std::time::Duration;

use hookonce_core::claim::Claimed;
use hookonce_core::lease::Lease;
use hookonce_core::time::Micros;
use tokio::task::{AbortHandle, Id};
use tokio::time::Instant;

/// A lease is renewed when a third of it is over, so that two renewals may fail.
const RENEW: u32 = 3;
/// How often that is looked at, in parts of a lease.
const LOOK: u32 = 12;

#[derive(Debug)]
pub(super) struct Flight {
    pub claimed: Claimed,
    pub claimed_at: Instant,
    /// When its event came.
    pub received: Micros,
    suspect: bool,
    renewed_at: Instant,
    abort: AbortHandle,
}

#[derive(Debug)]
pub(super) struct Flights {
    lease: Duration,
    by_task: HashMap<Id, Flight>,
    pub next_look: Instant,
}

impl Flights {
    pub fn new(lease: Duration) -> Flights {
        Flights { lease, by_task: HashMap::new(), next_look: Instant::now() }
    }

    pub fn len(&self) -> usize {
        self.by_task.len()
    }

    /// A suspect runs, or waits for the others to end.
    pub fn suspect(&self) -> bool {
        self.by_task.values().any(|flight| flight.suspect)
    }

    /// `asked_at`: before the claim went to the store, so that our view of the lease is never the longer one.
    pub fn add(&mut self, run: (Claimed, Micros), suspect: bool, asked_at: Instant, abort: AbortHandle) {
        let (claimed, received) = run;
        let flight = Flight { claimed, claimed_at: Instant::now(), received, suspect, renewed_at: asked_at, abort };
        if self.by_task.is_empty() {
            self.next_look = asked_at + self.lease / LOOK;
        }
        self.by_task.insert(flight.abort.id(), flight);
    }

    pub fn remove(&mut self, id: Id) -> Option<Flight> {
        self.by_task.remove(&id)
    }

    pub fn leases(&self) -> Vec<Lease> {
        self.by_task.values().map(|flight| flight.claimed.lease).collect()
    }

    /// Leases to renew now.
    pub fn due(&self, now: Instant) -> Vec<Lease> {
        let old = self.by_task.values().filter(|f| f.renewed_at + self.lease / RENEW <= now);
        old.map(|flight| flight.claimed.lease).collect()
    }

    /// The store has renewed these, all but the lost ones; it was asked at that time.
    pub fn renewed(&mut self, asked: &[Lease], lost: &[Lease], asked_at: Instant) {
        for flight in self.by_task.values_mut().filter(|f| asked.contains(&f.claimed.lease)) {
            if !lost.contains(&flight.claimed.lease) {
                flight.renewed_at = asked_at;
            }
        }
    }

    /// Gives up what is not ours any more, by the store's word or because it could not be asked in time: whoever has
    /// the work now must not find us still sending. One look before the lease's end.
    pub fn give_up(&mut self, now: Instant, lost: &[Lease]) -> Vec<Flight> {
        self.next_look = now + self.lease / LOOK;
        let margin = self.lease / LOOK * 2;
        let over = |f: &Flight| f.renewed_at + self.lease <= now + margin || lost.contains(&f.claimed.lease);
        let ids: Vec<Id> = self.by_task.iter().filter(|(_, flight)| over(flight)).map(|(id, _)| *id).collect();
        let gone: Vec<Flight> = ids.iter().filter_map(|id| self.by_task.remove(id)).collect();
        gone.iter().for_each(|flight| flight.abort.abort());
        gone
    }
}
