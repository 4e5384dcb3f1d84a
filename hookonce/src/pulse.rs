//! The heartbeat of a process: it says that it lives, hears who else does and which configuration is in force, and takes
//! over what was decided through another process. Beside it the ear for hints of others.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::alarm;
use crate::janitor::pauses;
use crate::node::{After, Node, Patience};
use crate::store::{Hint, Pulse, StoreError};

pub const EVERY: Duration = Duration::from_secs(5);

pub(crate) async fn run(node: Arc<Node>, stop: CancellationToken) {
    let (mut patience, mut versions) = (Patience::default(), BTreeSet::new());
    loop {
        let mut next = Instant::now() + EVERY;
        match beat(&node, &mut versions).await {
            Ok(()) => patience.success(),
            Err(e) => match patience.trouble(&node, &e) {
                After::End => return,
                After::Without => alarm::raise("beat_refused", &e.to_string()),
                After::Again => next = patience.until.unwrap_or(next),
            },
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = sleep_until(next) => {}
        }
    }
}

async fn beat(node: &Node, versions: &mut BTreeSet<String>) -> Result<(), StoreError> {
    let routing = node.routing();
    let pulse = node.store.beat(routing.config).await?;
    mixed(&pulse, versions);
    if pulse.config != routing.config && pulse.deserted {
        // Whoever ran the other one is gone: ours is put in force as a new one.
        node.route_by(node.store.configure(routing.consumers.clone()).await?);
        node.hub.all();
    }
    pauses(node).await
}

/// Said when it begins or changes.
fn mixed(pulse: &Pulse, known: &mut BTreeSet<String>) {
    let versions: BTreeSet<String> = pulse.versions.iter().cloned().collect();
    if versions.len() > 1 && versions != *known {
        let list = versions.iter().cloned().collect::<Vec<_>>().join(", ");
        alarm::raise("mixed_versions", &format!("nodes of several versions run on this store: {list}"));
    }
    *known = versions;
}

/// Passes on what other processes say. Without it every loop still looks by itself.
pub(crate) async fn listen(node: Arc<Node>, stop: CancellationToken) {
    loop {
        let hint = tokio::select! {
            () = stop.cancelled() => return,
            hint = node.store.heard() => hint,
        };
        match hint {
            Ok(Hint::Arrived) => node.hub.arrived(),
            Ok(Hint::Due(consumer)) => node.hub.due(consumer),
            Ok(Hint::All) => node.hub.all(),
            Err(_) => return,
        }
    }
}
