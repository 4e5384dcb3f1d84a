//! The acks: how much of a server that stores nothing is left when every answer waits for a durable commit.

use std::path::Path;

use anyhow::{Result, ensure};
use serde_json::json;
use tempfile::TempDir;

use crate::child::{Config, Server};
use crate::load::{self, Load, Measured};
use crate::probe;
use crate::report::Line;
use crate::scale::Scale;
use crate::stats::{Ratio, median};

fn closed(server: &Server, scale: &Scale, seed: u64) -> Load<'static> {
    Load { address: server.ingest, source: "crm", seconds: scale.seconds, rate: None, seed, lanes: 0 }
}

pub async fn measure(server: &Server, scale: &Scale, seed: u64) -> Result<Measured> {
    let got = load::run(closed(server, scale, seed)).await?;
    ensure!(got.refused == 0, "{} requests were not answered 200", got.refused);
    Ok(got)
}

/// acks/s ÷ verify-only, memory, and the peak that the open loop is measured at.
pub async fn ratio(binary: &Path, scale: &Scale) -> Result<(Vec<Line>, f64)> {
    let plain = Server::verify_only().await?;
    let (mut ratios, mut peaks, mut seen) = (Vec::new(), Vec::new(), Vec::new());
    let (mut idle, mut peak) = (0.0f64, 0.0f64);
    for pair in 0..scale.pairs as u64 {
        let a = measure(&plain, scale, 2 * pair).await?;
        let folder = TempDir::new()?;
        let server = Server::product(binary, folder.path(), &Config::default()).await?;
        idle = idle.max(server.resident_mib()?);
        let b = measure(&server, scale, 2 * pair + 1).await?;
        peak = peak.max(server.resident_mib()?);
        let batch = batch_size(&server).await?;
        server.stop()?;
        ratios.push(b.rate() / a.rate());
        peaks.push(b.rate());
        seen.push(json!({ "verify_only": a.rate().round(), "acks": b.rate().round(), "p50_ms": b.quantile(0.5),
            "p99_ms": b.quantile(0.99), "p999_ms": b.quantile(0.999), "batch": batch }));
    }
    plain.stop()?;
    let ratio = Ratio::of(ratios);
    peaks.sort_by(f64::total_cmp);
    let detail = json!({ "low": ratio.low, "high": ratio.high, "pairs": seen });
    let lines = vec![
        Line::new("acks on SQLite ÷ verify-only", ratio.median, scale.at_least(0.30), detail),
        Line::new("resident memory at peak, MiB", peak, scale.at_most(256.0), json!({})),
        Line::new("resident memory idle, MiB", idle, scale.at_most(40.0), json!({})),
    ];
    Ok((lines, median(&peaks)))
}

/// Events per commit, from the server's own histogram.
async fn batch_size(server: &Server) -> Result<f64> {
    let sum = server.metric("hookonce_store_commit_batch_events_sum").await?;
    let count = server.metric("hookonce_store_commit_batch_events_count").await?;
    Ok((sum / count.max(1.0) * 10.0).round() / 10.0)
}

/// p99 in an open loop at half of the peak.
pub async fn latency(binary: &Path, scale: &Scale, peak: f64) -> Result<Vec<Line>> {
    let folder = TempDir::new()?;
    let before = probe::fdatasync_p99(folder.path())?;
    let server = Server::product(binary, folder.path(), &Config::default()).await?;
    let load = Load { rate: Some(peak / 2.0), seconds: scale.seconds * 2.0, ..closed(&server, scale, 77) };
    let got = load::run(load).await?;
    server.stop()?;
    let after = probe::fdatasync_p99(folder.path())?;
    let limit = f64::max(10.0, 3.0 * before.max(after));
    let detail = json!({ "rate": (peak / 2.0).round(), "answered": got.rate().round(), "p50_ms": got.quantile(0.5),
        "p999_ms": got.quantile(0.999), "fdatasync_p99_ms": [before, after] });
    Ok(vec![Line::new("ack p99 at half the peak, ms", got.quantile(0.99), scale.at_most(limit), detail)])
}
