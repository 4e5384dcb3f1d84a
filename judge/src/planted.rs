//! Planted bugs: run-time switches of the test binary (`HOOKONCE_PLANT`, feature `planted`). The judge must find each
//! by the number of the invariant that it breaks. A judge that finds nothing in a broken server proves nothing with a
//! clean one.

use std::path::Path;

use anyhow::{Result, bail};

use crate::binary;
use crate::checker::{Rule, Verdict};
use crate::dice::Dice;
use crate::kill::{Blow, strike};
use crate::rig::{Launch, Place};
use crate::trial::Trial;

/// A bug and what it must be found by: any one of the rules.
#[derive(Debug)]
pub struct Plant {
    pub name: &'static str,
    pub found_by: &'static [u8],
    /// Named points that bring it out, in turn with random moments.
    points: &'static [(&'static str, u64)],
}

/// Cycles after which a bug that nobody noticed counts as missed.
const CYCLES: u64 = 6;

pub const PLANTS: &[Plant] = &[
    plant("answer-before-commit", &[2], &[("committing", 3), ("committing", 7)]),
    plant("dedupe-in-memory", &[1], &[]),
    plant("conflict-overwrites", &[3], &[]),
    plant("skip-delivery", &[4], &[]),
    plant("lane-unordered", &[5, 6], &[]),
    plant("settle-unfenced", &[7, 16], &[]),
    plant("random-message-id", &[17], &[]),
    plant("reserialise-body", &[14], &[]),
    plant("refused-writes", &[22], &[]),
    plant("no-conflict-row", &[15], &[]),
    plant("lose-work-on-settle", &[5], &[]),
];

const fn plant(name: &'static str, found_by: &'static [u8], points: &'static [(&'static str, u64)]) -> Plant {
    Plant { name, found_by, points }
}

/// Looks for every plant; an error names those that were not found.
pub async fn all(seed: u64, only: &[String]) -> Result<()> {
    let binary = binary::locate()?;
    let mut missed = Vec::new();
    for plant in PLANTS.iter().filter(|p| only.is_empty() || only.iter().any(|o| o == p.name)) {
        match hunt(&binary, plant, seed).await? {
            verdict if found(plant, &verdict) => eprintln!("planted `{}`: found by {:?}", plant.name, rules(&verdict)),
            verdict => missed.push(format!("`{}` must be found by {:?}: {verdict:?}", plant.name, plant.found_by)),
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

/// Each rule once.
fn rules(verdict: &Verdict) -> Vec<Rule> {
    let Verdict::Violated(found, _) = verdict else { return Vec::new() };
    let mut rules: Vec<Rule> = found.iter().map(|v| v.rule).collect();
    rules.sort();
    rules.dedup();
    rules
}

/// Kills and looks until the bug shows, at the latest in the drained store.
pub async fn hunt(binary: &Path, plant: &Plant, seed: u64) -> Result<Verdict> {
    let folder = binary::runs().join("planted").join(plant.name);
    let place = Place::fresh(&folder)?;
    let launch = Launch { binary: binary.to_path_buf(), plant: Some(plant.name.to_owned()), ..Launch::default() };
    let mut trial = Trial::open(place, launch, Vec::new(), seed).await?;
    let mut dice = Dice::new(seed).fork(3);
    for cycle in 0..CYCLES {
        let blow = match plant.points.get(cycle as usize) {
            Some((point, hit)) => Blow::At { point, hit: *hit },
            None => Blow::After(std::time::Duration::from_millis(300 + dice.below(400))),
        };
        strike(&mut trial, cycle, &blow, &dice.fork(cycle)).await?;
        let verdict = trial.look(false).await?;
        if found(plant, &verdict) {
            return Ok(verdict);
        }
    }
    trial.drain().await
}
