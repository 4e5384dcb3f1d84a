//! Fault X1: SIGKILL under load, at random moments and at named points.
//!
//! A campaign is many runs (series) of a few cycles each: small enough that every look can check everything, many so
//! that several run beside each other and a campaign can be resumed. [`run`] is one series, [`blow`] how it is hit.

mod blow;
mod run;
mod zombie;

use std::path::PathBuf;

use anyhow::Result;
use tokio::task::JoinSet;

use crate::binary;
use crate::dice::Dice;
use crate::results::{Results, Row};

pub use blow::{Blow, POINTS};
pub use run::{Series, series, strike};
pub use zombie::zombie;

/// Cycles of one series.
const CYCLES: u64 = 15;

/// A campaign as it was asked for.
#[derive(Debug, Clone)]
pub struct Campaign {
    pub cycles: u64,
    /// Series that run beside each other.
    pub children: usize,
    pub resume: bool,
    pub seed: u64,
    pub name: String,
}

impl Campaign {
    fn folder(&self) -> PathBuf {
        binary::runs().join(&self.name)
    }

    fn all(&self, binary: &std::path::Path) -> Vec<Series> {
        let count = self.cycles.div_ceil(CYCLES);
        (0..count)
            .map(|number| Series {
                number,
                seed: Dice::new(self.seed).fork(number).draw(),
                cycles: CYCLES.min(self.cycles - number * CYCLES),
                first: number * CYCLES,
                binary: binary.to_path_buf(),
                folder: self.folder().join(format!("series-{number}")),
            })
            .collect()
    }
}

/// Runs what is not done yet, `children` at a time, and gives the sum of all.
pub async fn campaign(asked: &Campaign) -> Result<Results> {
    let binary = binary::locate()?;
    let mut results = Results::open(&asked.folder().join("results.jsonl"), asked.resume)?;
    let mut waiting: Vec<Series> = asked.all(&binary).into_iter().filter(|s| !results.has(s.number)).collect();
    waiting.reverse();
    eprintln!("kill: {} series to run, {} done, seed {}", waiting.len(), results.rows.len(), asked.seed);
    let mut running = JoinSet::new();
    loop {
        while running.len() < asked.children.max(1)
            && let Some(next) = waiting.pop()
        {
            running.spawn(async move { series(&next).await });
        }
        let Some(row) = running.join_next().await else { return Ok(results) };
        let row: Row = row??;
        eprintln!(
            "series {}: {:?}, {} acked, lost {}, doubled {}",
            row.series, row.outcome, row.account.acked, row.account.lost, row.account.doubled
        );
        results.add(row)?;
    }
}

/// Named points that no run of the campaign has hit. A campaign long enough for all of them must hit all.
pub fn unhit(results: &Results) -> Vec<&'static str> {
    let sum = results.sum();
    let hit = |point: &str| sum.faults.contains_key(&format!("kill:{point}"));
    POINTS.into_iter().filter(|p| !hit(p)).collect()
}
