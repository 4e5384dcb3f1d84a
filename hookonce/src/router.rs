//! The router's loop: one pass after the other, as long as there is something to pass on.

use std::sync::Arc;
use std::time::Duration;

use hookonce_core::route::Routing;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::alarm;
use crate::node::{After, Node, Patience};
use crate::store::Passed;

/// Looks by itself: the net below lost hints, and how other nodes' arrivals are seen.
pub const POLL: Duration = Duration::from_secs(1);
/// Arrivals come by the group: a pass of its own for each would cost the workers their commits.
pub const LINGER: Duration = Duration::from_millis(3);

pub(crate) async fn run(node: Arc<Node>, routing: Arc<Routing>, stop: CancellationToken) {
    let mut patience = Patience::default();
    let mut behind = false;
    loop {
        let arrivals = node.hub.arrivals();
        let next = match node.store.route(&routing).await {
            Ok(passed) => {
                patience.success();
                report_behind(&mut behind, &passed);
                passed.woken.iter().for_each(|consumer| node.hub.due(*consumer));
                if passed.more && !stop.is_cancelled() {
                    continue;
                }
                Instant::now() + POLL
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
            () = arrivals, if patience.until.is_none() => linger(&stop).await,
        }
    }
}

async fn linger(stop: &CancellationToken) {
    tokio::select! {
        () = stop.cancelled() => {}
        () = sleep_until(Instant::now() + LINGER) => {}
    }
}

/// Said when it begins, not at every pass.
fn report_behind(behind: &mut bool, passed: &Passed) {
    if passed.config_behind && !*behind {
        alarm::raise("config_behind", "another configuration is in force, this node does not route");
    }
    *behind = passed.config_behind;
}
