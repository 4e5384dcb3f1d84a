//! One round with the store: leases renewed, endings written, the next work claimed with them in one commit. It is a
//! future of its own, so that runs end and hints arrive while the store syncs; what comes meanwhile is the next batch.

use std::sync::Arc;

use hookonce_core::claim::Ask;
use hookonce_core::command::{Command, Who};
use hookonce_core::consumer::ConsumerId;
use hookonce_core::lease::Lease;
use hookonce_core::settle::{Ending, Settled};
use hookonce_core::time::Micros;
use tokio::time::Instant;

use crate::alarm;
use crate::node::Node;
use crate::store::{Run, StoreError};

/// Endings in one settle.
pub const SETTLE_MAX: usize = 512;
/// Who pauses a consumer whose receiver says that it is gone.
const ENGINE: &str = "engine";

#[derive(Debug, Default)]
pub(super) struct Question {
    pub renew: Vec<Lease>,
    pub lease: Micros,
    pub pause: Option<(ConsumerId, String)>,
    /// Claimed, and not to be run now.
    pub release: Vec<Lease>,
    pub endings: Vec<Ending>,
    pub ask: Option<Ask>,
}

impl Question {
    pub fn is_empty(&self) -> bool {
        let nothing = self.renew.is_empty() && self.release.is_empty() && self.endings.is_empty();
        nothing && self.pause.is_none() && self.ask.is_none()
    }
}

#[derive(Debug)]
pub(super) struct Renewed {
    pub asked: Vec<Lease>,
    pub lost: Vec<Lease>,
    /// Before the store was asked, so that our view of a lease is never the longer one.
    pub at: Instant,
}

#[derive(Debug)]
pub(super) struct Answer {
    /// Before the claim went to the store.
    pub asked_at: Instant,
    pub renewed: Option<Renewed>,
    /// What was asked to be written, and what became of each; nothing of the second if the store failed.
    pub endings: Vec<Ending>,
    pub settled: Vec<Settled>,
    pub runs: Vec<Run>,
    /// How many rows were asked for, and whether suspects.
    pub asked: Option<(usize, bool)>,
    /// Where nothing was due: what will be first, by the store's clock now.
    pub due: Option<(Option<Micros>, Micros)>,
    /// Still to be paused, and still to be given back.
    pub pause: Option<(ConsumerId, String)>,
    pub release: Vec<Lease>,
    pub error: Option<StoreError>,
}

pub(super) async fn put(node: Arc<Node>, consumer: ConsumerId, question: Question) -> Answer {
    let asked = question.ask.as_ref().map(|ask| (ask.tokens.len(), ask.quiet));
    let mut answer = Answer {
        asked_at: Instant::now(),
        renewed: None,
        endings: question.endings,
        settled: Vec::new(),
        runs: Vec::new(),
        asked,
        due: None,
        pause: question.pause,
        release: question.release,
        error: None,
    };
    if let Err(e) = steps(&node, consumer, question.renew, question.lease, question.ask, &mut answer).await {
        answer.error = Some(e);
    }
    answer
}

async fn steps(
    node: &Node,
    consumer: ConsumerId,
    renew: Vec<Lease>,
    lease: Micros,
    ask: Option<Ask>,
    answer: &mut Answer,
) -> Result<(), StoreError> {
    if !renew.is_empty() {
        let at = Instant::now();
        let lost = node.store.renew(renew.clone(), lease).await?;
        answer.renewed = Some(Renewed { asked: renew, lost, at });
    }
    // Before the settle, whose claim would take the next delivery to the same receiver.
    if let Some((consumer, why)) = &answer.pause {
        paused(node, *consumer, why).await?;
        answer.pause = None;
    }
    if !answer.release.is_empty() {
        node.store.release(answer.release.clone()).await?;
        answer.release.clear();
    }
    answer.asked_at = Instant::now();
    if !answer.endings.is_empty() {
        (answer.settled, answer.runs) = node.store.settle(answer.endings.clone(), ask).await?;
    } else if let Some(ask) = ask {
        answer.runs = node.store.claim(ask).await?;
    }
    if answer.asked.is_some() && answer.runs.is_empty() {
        answer.due = Some(node.store.next_due(consumer).await?);
    }
    Ok(())
}

async fn paused(node: &Node, consumer: ConsumerId, why: &str) -> Result<(), StoreError> {
    let who = Who { actor: ENGINE.into(), reason: why.into() };
    // Refused: a person was faster.
    if node.store.command(Command::ConsumerPause { consumer }, who).await?.is_ok() {
        alarm::raise("consumer_paused", &format!("consumer {consumer} was paused: its receiver {why}"));
    }
    Ok(())
}
