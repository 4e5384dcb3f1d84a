//! X10: the standby hangs, the primary dies under load, the standby is promoted. With a synchronous standby nothing that
//! was answered 2xx is lost; the control with an asynchronous one must lose, and the server says so.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use rustix::process::Signal;
use tokio::time::sleep;

use super::shared::{goes_on, said, trial, until};
use super::{Stage, clean};
use crate::checker::{Rule, Verdict};
use crate::rig::{Cluster, database};
use crate::trial::Trial;

const SENDS: u64 = 100_000;
/// Load before the standby hangs, and from then to the death of the primary.
const BEFORE: Duration = Duration::from_millis(1_200);
const HANGS: Duration = Duration::from_millis(800);
const SYNC: &str = "alter system set synchronous_standby_names = 'standby'";
const FOLLOWS: &str = "select count(*) from pg_stat_replication where sync_state = ";

/// Nothing that was answered is lost, and numbers and leases of the old history count no more.
pub async fn synchronous(stage: Stage) -> Result<()> {
    let (verdict, trial) = failed_over(&stage, true).await?;
    clean(&verdict)?;
    said(&trial, "acks are replicated")?;
    said(&trial, "nothing that was answered is missing")?;
    raised(&trial)
}

/// The control: what only the primary had is gone. That this can happen is said at the start, and that it may have behind it.
pub async fn asynchronous(stage: Stage) -> Result<()> {
    let (verdict, trial) = failed_over(&stage, false).await?;
    ensure!(verdict.account().lost > 0, "an asynchronous standby lost nothing: the rig proves nothing");
    ensure!(verdict.broken(Rule::Invariant(2)), "what is lost is not found as lost: {verdict:?}");
    said(&trial, "acks are local")?;
    said(&trial, "may be missing")?;
    raised(&trial)
}

fn raised(trial: &Trial) -> Result<()> {
    let dump = trial.dump().context("nothing was looked at")?;
    let generation = dump.inbox.settings.get("generation");
    ensure!(generation.is_some_and(|g| g == "2"), "the generation behind one fail-over is {generation:?}");
    let first = dump.inbox.events.iter().map(|e| e.id).filter(|id| *id >= 2 << 40).count();
    ensure!(first > 0, "no event has a number of the new generation");
    Ok(())
}

async fn failed_over(stage: &Stage, synchronous: bool) -> Result<(Verdict, Trial)> {
    let primary = Cluster::start()?;
    let standby = primary.standby()?;
    let db = database::client(&format!("{}/postgres", primary.url())).await?;
    let state = if synchronous { "'sync'" } else { "'async'" };
    if synchronous {
        db.batch_execute(SYNC).await?;
        db.batch_execute("select pg_reload_conf()").await?;
    }
    let asked = format!("{FOLLOWS}{state}");
    until("the standby follows", || async { Ok(db.query_one(&asked, &[]).await?.get::<_, i64>(0) == 1) }).await?;
    let (mut trial, _) = trial(stage, &primary, &[&primary, &standby]).await?;
    let mut child = trial.start(None).await?.context("the server did not start")?;
    let load = trial.load(SENDS, &stage.dice());
    sleep(BEFORE).await;
    ensure!(standby.signal("walreceiver", Signal::STOP)? == 1, "the standby has no receiver to stop");
    sleep(HANGS).await;
    primary.kill()?;
    // What its receiver had not read is gone with it; the standby begins again by itself.
    ensure!(standby.signal("walreceiver", Signal::KILL)? == 1, "the receiver is gone");
    let answers = format!("{}/postgres", standby.url());
    until("the standby answers again", || async { Ok(database::client(&answers).await.is_ok()) }).await?;
    standby.promote()?;
    trial.fault("fail-over", 0, true)?;
    goes_on(&trial).await?;
    trial.halt();
    load.await??;
    if child.ended(Duration::ZERO).await?.is_some() {
        bail!("the server ended with its database");
    }
    ensure!(child.drain().await?, "the server did not end with 0 after SIGTERM");
    let verdict = trial.drain().await?;
    Ok((verdict, trial))
}
