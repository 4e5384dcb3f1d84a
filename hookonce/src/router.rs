//! The router's loop: one pass after the other, as long as there is something to pass on.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::alarm;
use crate::node::{After, Node, Patience};
use crate::store::Passed;

/// Looks by itself: the net below lost hints, and how other nodes' arrivals are seen.
pub const POLL: Duration = Duration::from_secs(1);
/// After an arrival: they come by the group, and a pass of its own for each would cost the workers their commits.
pub const LINGER: Duration = Duration::from_millis(3);
/// A pass is followed by a pause of so many times what it took, at the most the longest: every pass is a flush, which
/// acks have to wait behind, and the next one takes what came meanwhile at hardly more than the same cost.
const PAUSE: u32 = 4;
const LONGEST: Duration = Duration::from_millis(25);
/// And at the least of so many times: acks go first, and where there is more than this share of a processor can pass on,
/// the router lags. It is enough for more than half the peak with five consumers (`docs/BENCH.md`).
const SHARE: u32 = 2;

pub(crate) async fn run(node: Arc<Node>, stop: CancellationToken) {
    let mut patience = Patience::default();
    let mut behind = false;
    let mut unmatched = Unmatched::default();
    loop {
        let arrivals = node.hub.arrivals();
        let began = Instant::now();
        let mut rested = began;
        let next = match node.store.route(&node.routing()).await {
            Ok(passed) => {
                patience.success();
                rested = Instant::now() + pause(began.elapsed());
                report_behind(&mut behind, &passed);
                if let Some(events) = unmatched.due_to_say(passed.unmatched, Instant::now()) {
                    alarm::raise("unmatched", &format!("{events} events that no consumer takes are kept and held"));
                }
                passed.woken.iter().for_each(|consumer| node.hub.due(*consumer));
                match passed.more && !stop.is_cancelled() {
                    // Somebody else's turn: nothing to wait for.
                    true if passed.events == 0 => continue,
                    true => rested,
                    false => Instant::now() + POLL,
                }
            }
            Err(e) => match patience.trouble(&node, &e) {
                After::End => return,
                After::Again => patience.until.unwrap_or_else(Instant::now),
                After::Without => {
                    alarm::raise("pass_refused", &e.to_string());
                    Instant::now() + POLL
                }
            },
        };
        tokio::select! {
            () = stop.cancelled() => return,
            () = sleep_until(next) => {}
            () = arrivals, if patience.until.is_none() => linger(&stop, rested).await,
        }
    }
}

fn pause(took: Duration) -> Duration {
    (took * PAUSE).min(LONGEST).max(took * SHARE)
}

/// A moment for others that arrive together with this one, and not before the pause is over.
async fn linger(stop: &CancellationToken, rested: Instant) {
    tokio::select! {
        () = stop.cancelled() => {}
        () = sleep_until(rested.max(Instant::now() + LINGER)) => {}
    }
}

/// Between two alarms about events that nobody takes.
const SAY: Duration = Duration::from_secs(60);

/// Events that nobody takes: the first is said at once, then what a while brought, however many passes it were.
#[derive(Debug, Default)]
struct Unmatched {
    events: usize,
    next: Option<Instant>,
}

impl Unmatched {
    fn due_to_say(&mut self, more: usize, now: Instant) -> Option<usize> {
        self.events = self.events.saturating_add(more);
        if self.events == 0 || self.next.is_some_and(|next| now < next) {
            return None;
        }
        self.next = Some(now + SAY);
        Some(std::mem::take(&mut self.events))
    }
}

/// Said when it begins, not at every pass.
fn report_behind(behind: &mut bool, passed: &Passed) {
    if passed.config_behind && !*behind {
        alarm::raise("config_behind", "another configuration is in force, this node does not route");
    }
    *behind = passed.config_behind;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_takes_is_said_at_once_and_then_summed_up() {
        let (mut unmatched, now) = (Unmatched::default(), Instant::now());
        let said = [(0, 0), (3, 0), (2, 1), (5, 59), (0, 60), (0, 61), (1, 121)]
            .map(|(more, seconds)| unmatched.due_to_say(more, now + Duration::from_secs(seconds)));
        assert_eq!(said, [None, Some(3), None, None, Some(7), None, Some(1)]);
    }
}
