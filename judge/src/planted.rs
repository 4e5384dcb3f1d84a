//! Planted bugs: run-time switches of the test binary (`HOOKONCE_PLANT`, feature `planted`). The judge must find each
//! by the number of the invariant that it breaks. A judge that finds nothing in a broken server proves nothing with a
//! clean one.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::task::JoinSet;

use crate::binary;
use crate::checker::{Rule, Verdict};
use crate::dice::Dice;
use crate::kill::{self, strike, zombie};
use crate::nodes::{self, Fleet};
use crate::rig::{Launch, Place};
use crate::trial::Trial;

/// A bug and what it must be found by: any one of the rules.
#[derive(Debug)]
pub struct Plant {
    pub name: &'static str,
    pub found_by: &'static [u8],
    brought_out: By,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    /// A kill at a random moment.
    Kill,
    /// A server that is taken for dead and wakes up.
    Zombie,
    /// The same among several servers on a database.
    Nodes,
}

/// Cycles after which a bug that nobody noticed counts as missed.
const CYCLES: u64 = 6;
/// The latest random moment.
const MOMENT: u64 = 700;
/// Hunts beside each other.
const ABREAST: usize = 4;

pub const PLANTS: &[Plant] = &[
    plant("answer-before-commit", &[2], By::Kill),
    // Once forgotten, the copies are counted by nobody: 13. Whoever lets them in again breaks 1.
    plant("dedupe-in-memory", &[1, 13], By::Kill),
    plant("conflict-overwrites", &[3], By::Kill),
    plant("skip-delivery", &[4], By::Kill),
    plant("lane-unordered", &[5, 6], By::Kill),
    plant("settle-unfenced", &[7, 16], By::Zombie),
    plant("settle-unfenced", &[7, 16], By::Nodes),
    plant("random-message-id", &[17], By::Kill),
    plant("reserialise-body", &[14], By::Kill),
    plant("refused-writes", &[22], By::Kill),
    plant("no-conflict-row", &[15], By::Kill),
    plant("lose-work-on-settle", &[5], By::Kill),
];

const fn plant(name: &'static str, found_by: &'static [u8], brought_out: By) -> Plant {
    Plant { name, found_by, brought_out }
}

/// Looks for every plant; an error names those that were not found.
pub async fn all(seed: u64, only: &[String]) -> Result<()> {
    let binary = binary::locate()?;
    let mut waiting: Vec<_> = PLANTS.iter().filter(|p| only.is_empty() || only.iter().any(|o| o == p.name)).collect();
    let (mut running, mut missed) = (JoinSet::new(), Vec::new());
    loop {
        while running.len() < ABREAST
            && let Some(plant) = waiting.pop()
        {
            let binary = binary.clone();
            running.spawn(async move { (plant, hunt(&binary, plant, seed).await) });
        }
        let Some(ended) = running.join_next().await else { break };
        let (plant, verdict) = ended?;
        match verdict {
            Ok(verdict) if found(plant, &verdict) => {
                println!("planted `{}` ({:?}): found by {}", plant.name, plant.brought_out, rules(&verdict));
            }
            Ok(verdict) => missed.push(format!("`{}` must be found by {:?}: {verdict:?}", plant.name, plant.found_by)),
            Err(why) => missed.push(format!("`{}` could not be hunted: {why:#}", plant.name)),
        }
    }
    if missed.is_empty() {
        return Ok(());
    }
    bail!("planted bugs that the judge missed (seed {seed}):\n{}", missed.join("\n"))
}

fn found(plant: &Plant, verdict: &Verdict) -> bool {
    plant.found_by.iter().any(|n| verdict.broken(Rule::Invariant(*n)))
}

/// Each rule once, in words.
fn rules(verdict: &Verdict) -> String {
    let Verdict::Violated(found, _) = verdict else { return String::new() };
    let mut rules: Vec<Rule> = found.iter().map(|v| v.rule).collect();
    rules.sort();
    rules.dedup();
    rules.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Strikes and looks until the bug shows, at the latest in the drained store.
async fn hunt(binary: &Path, plant: &Plant, seed: u64) -> Result<Verdict> {
    let launch = Launch { binary: binary.to_path_buf(), plant: Some(plant.name.to_owned()), ..Launch::default() };
    if plant.brought_out == By::Nodes {
        return hunt_nodes(launch, plant, seed).await;
    }
    let place = Place::fresh(&binary::runs().join("planted").join(plant.name))?;
    let mut trial = Trial::open(place, launch, Vec::new(), seed).await?;
    let mut dice = Dice::new(seed).fork(3);
    for cycle in 0..CYCLES {
        let draws = dice.fork(cycle);
        if plant.brought_out == By::Zombie {
            zombie(&mut trial, cycle, &draws).await?;
        } else {
            let moment = kill::Blow::After(Duration::from_millis(dice.below(MOMENT)));
            strike(&mut trial, cycle, &moment, &draws).await?;
        }
        let verdict = trial.look(false).await?;
        if found(plant, &verdict) {
            return Ok(verdict);
        }
    }
    trial.drain().await
}

/// The same on a database with several servers, which all carry the bug.
async fn hunt_nodes(launch: Launch, plant: &Plant, seed: u64) -> Result<Verdict> {
    let folder = binary::runs().join("planted").join(format!("{}-nodes", plant.name));
    let mut fleet = Fleet::open(&folder, launch, Vec::new(), seed).await?;
    let mut last = None;
    for cycle in 0..CYCLES {
        nodes::strike(&mut fleet, cycle, nodes::Blow::Zombie, &Dice::new(seed).fork(cycle)).await?;
        let verdict = fleet.look().await?;
        let enough = found(plant, &verdict);
        last = Some(verdict);
        if enough {
            break;
        }
    }
    fleet.close().await?;
    last.context("no cycle was run")
}
