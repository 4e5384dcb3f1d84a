//! Acks on a store that has seen much: the random ledger index is what grows.

use std::path::Path;

use anyhow::Result;
use serde_json::json;
use tempfile::TempDir;

use crate::bed::Bed;
use crate::child::Server;
use crate::load::{self, Load, Until};
use crate::report::Line;
use crate::stats::Ratio;

const FEW: u64 = 10_000;

/// acks/s with many stored identities ÷ with ten thousand.
pub async fn many(bed: &Bed) -> Result<Vec<Line>> {
    let (few, many) = (bed.folder()?, bed.folder()?);
    fill(bed, few.path(), FEW).await?;
    fill(bed, many.path(), bed.scale.identities).await?;
    let (mut ratios, mut seen) = (Vec::new(), Vec::new());
    for pair in 0..bed.scale.pairs as u64 {
        let mut rates = [0.0; 2];
        for (at, folder) in [&few, &many].into_iter().enumerate() {
            // The small store stays small: it is a fresh copy each time. The large one may grow a little.
            let copy = (at == 0).then(|| copied(bed, folder.path())).transpose()?;
            let folder = copy.as_ref().unwrap_or(folder);
            let server = Server::product(&bed.binary, folder.path(), "").await?;
            rates[at] = bed.acks(&server, 300 + 2 * pair + at as u64).await?.rate();
            bed.keep_peak(&server)?;
            server.stop()?;
        }
        ratios.push(rates[1] / rates[0]);
        seen.push(json!(rates.map(f64::round)));
    }
    let ratio = Ratio::of(ratios);
    let what = format!("acks with {} identities ÷ with {FEW}", bed.scale.identities);
    Ok(vec![Line::new(&what, ratio.median, bed.scale.at_least(0.8), ratio.detail(seen))])
}

fn copied(bed: &Bed, from: &Path) -> Result<TempDir> {
    let to = bed.folder()?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        std::fs::copy(entry.path(), to.path().join(entry.file_name()))?;
    }
    Ok(to)
}

/// Through the front door: truly stored events, not rows made by hand.
async fn fill(bed: &Bed, folder: &Path, identities: u64) -> Result<()> {
    let server = Server::product(&bed.binary, folder, "").await?;
    let load = Load { address: server.ingest, until: Until::Sent(identities), rate: None, seed: 9_000 };
    load::run(load).await?.whole()?;
    bed.keep_peak(&server)?;
    server.stop()
}
