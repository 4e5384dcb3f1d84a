//! F11: sixty-four copies at once, fifty rounds, workers running.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::{Stage, clean, letter, log_without};
use crate::history::Kind;
use crate::rig::config::Tuning;
use crate::rig::load::{Line, Told};
use crate::rig::traffic::Letter;
use crate::trial::Trial;

const COPIES: usize = 64;
const ROUNDS: u64 = 50;

pub async fn run(stage: Stage) -> Result<()> {
    let mut trial = stage.trial(Tuning::default()).await?;
    let mut child = trial.start(None).await?.context("the server did not start")?;
    let mut dice = stage.dice();
    for _ in 0..ROUNDS {
        round(&trial, &letter(trial.provider.invent(&mut dice), Kind::Parallel)).await?;
    }
    trial.quiet().await;
    child.drain().await?;
    clean(&trial.look(true).await?)?;
    let inbox = &trial.dump().context("nothing was looked at")?.inbox;
    if inbox.events.len() as u64 != ROUNDS {
        bail!("{ROUNDS} rounds made {} events", inbox.events.len());
    }
    if let Some(row) =
        inbox.ledger.iter().find(|l| l.seen != COPIES as i64 && inbox.events.iter().any(|e| e.ledger == l.digest))
    {
        bail!("event {} was seen {} times instead of {COPIES}", row.event, row.seen);
    }
    log_without(&trial.place.log(), &["ERROR"])
}

/// Every copy on a connection of its own, let go by one barrier; every answer is 2xx.
async fn round(trial: &Trial, letter: &Letter) -> Result<()> {
    let barrier = Arc::new(Barrier::new(COPIES));
    let mut copies = JoinSet::new();
    for _ in 0..COPIES {
        let (barrier, provider, letter) = (barrier.clone(), trial.provider.clone(), letter.clone());
        copies.spawn(async move {
            let mut line = Line::default();
            line.open(provider.to()).await;
            barrier.wait().await;
            provider.post(&letter, &mut line).await
        });
    }
    while let Some(told) = copies.join_next().await {
        match told?? {
            Told::Answer(answer) if matches!(answer.status()?, 200..300) => {}
            other => bail!("a copy came to {other:?}"),
        }
    }
    Ok(())
}
