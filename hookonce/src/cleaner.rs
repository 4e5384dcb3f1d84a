//! The cleaner's loop: steps of retention at a pace of their own. It works a fifth of the time at the most, by what the
//! steps take; they wait behind admissions, so a store that is busy is cleaned more slowly.

use std::sync::Arc;
use std::time::Duration;

use hookonce_core::retain::Retention;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::alarm;
use crate::gauges::DELETED;
use crate::janitor::EVERY;
use crate::node::{After, Node, Patience};
use crate::store::{Purged, StoreError};

/// Between two steps that found much to do, at the least.
const BREATH: Duration = Duration::from_millis(20);
/// How much longer than a step the pause behind it is.
const REST: u32 = 4;
/// Where there is more and nothing goes: all of it has to stay, or somebody else is at it.
const STILL: Duration = Duration::from_secs(1);

pub(crate) async fn run(node: Arc<Node>, stop: CancellationToken) {
    let (mut patience, mut retention) = (Patience::default(), node.retention());
    loop {
        let now = retention.borrow_and_update().clone();
        let pause = match now {
            None => EVERY,
            Some(now) => match step(&node, now).await {
                Ok(pause) => {
                    patience.success();
                    pause
                }
                Err(error) => match patience.trouble(&node, &error) {
                    After::End => return,
                    After::Without => {
                        alarm::raise("purge_refused", &error.to_string());
                        EVERY
                    }
                    After::Again => EVERY,
                },
            },
        };
        tokio::select! {
            () = stop.cancelled() => return,
            _ = retention.changed() => {}
            () = sleep_until(Instant::now() + pause) => {}
        }
    }
}

async fn step(node: &Node, retention: Arc<Retention>) -> Result<Duration, StoreError> {
    let began = Instant::now();
    let purged = node.store.purge(retention).await?;
    count("payloads", purged.payloads);
    count("events", purged.events);
    Ok(pause(&purged, began.elapsed()))
}

fn count(what: &'static str, n: usize) {
    if n > 0 {
        metrics::counter!(DELETED, "what" => what).increment(n as u64);
    }
}

fn pause(purged: &Purged, took: Duration) -> Duration {
    match purged {
        Purged { more: false, .. } => EVERY,
        Purged { payloads: 0, events: 0, .. } => STILL,
        _ => (took * REST).max(BREATH),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_rests_longer_than_it_works() {
        let ms = Duration::from_millis;
        for (payloads, more, took, want) in [
            (0, false, ms(1), EVERY),
            (9, false, ms(1), EVERY),
            (0, true, ms(100), STILL),
            (9, true, ms(1), BREATH),
            (9, true, ms(100), ms(400)),
        ] {
            assert_eq!(pause(&Purged { payloads, events: 0, more }, took), want);
        }
    }
}
