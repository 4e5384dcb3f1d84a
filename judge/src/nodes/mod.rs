//! Faults X16, X17 and X26 on PostgreSQL: several servers on one database under load; they are killed, stopped for longer
//! than their leases, drained, and cut off from the database, one after the other.
//!
//! A campaign is several series, each on a database of its own. All servers live on from cycle to cycle, but for the looks:
//! the checker sees only what dead servers leave. [`fleet`] the servers, [`blow`] what happens to them.

mod blow;
mod fleet;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::time::sleep;

use crate::binary;
use crate::checker::Verdict;
use crate::dice::Dice;
use crate::results::{Outcome, Results, Row};
use crate::rig::Launch;
use crate::rig::receiver::Manner;

pub use blow::Blow;
pub use fleet::Fleet;

const NODES: usize = 3;
/// The leases of the servers under test.
const LEASE: Duration = Duration::from_millis(1_500);
/// Longer than any lease that was taken before it.
const PAUSE: Duration = Duration::from_millis(3_000);
/// How long answers are kept back, where one that comes late is wanted. Shorter than the time-out of a send.
const HOLD: Duration = Duration::from_millis(2_400);
/// Cycles of one series.
const CYCLES: u64 = 16;
/// Cycles between two looks.
const LOOK: u64 = 4;
/// Load goes on for so long behind a blow.
const AFTER: Duration = Duration::from_millis(500);

/// A campaign as it was asked for.
#[derive(Debug, Clone)]
pub struct Campaign {
    pub cycles: u64,
    pub resume: bool,
    pub seed: u64,
    pub name: String,
}

pub async fn campaign(asked: &Campaign) -> Result<Results> {
    let (binary, folder) = (binary::locate()?, binary::runs().join(&asked.name));
    let mut results = Results::open(&folder.join("results.jsonl"), asked.resume)?;
    eprintln!("nodes: {} cycles, seed {}", asked.cycles, asked.seed);
    for number in 0..asked.cycles.div_ceil(CYCLES) {
        if results.has(number) {
            continue;
        }
        let plan = Series {
            number,
            seed: Dice::new(asked.seed).fork(number).draw(),
            first: number * CYCLES,
            cycles: CYCLES.min(asked.cycles - number * CYCLES),
            folder: folder.join(format!("series-{number}")),
        };
        let row = plan.run(&binary).await.with_context(|| format!("series {number} with seed {}", plan.seed))?;
        eprintln!(
            "series {number}: {:?}, {} acked, lost {}, doubled {}",
            row.outcome, row.account.acked, row.account.lost, row.account.doubled
        );
        results.add(row)?;
    }
    Ok(results)
}

struct Series {
    number: u64,
    seed: u64,
    /// Its first cycle, counted over the campaign.
    first: u64,
    cycles: u64,
    folder: PathBuf,
}

impl Series {
    /// A clean one leaves no folder behind; any other keeps everything.
    async fn run(&self, binary: &Path) -> Result<Row> {
        let launch = Launch { binary: binary.to_path_buf(), ..Launch::default() };
        let needs = ["node-kill", "node-zombie", "fenced"].map(str::to_owned).to_vec();
        let mut fleet = Fleet::open(&self.folder, launch, needs, self.seed).await?;
        let mut missed = std::collections::BTreeMap::new();
        let verdict = self.cycles(&mut fleet, &mut missed).await;
        let row = verdict.map(|verdict| Row { missed, ..fleet.trial.row(self.number, self.cycles, &verdict) });
        fleet.close().await?;
        let row = row?;
        if row.outcome == Outcome::Clean {
            std::fs::remove_dir_all(&self.folder)?;
        }
        Ok(row)
    }

    async fn cycles(&self, fleet: &mut Fleet, missed: &mut std::collections::BTreeMap<String, u64>) -> Result<Verdict> {
        let dice = Dice::new(self.seed).fork(2);
        for cycle in self.first..self.first + self.cycles {
            let blow = Blow::of(cycle);
            if !strike(fleet, cycle, blow, &dice.fork(cycle)).await? {
                *missed.entry(blow.name()).or_default() += 1;
            }
            if cycle % LOOK == LOOK - 1
                && let verdict @ Verdict::Violated(..) = fleet.look().await?
            {
                return Ok(verdict);
            }
        }
        fleet.up().await?;
        fleet.finish(self.first + self.cycles).await
    }
}

/// One cycle: all up, load, the blow, some more load. Whether the blow fell as it was meant to.
pub async fn strike(fleet: &mut Fleet, cycle: u64, blow: Blow, dice: &Dice) -> Result<bool> {
    let kind = if blow == Blow::Zombie { Manner::Kind } else { Manner::Rough };
    fleet.trial.receiver.behave(kind);
    fleet.up().await?;
    let load = fleet.trial.load(blow.sends(), dice);
    let mut draws = dice.fork(1);
    let hit = blow.fall(fleet, draws.below(NODES as u64) as usize, &mut draws).await?;
    sleep(AFTER).await;
    fleet.trial.halt();
    load.await??;
    fleet.trial.fault(&blow.name(), cycle, hit)?;
    Ok(hit)
}
