//! Acks on a store that has seen much: the random ledger index is what grows.

use std::path::Path;

use anyhow::{Result, ensure};
use serde_json::json;
use tempfile::TempDir;

use crate::acks::measure;
use crate::child::{Config, Server};
use crate::load::{self, Load};
use crate::report::Line;
use crate::scale::Scale;
use crate::stats::Ratio;

const FEW: u64 = 10_000;

/// acks/s with many stored identities ÷ with ten thousand.
pub async fn many(binary: &Path, scale: &Scale) -> Result<Vec<Line>> {
    let (few, many) = (TempDir::new()?, TempDir::new()?);
    fill(binary, few.path(), FEW).await?;
    fill(binary, many.path(), scale.identities).await?;
    let mut ratios = Vec::new();
    for pair in 0..scale.pairs as u64 {
        let mut rates = [0.0; 2];
        for (at, folder) in [few.path(), many.path()].into_iter().enumerate() {
            // The small store stays small: it is a fresh copy each time. The large one may grow a little.
            let copy = TempDir::new()?;
            let folder = if at == 0 { copied(folder, copy.path())? } else { folder };
            let server = Server::product(binary, folder, &Config::default()).await?;
            rates[at] = measure(&server, scale, 300 + 2 * pair + at as u64).await?.rate();
            server.stop()?;
        }
        ratios.push(rates[1] / rates[0]);
    }
    let ratio = Ratio::of(ratios);
    let what = format!("acks with {} identities ÷ with {FEW}", scale.identities);
    let detail = json!({ "low": ratio.low, "high": ratio.high });
    Ok(vec![Line::new(&what, ratio.median, scale.at_least(0.8), detail)])
}

fn copied<'a>(from: &Path, to: &'a Path) -> Result<&'a Path> {
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        std::fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(to)
}

/// Through the front door: truly stored events, not rows made by hand.
async fn fill(binary: &Path, folder: &Path, identities: u64) -> Result<()> {
    let server = Server::product(binary, folder, &Config::default()).await?;
    let (mut stored, mut seed) = (0u64, 9_000);
    while stored < identities {
        seed += 1;
        let load = Load { address: server.ingest, source: "crm", seconds: 1.0, rate: None, seed, lanes: 0 };
        let got = load::run(load).await?;
        ensure!(!got.latencies.is_empty(), "nothing is stored any more");
        stored += got.latencies.len() as u64;
    }
    server.stop()
}
