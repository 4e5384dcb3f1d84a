//! F23 c: senders that hand over the whole body and hang up, two hundred times, then send everything again.

use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::{Stage, clean, letter, log_without};
use crate::history::Kind;
use crate::rig::config::Tuning;
use crate::rig::load::{Line, Told};

const SENDS: usize = 200;
/// The longest wait before hanging up.
const PATIENCE_MS: u64 = 20;

pub async fn run(stage: Stage) -> Result<()> {
    let mut trial = stage.trial(Tuning::default()).await?;
    let mut child = trial.start(None).await?.context("the server did not start")?;
    let mut dice = stage.dice();
    let all: Vec<_> = (0..SENDS).map(|_| trial.provider.invent(&mut dice)).collect();
    for what in &all {
        let patience = Duration::from_millis(dice.below(PATIENCE_MS));
        trial.provider.post_and_leave(&letter(what.clone(), Kind::First), patience).await?;
    }
    let mut line = Line::default();
    for what in &all {
        let told = trial.provider.post(&letter(what.clone(), Kind::Retry), &mut line).await?;
        ensure!(matches!(&told, Told::Answer(a) if a.status()? == 200), "the second send came to {told:?}");
    }
    trial.quiet().await;
    child.drain().await?;
    clean(&trial.look(true).await?)?;
    let events = trial.dump().map_or(0, |d| d.inbox.events.len());
    ensure!(events == SENDS, "{SENDS} events sent twice became {events}");
    log_without(&trial.place.log(), &["ERROR", "panicked"])
}
