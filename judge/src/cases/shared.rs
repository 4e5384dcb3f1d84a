//! A server on a database of its own cluster, for the cases in which the database is what breaks.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tokio::time::{Instant, sleep};

use super::Stage;
use crate::rig::config::Tuning;
use crate::rig::load::Habits;
use crate::rig::{Cluster, Database, Launch, Place, wire};
use crate::trial::Trial;

/// A provider with little patience: what is not answered is sent again.
const HABITS: Habits = Habits { patience: Duration::from_secs(6), pause: Duration::from_millis(15) };
const LEASE: Duration = Duration::from_millis(1_500);
/// Nothing arrives for so long when all is done: longer than a lease that somebody left behind.
const SILENCE: Duration = Duration::from_millis(2_500);
/// Longest wait for something that must come.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(30);

/// A new database in that cluster, and a run whose servers are given `hosts`.
pub async fn trial(stage: &Stage, cluster: &Cluster, hosts: &[&Cluster]) -> Result<(Trial, Database)> {
    let database = Database::on(&cluster.url()).await?;
    let hosts: Vec<String> = hosts.iter().map(|host| host.host()).collect();
    let url = format!("postgres://postgres@{}/{}", hosts.join(","), database.name);
    let place = Place::fresh(&stage.folder)?.on(url);
    let launch = Launch { binary: stage.binary.clone(), lease: Some(LEASE), ..Launch::default() };
    let mut trial = Trial::among(&[place], launch, Vec::new(), stage.seed, Tuning::default(), HABITS).await?;
    trial.silence = SILENCE;
    Ok((trial, database))
}

/// Looks until it is so.
pub async fn until<F: Future<Output = Result<bool>>>(what: &str, so: impl Fn() -> F) -> Result<()> {
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        if so().await? {
            return Ok(());
        }
        sleep(LOOK).await;
    }
    anyhow::bail!("not within {PATIENCE:?}: {what}")
}

/// How many sends were answered 2xx so far.
pub fn acked(trial: &Trial) -> Result<usize> {
    let evidence = crate::history::Evidence::read(&trial.place.evidence())?;
    let good =
        |entry: &&crate::history::Entry| matches!(entry, crate::history::Entry::Answer { status: 200..=299, .. });
    Ok(evidence.history.iter().filter(good).count())
}

/// More is answered 2xx than before, by nobody's hand.
pub async fn goes_on(trial: &Trial) -> Result<()> {
    let before = acked(trial)?;
    until("webhooks are answered 2xx again", || async { Ok(acked(trial)? > before + 5) }).await
}

pub async fn ready(trial: &Trial) -> Result<()> {
    let so = || async { Ok(wire::get(trial.place.admin(), "/readyz").await.is_ok_and(|status| status == 200)) };
    until("the server is ready again", so).await
}

/// What the server must have said.
pub fn said(trial: &Trial, words: &str) -> Result<()> {
    let log: PathBuf = trial.place.log();
    let text = std::fs::read_to_string(&log).with_context(|| format!("cannot read `{}`", log.display()))?;
    ensure!(text.contains(words), "the server never said `{words}`");
    Ok(())
}
