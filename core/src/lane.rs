//! Lanes: consumer + aggregate, one delivery at a time, in log order.

use sha2::{Digest as _, Sha256};

use crate::consumer::{ConsumerId, Order};

/// Low bits of a lane that are the consumer's.
const CONSUMER_BITS: u32 = 15;

/// The lane of a delivery: its own `seq` where it has none (positive), a negative number of aggregate and consumer
/// otherwise. A collision only serialises two lanes.
pub fn of(consumer: ConsumerId, order: Order, aggregate: Option<(&str, &str)>, seq: i64) -> i64 {
    match (order, aggregate) {
        (Order::None, _) | (_, None) => seq,
        (Order::Arrival, Some((namespace, id))) => shared(consumer, hashed(namespace, id)),
    }
}

/// The aggregate's hash above, the consumer below: an event's lanes stand side by side in an index, so a pass touches a
/// page for each event and not for each delivery. The sign bit makes it negative, so that no lane can be taken for a
/// sequence number; never 0, never positive.
fn shared(consumer: ConsumerId, aggregate: i64) -> i64 {
    aggregate << CONSUMER_BITS | consumer & ((1 << CONSUMER_BITS) - 1) | i64::MIN
}

fn hashed(namespace: &str, id: &str) -> i64 {
    let mut hash = Sha256::new();
    hash.update((namespace.len() as u64).to_be_bytes());
    hash.update(namespace.as_bytes());
    hash.update(id.as_bytes());
    let bytes: [u8; 32] = hash.finalize().into();
    let mut first = [0u8; 8];
    first.copy_from_slice(&bytes[..8]);
    i64::from_be_bytes(first)
}

/// One delivery of a lane as the look-up for its next one sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub seq: i64,
    pub open: bool,
    /// It has a work row or a halted row.
    pub busy: bool,
}

/// Mirror M5: the next of a lane is the first open delivery behind the last one closed, without work or halted row.
/// Only the very first open one counts: if it is busy, nobody is next.
pub fn next(behind: i64, places: &[Place]) -> Option<i64> {
    let mut open: Vec<&Place> = places.iter().filter(|p| p.seq > behind && p.open).collect();
    open.sort_by_key(|p| p.seq);
    open.first().filter(|p| !p.busy).map(|p| p.seq)
}

/// The newest delivery of a lane, as the router finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tail {
    /// Nobody is in the lane.
    Closed,
    /// Locked by the pass, or written by it: whoever settles it will see what is appended.
    Open,
    /// It could not be locked. Somebody is settling it, or it was purged.
    Unsure { seq: i64 },
}

/// A note to look at a lane again: something was appended behind a tail that could not be locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Check {
    pub id: i64,
    pub lane: i64,
    /// The tail's `seq` at that moment; 0 where somebody doubts the whole lane.
    pub behind: i64,
}

/// What has become of the delivery that a check names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Found {
    Locked {
        open: bool,
    },
    /// It is there, and somebody else holds it.
    Held,
    Gone,
}

/// What a check comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Checked {
    /// Its settle will see what stands behind it.
    Answered,
    /// Its settle is over and may have looked too early: the lane is asked for its next ([`next`]).
    Asks,
    Stays,
}

/// A check is dropped only once its tail could be locked or is gone: that is, after the settle that it waits for ended.
pub fn check(found: Found) -> Checked {
    match found {
        Found::Locked { open: true } => Checked::Answered,
        Found::Locked { open: false } | Found::Gone => Checked::Asks,
        Found::Held => Checked::Stays,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_is_never_a_sequence_number() {
        for n in 0..1_000 {
            assert!(of(n, Order::Arrival, Some(("crm", "a")), 7) < 0);
        }
        assert_eq!(of(1, Order::None, Some(("crm", "a")), 7), 7);
        assert_eq!(of(1, Order::Arrival, None, 7), 7);
        assert_ne!(of(1, Order::Arrival, Some(("crm", "a")), 7), of(2, Order::Arrival, Some(("crm", "a")), 7));
        assert_eq!(of(2, Order::Arrival, Some(("crm", "a")), 7) - of(1, Order::Arrival, Some(("crm", "a")), 7), 1);
        assert_ne!(of(1, Order::Arrival, Some(("cr", "ma")), 7), of(1, Order::Arrival, Some(("crm", "a")), 7));
    }

    #[test]
    fn next_of_a_lane() {
        let place = |seq, open, busy| Place { seq, open, busy };
        assert_eq!(next(1, &[place(1, false, false), place(2, true, false), place(3, true, false)]), Some(2));
        assert_eq!(next(1, &[place(2, true, true), place(3, true, false)]), None);
        assert_eq!(next(3, &[place(2, true, false)]), None);
    }
}
