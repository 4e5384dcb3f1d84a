//! The server on a disk that loses its power, and the control that must lose.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, bail};
use tokio::time::sleep;

use super::Image;
use crate::binary;
use crate::checker::{Rule, Verdict};
use crate::dice::Dice;
use crate::results::{Outcome, Results, Row};
use crate::rig::receiver::Manner;
use crate::rig::{Launch, Place};
use crate::trial::Trial;

/// Cuts of one series: one disk, one store.
const SERIES: u64 = 10;
/// Requests of one cycle at the most.
const SENDS: u64 = 500;
/// The moment of the cut after ready: at least, and the spread above.
const MOMENT: (u64, u64) = (100, 600);
/// The control loses at nearly every cut; one that does not in so many is a failed test.
const CONTROL_CUTS: u64 = 10;
/// The plant that opens both files with `synchronous=NORMAL`.
const NORMAL: &str = "synchronous-normal";

/// A campaign as it was asked for.
#[derive(Debug, Clone)]
pub struct Cuts {
    pub cycles: u64,
    pub resume: bool,
    pub seed: u64,
    pub name: String,
}

pub async fn campaign(asked: &Cuts) -> Result<Results> {
    let (binary, folder) = (binary::locate()?, binary::runs().join(&asked.name));
    let mut results = Results::open(&folder.join("results.jsonl"), asked.resume)?;
    eprintln!("power: {} cuts, seed {}", asked.cycles, asked.seed);
    for number in 0..asked.cycles.div_ceil(SERIES) {
        if results.has(number) {
            continue;
        }
        let cycles = SERIES.min(asked.cycles - number * SERIES);
        let seed = Dice::new(asked.seed).fork(number).draw();
        let plan = Plan { number, seed, cycles, folder: folder.join(format!("series-{number}")), plant: None };
        let row = series(&binary, &plan).await?;
        eprintln!("series {number}: {:?}, {} acked, lost {}", row.outcome, row.account.acked, row.account.lost);
        results.add(row)?;
    }
    Ok(results)
}

/// The negative control: with `NORMAL` acknowledged events must go missing. Gives how many were found lost.
pub async fn control(seed: u64) -> Result<u64> {
    let (binary, folder) = (binary::locate()?, binary::runs().join("power-control"));
    let plan = Plan { number: 0, seed, cycles: CONTROL_CUTS, folder, plant: Some(NORMAL.to_owned()) };
    let row = series(&binary, &plan).await?;
    match &row.outcome {
        Outcome::Violated(found) if found.iter().any(|v| v.rule == Rule::Invariant(2)) => Ok(row.account.lost),
        other => {
            bail!("the control with `{NORMAL}` must lose and did not in {CONTROL_CUTS} cuts: {other:?}, seed {seed}")
        }
    }
}

#[derive(Debug)]
struct Plan {
    number: u64,
    seed: u64,
    cycles: u64,
    folder: PathBuf,
    plant: Option<String>,
}

async fn series(binary: &Path, plan: &Plan) -> Result<Row> {
    let mut place = Place::fresh(&plan.folder)?;
    let mut image = Image::make(&plan.folder)?;
    place.store = image.mount().join("store");
    let launch = Launch { binary: binary.to_path_buf(), plant: plan.plant.clone(), ..Launch::default() };
    let mut trial = Trial::open(place, launch, vec!["power".to_owned()], plan.seed).await?;
    sync(&trial.place)?;
    let verdict = cycles(plan, &mut trial, &mut image).await?;
    let row = trial.row(plan.number, plan.cycles, &verdict);
    drop((trial, image));
    if row.outcome == Outcome::Clean || plan.plant.is_some() {
        std::fs::remove_dir_all(&plan.folder)?;
    }
    Ok(row)
}

/// The configuration file must survive the first cut: it is no part of what is tested.
fn sync(place: &Place) -> Result<()> {
    for path in [&place.config(), &place.store, &place.store.join("..")] {
        std::fs::File::open(path)?.sync_all()?;
    }
    Ok(())
}

async fn cycles(plan: &Plan, trial: &mut Trial, image: &mut Image) -> Result<Verdict> {
    let mut dice = Dice::new(plan.seed).fork(2);
    for n in 0..plan.cycles {
        trial.receiver.behave(Manner::Rough);
        if let Some(mut child) = trial.start(None).await? {
            let load = trial.load(SENDS, &dice.fork(n));
            sleep(Duration::from_millis(MOMENT.0 + dice.below(MOMENT.1))).await;
            let end = child.kill().await?;
            trial.must_be_killed(end);
            trial.halt();
            load.await??;
        }
        image.cut()?;
        trial.fault("power", n, true)?;
        let verdict = trial.look(false).await?;
        if matches!(verdict, Verdict::Violated(..)) {
            return Ok(verdict);
        }
    }
    trial.drain().await
}
