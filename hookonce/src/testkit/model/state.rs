//! What a delivery looks like from outside: one of the nine states of `design.md` section 2.

use hookonce_core::delivery::{HaltKind, Queued, State, state};
use hookonce_core::time::Micros;

use super::rows::{Delivery, Rows};

/// Read off the rows that stand beside it.
pub fn of_delivery(rows: &Rows, delivery: &Delivery, now: Micros) -> State {
    let halted = rows.halted.get(&delivery.id).filter(|h| h.seq == delivery.seq);
    let work = rows.work.get(&delivery.seq);
    let queued = work.map(|w| Queued { leased: w.token.is_some(), due: w.due, attempts: w.attempts });
    let stored = delivery.state.as_deref().and_then(State::parse);
    state(stored, halted.and_then(|h| HaltKind::parse(&h.kind)), queued, now)
}
