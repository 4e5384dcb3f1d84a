//! What happens to one of several servers while all are under load.

use std::time::Duration;

use anyhow::Result;
use rustix::process::Signal;
use tokio::time::{Instant, sleep, sleep_until};

use super::fleet::Fleet;
use super::{HOLD, LEASE, PAUSE};
use crate::dice::Dice;
use crate::rig::line::Cut;

/// Where a server stops by itself: at each step of a run, in the middle of a pass, in the middle of an admission.
const POINTS: [&str; 7] =
    ["sent", "answered_outside", "settling", "settled", "pass_begun", "committing", "pass_committed"];
/// Passes of a point before the one that stops, at the most.
const HIT_MAX: u64 = 6;
/// How long a point is waited for.
const WAIT: Duration = Duration::from_secs(8);
/// The latest random moment of a blow.
const MOMENT: u64 = 400;
/// Cuts of a line that flaps, and how long each lasts.
const FLAPS: u32 = 4;
const FLAP: Duration = Duration::from_millis(150);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blow {
    /// SIGKILL; somebody starts it again at once.
    Kill,
    /// SIGSTOP at a random moment for longer than its leases.
    Pause,
    /// It stops itself at a named point for longer than its leases.
    PauseAt(&'static str),
    /// As `PauseAt` with an answer in its hands, while whoever took its work over still waits for theirs: what it settles
    /// then is another's.
    Zombie,
    /// SIGTERM; somebody starts it again.
    Drain,
    /// Its line to the database is cut for longer than its leases.
    Cut,
    /// The same one way: what it says arrives, and it hears nothing.
    Deaf,
    /// Cut and whole again, several times.
    Flap,
    /// Its line to the receiver is cut for as long.
    Silent,
}

impl Blow {
    /// Goes round; `cycle` counts over the whole campaign, so that every kind and point gets its turn.
    pub fn of(cycle: u64) -> Self {
        let round = (cycle / 8) as usize;
        match cycle % 8 {
            0 => Self::Kill,
            1 => Self::Zombie,
            2 => Self::Cut,
            3 => Self::PauseAt(POINTS[round % POINTS.len()]),
            4 => Self::Drain,
            5 => Self::Pause,
            6 => Self::Deaf,
            _ if round.is_multiple_of(2) => Self::Flap,
            _ => Self::Silent,
        }
    }

    pub fn name(self) -> String {
        match self {
            Self::Kill => "node-kill".to_owned(),
            Self::Pause => "node-pause".to_owned(),
            Self::PauseAt(point) => format!("node-pause:{point}"),
            Self::Zombie => "node-zombie".to_owned(),
            Self::Drain => "node-drain".to_owned(),
            Self::Cut => "line-cut".to_owned(),
            Self::Deaf => "line-deaf".to_owned(),
            Self::Flap => "line-flap".to_owned(),
            Self::Silent => "out-cut".to_owned(),
        }
    }

    /// How many requests go out meanwhile, at the most.
    pub fn sends(self) -> u64 {
        if self == Self::Zombie { 60 } else { 1_000 }
    }

    /// Whether it fell as it was meant to.
    pub async fn fall(self, fleet: &mut Fleet, victim: usize, dice: &mut Dice) -> Result<bool> {
        match self {
            Self::PauseAt(_) | Self::Zombie => {}
            _ => sleep(Duration::from_millis(dice.below(MOMENT))).await,
        }
        match self {
            Self::Kill => {
                fleet.kill(victim).await?;
                fleet.start(victim, None).await?;
            }
            Self::Drain => {
                fleet.drain(victim).await?;
                fleet.start(victim, None).await?;
            }
            Self::Pause => {
                fleet.signal(victim, Signal::STOP)?;
                sleep(PAUSE).await;
                fleet.signal(victim, Signal::CONT)?;
            }
            Self::PauseAt(point) => return stop_at(fleet, victim, point, 1 + dice.below(HIT_MAX), PAUSE).await,
            Self::Zombie => {
                fleet.trial.receiver.hold(HOLD);
                let hit = stop_at(fleet, victim, "answered_outside", 1, LEASE + HOLD / 3).await?;
                fleet.trial.receiver.hold(Duration::ZERO);
                return Ok(hit);
            }
            Self::Cut => cut(fleet, victim, dice).await?,
            Self::Deaf => {
                fleet.cut(victim, Cut::Answers);
                sleep(PAUSE).await;
                fleet.cut(victim, Cut::Whole);
            }
            Self::Silent => {
                fleet.cut_out(victim, Cut::Both);
                sleep(PAUSE).await;
                fleet.cut_out(victim, Cut::Whole);
            }
            Self::Flap => {
                for _ in 0..FLAPS {
                    fleet.cut(victim, Cut::Both);
                    sleep(FLAP).await;
                    fleet.cut(victim, Cut::Whole);
                    sleep(FLAP).await;
                }
            }
        }
        Ok(true)
    }
}

/// Without its database it takes nothing, and once its leases are over it sends nothing: whoever has the work now must
/// not find it still sending.
async fn cut(fleet: &mut Fleet, victim: usize, dice: &mut Dice) -> Result<()> {
    fleet.cut(victim, Cut::Both);
    let over = Instant::now() + LEASE;
    fleet.asked_in_vain(victim, dice).await?;
    sleep_until(over).await;
    let sent = fleet.sent(victim);
    sleep(PAUSE - LEASE).await;
    if fleet.sent(victim) > sent {
        fleet.trial.complain("a node went on sending when its leases were over".to_owned());
    }
    fleet.cut(victim, Cut::Whole);
    Ok(())
}

/// Starts the victim anew so that it stops at its hit-th pass of the point, and wakes it after `pause`.
async fn stop_at(fleet: &mut Fleet, victim: usize, point: &str, hit: u64, pause: Duration) -> Result<bool> {
    fleet.kill(victim).await?;
    fleet.start(victim, Some(format!("{point}:{hit}"))).await?;
    if !fleet.stopped(victim, WAIT).await? {
        return Ok(false);
    }
    sleep(pause).await;
    fleet.signal(victim, Signal::CONT)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_blow_gets_its_turn() {
        let names: Vec<String> = (0..64).map(|cycle| Blow::of(cycle).name()).collect();
        for point in POINTS {
            assert!(names.contains(&format!("node-pause:{point}")), "{point}");
        }
        let all =
            ["node-kill", "node-pause", "node-zombie", "node-drain", "line-cut", "line-deaf", "line-flap", "out-cut"];
        for name in all {
            assert!(names[..16].iter().any(|n| n == name), "{name}");
        }
    }
}
