//! Fault X16: a server is stopped with runs in the air, a second one takes its leases over, the first wakes up and
//! settles what it holds. Every one of those settles must be fenced.
//!
//! The lock that keeps a second server out is taken away while the first one sleeps: it guards against a mistake, the
//! fence against this.

use std::time::Duration;

use anyhow::{Context, Result};
use rustix::process::Signal;
use tokio::time::sleep;

use crate::dice::Dice;
use crate::rig::receiver::Manner;
use crate::trial::Trial;

/// How long the receiver keeps its answers back: long enough for the second server to claim and send, shorter than the
/// time-out of the send.
const HOLD: Duration = Duration::from_millis(2_200);
/// Until every run of the load is in the air.
const AIRBORNE: Duration = Duration::from_millis(500);
/// After the answers have come and before the second server's runs end.
const WAKE: Duration = Duration::from_millis(2_000);
/// For the settles of the first one.
const SETTLES: Duration = Duration::from_millis(300);
const SENDS: u64 = 40;
/// What the server says of each fenced settle.
const FENCED: &str = "lease lost";

/// Stages it; the count of fenced settles, by the server's own words.
pub async fn zombie(trial: &mut Trial, cycle: u64, dice: &Dice) -> Result<usize> {
    trial.receiver.behave(Manner::Kind);
    trial.receiver.hold(HOLD);
    let mut first = trial.start(None).await?.context("the first server did not start")?;
    trial.load(SENDS, dice).await??;
    sleep(AIRBORNE).await;
    first.signal(Signal::STOP)?;
    std::fs::remove_file(trial.place.lock()).context("the lock of a served store")?;
    let mut second = trial.start_twin().await?;
    sleep(WAKE.saturating_sub(AIRBORNE)).await;
    first.signal(Signal::CONT)?;
    sleep(SETTLES).await;
    for child in [&mut first, &mut second] {
        let end = child.kill().await?;
        trial.must_be_killed(end);
    }
    trial.receiver.hold(Duration::ZERO);
    let fenced = std::fs::read_to_string(trial.place.log())?.matches(FENCED).count();
    trial.fault("zombie", cycle, fenced > 0)?;
    Ok(fenced)
}
