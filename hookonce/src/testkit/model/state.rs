//! What a delivery and an event look like from outside: the derived states of `design.md` section 2.

use hookonce_core::delivery::State;
use hookonce_core::time::Micros;

use super::rows::{Delivery, Rows};

/// One of the nine states.
pub fn of_delivery(rows: &Rows, delivery: &Delivery, now: Micros) -> State {
    let halted = rows.halted.get(&delivery.id).filter(|h| h.seq == delivery.seq);
    if let Some(kind) = halted.and_then(|h| hookonce_core::delivery::HaltKind::parse(&h.kind)) {
        return kind.state();
    }
    match (rows.work.get(&delivery.seq), &delivery.state) {
        (Some(work), _) if work.token.is_some() && work.due > now => State::Processing,
        (Some(work), _) if work.attempts > 0 => State::RetryableFailed,
        (Some(_), _) => State::Ready,
        (None, Some(state)) => State::parse(state).unwrap_or(State::Waiting),
        (None, None) => State::Waiting,
    }
}
