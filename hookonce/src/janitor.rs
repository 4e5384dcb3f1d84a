//! The janitor's loop: the slow audit that must never find anything.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::node::{After, Node, Patience};
use crate::store::StoreError;
use crate::view::{Page, Query};
use crate::{alarm, gauges};

pub const EVERY: Duration = Duration::from_secs(5);
/// What `view::ConsumerRow` says of a paused consumer.
pub const PAUSED: &str = "paused";

pub(crate) async fn run(node: Arc<Node>, stop: CancellationToken) {
    let mut patience = Patience::default();
    loop {
        if let Err(e) = round(&node).await {
            match patience.trouble(&node, &e) {
                After::End => return,
                After::Without => alarm::raise("sweep_refused", &e.to_string()),
                After::Again => {}
            }
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = sleep_until(Instant::now() + EVERY) => {}
        }
    }
}

async fn round(node: &Node) -> Result<(), StoreError> {
    let swept = node.store.sweep().await?;
    for lane in &swept.headless {
        alarm::raise("headless_lane", &format!("lane {lane} was open and had nothing to run: it was given its work"));
    }
    if !swept.headless.is_empty() {
        node.hub.all();
    }
    Ok(())
}

/// Takes over which consumers are paused: a person may have said so through another process. The same look gives the
/// numbers that are shown of them.
pub(crate) async fn pauses(node: &Node) -> Result<(), StoreError> {
    if let Page::Consumers(rows) = node.store.read(Query::Consumers).await? {
        gauges::consumers(&rows, node.store.now());
        for row in rows {
            let paused = row.state == PAUSED;
            if node.hub.bell(row.id).paused() != paused {
                node.hub.pause(row.id, paused);
            }
        }
    }
    Ok(())
}
