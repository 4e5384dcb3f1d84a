//! X9: the database is restarted under load, again and again, with no last word to anybody; and one of its sessions is
//! killed, with which all fall. Nobody restarts the server.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rustix::process::Signal;
use tokio::time::sleep;

use super::shared::{goes_on, ready, said, trial};
use super::{Stage, clean, letter};
use crate::history::Kind;
use crate::rig::Cluster;
use crate::rig::load::{Line, Told};
use crate::rig::receiver::Manner;

const RESTARTS: u64 = 4;
/// Load before each, at the least, and the spread above.
const MOMENT: (u64, u64) = (300, 700);
const SENDS: u64 = 100_000;

pub async fn run(stage: Stage) -> Result<()> {
    let cluster = Cluster::start()?;
    let (mut trial, _) = trial(&stage, &cluster, &[&cluster]).await?;
    trial.receiver.behave(Manner::Rough);
    let mut child = trial.start(None).await?.context("the server did not start")?;
    let mut dice = stage.dice();
    let load = trial.load(SENDS, &dice.fork(1));
    for round in 0..RESTARTS {
        sleep(Duration::from_millis(MOMENT.0 + dice.below(MOMENT.1))).await;
        if round % 2 == 1 {
            // The server ends all others with it, and begins again by itself.
            ensure!(cluster.signal("hookonce", Signal::KILL)? > 0, "no session was killed: this proves nothing");
        } else {
            cluster.end()?;
            away(&trial).await?;
            cluster.begin()?;
        }
        trial.fault("database-restart", round, true)?;
        goes_on(&trial).await?;
        ready(&trial).await?;
    }
    trial.halt();
    load.await??;
    ensure!(child.ended(Duration::ZERO).await?.is_none(), "the server ended with its database");
    ensure!(child.drain().await?, "the server did not end with 0 after SIGTERM");
    clean(&trial.drain().await?)?;
    without(&stage, &mut trial, &cluster).await
}

/// While it is away: not now, and when to ask again.
async fn away(trial: &crate::trial::Trial) -> Result<()> {
    let what = trial.provider.invent(&mut crate::dice::Dice::new(trial.seed));
    let letter = letter(what, Kind::First);
    let told = trial.provider.post(&letter, &mut Line::default()).await?;
    trial.provider.remember(&letter);
    let Told::Answer(answer) = told else { anyhow::bail!("while the database is away: {told:?}") };
    ensure!(answer.status()? == 503, "while the database is away: {answer:?}");
    ensure!(answer.header("retry-after").is_some(), "a 503 without `Retry-After`");
    Ok(())
}

/// Told to end while its database is away, it ends as well as ever.
async fn without(stage: &Stage, trial: &mut crate::trial::Trial, cluster: &Cluster) -> Result<()> {
    let mut child = trial.start(None).await?.with_context(|| format!("no start in {}", stage.folder.display()))?;
    cluster.end()?;
    ensure!(child.drain().await?, "without a database the server did not end with 0 after SIGTERM");
    said(trial, "could not sign out")
}
