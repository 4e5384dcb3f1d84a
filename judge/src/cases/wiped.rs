//! Keys survive us: the store is wiped between two copies of the same webhooks, and the receiver still recognises
//! every repeat by its id.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};

use super::{Stage, clean, letter};
use crate::history::{Evidence, Kind};
use crate::rig::config::Tuning;
use crate::rig::load::Line;
use crate::rig::traffic::Occurrence;
use crate::trial::Trial;

const EVENTS: usize = 40;

pub async fn run(stage: Stage) -> Result<()> {
    let mut trial = stage.trial(Tuning::default()).await?;
    let mut dice = stage.dice();
    let all: Vec<_> = (0..EVENTS).map(|_| trial.provider.invent(&mut dice)).collect();
    life(&mut trial, all.iter().collect()).await?;
    clean(&trial.look(true).await?)?;
    for entry in std::fs::read_dir(&trial.place.store)? {
        let path = entry?.path();
        if path != trial.place.config() {
            std::fs::remove_file(path)?;
        }
    }
    // Another order, so that no number is the same as before.
    life(&mut trial, all.iter().rev().collect()).await?;
    let evidence = Evidence::read(&trial.place.evidence())?;
    let mut ids: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for a in &evidence.sink {
        ids.entry((&a.consumer, &a.digest)).or_default().push(&a.message);
    }
    ensure!(!ids.is_empty(), "nothing was forwarded");
    for ((consumer, _), ids) in ids {
        ensure!(ids.len() == 2 && ids[0] == ids[1], "`{consumer}` got {ids:?} for one webhook");
    }
    Ok(())
}

/// From start to a graceful end, everything forwarded.
async fn life(trial: &mut Trial, all: Vec<&Occurrence>) -> Result<()> {
    let mut child = trial.start(None).await?.context("the server did not start")?;
    let mut line = Line::default();
    for what in all {
        trial.provider.post(&letter(what.clone(), Kind::First), &mut line).await?;
    }
    trial.quiet().await;
    ensure!(child.drain().await?, "the server did not end with 0 after SIGTERM");
    Ok(())
}
