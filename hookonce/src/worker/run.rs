//! One run: the message of a claimed delivery, sent once.

use std::sync::Arc;
use std::time::Duration;

use hookonce_core::claim::Claimed;
use hookonce_core::destination::Sent;
use hookonce_core::event::KeyKind;
use hookonce_core::message::{self, Facts, Message};
use hookonce_core::message_key::{Subject, message_key};
use hookonce_core::time::Micros;
use hookonce_core::{kill_point, planted};
use tokio::time::Instant;

use crate::engine::Post;
use crate::node::Node;
use crate::store::{EventView, Run};

/// `quiet`: a suspect, which may take the process with it, so nothing else runs beside it on this node.
pub(super) async fn run(node: Arc<Node>, post: Arc<Post>, run: Run, claimed_at: Instant, quiet: bool) -> Sent {
    if quiet {
        let turnstile = node.alone().await;
        let sent = send(&post, &run, claimed_at).await;
        // Whoever stood still meanwhile looks for work again.
        drop(turnstile);
        node.hub.all();
        return sent;
    }
    let _turnstile = node.beside_others().await;
    send(&post, &run, claimed_at).await
}

async fn send(post: &Post, run: &Run, claimed_at: Instant) -> Sent {
    let at = run.claimed.now.saturating_add(micros(claimed_at.elapsed()));
    let message = message(post, &run.event, &run.claimed, at);
    let sent = post.destination.send(message, post.timeout).await;
    kill_point!("answered_outside");
    sent
}

/// The key says what the event is and who gets it, and nothing of this store: so it is the same after a restart, and
/// after the ledger is lost (`design.md` section 4).
fn message(post: &Post, event: &EventView, claimed: &Claimed, at: Micros) -> Message {
    let id = if planted!("random-message-id") {
        hookonce_core::id::base32(&claimed.lease.token)
    } else {
        let kind = KeyKind::parse(&event.key_kind).unwrap_or(KeyKind::Provider);
        let subject = Subject { namespace: &event.namespace, kind, key: &event.key, variant: event.variant };
        message_key(subject, &post.consumer.key_name, "", 0)
    };
    message::of(&Facts {
        id: &id,
        event: event.id,
        source: &event.source,
        key: &event.key_text,
        version: event.version.as_deref(),
        headers: &event.headers,
        body: &event.body,
        part: event.part,
        at,
    })
}

pub(super) fn micros(duration: Duration) -> Micros {
    Micros::try_from(duration.as_micros()).unwrap_or(Micros::MAX)
}
