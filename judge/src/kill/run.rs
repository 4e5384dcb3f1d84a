//! One series: the same store killed again and again, looked at after each death, drained at the end.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result};
use tokio::time::sleep;

use super::blow::{Blow, WAIT};
use crate::checker::Verdict;
use crate::dice::Dice;
use crate::results::{Outcome, Row};
use crate::rig::child::End;
use crate::rig::receiver::Manner;
use crate::rig::{Child, Launch, Place};
use crate::trial::Trial;

/// Requests of one cycle at the most.
const SENDS: u64 = 500;

#[derive(Debug, Clone)]
pub struct Series {
    pub number: u64,
    pub seed: u64,
    pub cycles: u64,
    /// Its first cycle, counted over the campaign.
    pub first: u64,
    pub binary: PathBuf,
    pub folder: PathBuf,
}

/// Runs one series to its verdict. A clean one leaves no folder behind; any other keeps everything.
pub async fn series(plan: &Series) -> Result<Row> {
    let place = Place::fresh(&plan.folder)?;
    let launch = Launch { binary: plan.binary.clone(), ..Launch::default() };
    let mut trial = Trial::open(place, launch, vec!["kill".to_owned()], plan.seed).await?;
    let mut missed = BTreeMap::new();
    let verdict = cycles(plan, &mut trial, &mut missed).await;
    let verdict = verdict.with_context(|| format!("series {} with seed {}", plan.number, plan.seed))?;
    let row = Row { missed, ..trial.row(plan.number, plan.cycles, &verdict) };
    drop(trial);
    if row.outcome == Outcome::Clean {
        std::fs::remove_dir_all(&plan.folder)?;
    }
    Ok(row)
}

async fn cycles(plan: &Series, trial: &mut Trial, missed: &mut BTreeMap<String, u64>) -> Result<Verdict> {
    let mut dice = Dice::new(plan.seed).fork(2);
    for n in 0..plan.cycles {
        let cycle = plan.first + n;
        let blow = Blow::of(cycle, &mut dice);
        if !strike(trial, cycle, &blow, &dice.fork(cycle)).await? {
            *missed.entry(blow.name()).or_default() += 1;
        }
        let verdict = trial.look(false).await?;
        if matches!(verdict, Verdict::Violated(..)) {
            return Ok(verdict);
        }
    }
    trial.drain().await
}

/// One cycle: start, load, blow. Whether the blow fell as it was meant to; if not, a plain kill ends the cycle.
pub async fn strike(trial: &mut Trial, cycle: u64, blow: &Blow, dice: &Dice) -> Result<bool> {
    trial.receiver.behave(Manner::Rough);
    let child = trial.start(blow.kill_at()).await?;
    let hit = match child {
        None => matches!(blow, Blow::At { .. }),
        Some(mut child) => {
            let load = trial.load(SENDS, dice);
            let hit = fall(trial, &mut child, blow).await?;
            trial.halt();
            load.await??;
            hit
        }
    };
    trial.fault(&blow.name(), cycle, hit)?;
    Ok(hit)
}

async fn fall(trial: &mut Trial, child: &mut Child, blow: &Blow) -> Result<bool> {
    let by_itself = match blow {
        Blow::After(moment) => {
            sleep(*moment).await;
            child.ended(std::time::Duration::ZERO).await?
        }
        Blow::At { .. } => child.ended(WAIT).await?,
    };
    if by_itself.is_none() {
        child.kill().await?;
        return Ok(matches!(blow, Blow::After(_)));
    }
    let end = by_itself.unwrap_or(End::Killed);
    trial.must_be_killed(end);
    Ok(matches!(blow, Blow::At { .. }) && end == End::Killed)
}
