//! The acks: how much of a server that stores nothing is left when every answer waits for a durable commit.

use anyhow::Result;
use serde_json::{Value, json};

use crate::bed::Bed;
use crate::child::Server;
use crate::measured::Measured;
use crate::probe;
use crate::report::Line;
use crate::stats::{Ratio, median};

/// acks/s ÷ verify-only, idle memory, and the peak that the open loops are measured at.
pub async fn ratio(bed: &Bed) -> Result<(Vec<Line>, f64)> {
    let plain = Server::role("verify-only").await?;
    let (mut ratios, mut peaks, mut seen, mut idle) = (Vec::new(), Vec::new(), Vec::new(), 0.0f64);
    for pair in 0..bed.scale.pairs as u64 {
        let before = plain.processor_seconds()?;
        let a = bed.acks(&plain, 2 * pair).await?;
        let plain_us = (plain.processor_seconds()? - before) * 1e6 / a.count() as f64;
        let folder = bed.folder()?;
        let server = Server::product(&bed.binary, folder.path(), "").await?;
        idle = idle.max(server.resident_mib()?[0]);
        let b = bed.acks(&server, 2 * pair + 1).await?;
        let ours = ours(&server, &b).await?;
        bed.keep_peak(&server)?;
        server.stop()?;
        ratios.push(b.rate() / a.rate());
        peaks.push(b.rate());
        seen.push(json!({
            "verify_only": { "per_s": a.rate().round(), "server_cpu_us": plain_us.round(), "generator_cpu_us": a.generator_us().round() },
            "acks": ours,
        }));
    }
    plain.stop()?;
    let ratio = Ratio::of(ratios);
    let lines = vec![
        Line::new("acks on SQLite ÷ verify-only", ratio.median, bed.scale.at_least(0.30), ratio.detail(seen)),
        Line::new("resident memory idle, MiB", idle, bed.scale.at_most(40.0), json!({})),
    ];
    Ok((lines, median(&peaks)))
}

/// What a run at full speed looked like from inside.
async fn ours(server: &Server, got: &Measured) -> Result<Value> {
    let sum = server.metric("hookonce_store_commit_batch_events_sum").await?;
    let commits = server.metric("hookonce_store_commit_batch_events_count").await?;
    let cpu = server.processor_seconds()? * 1e6 / got.count() as f64;
    Ok(json!({
        "per_s": got.rate().round(), "p50_ms": got.quantile(0.5), "p99_ms": got.quantile(0.99),
        "p999_ms": got.quantile(0.999), "events_per_commit": (sum / commits * 10.0).round() / 10.0,
        "commits_per_s": (commits / got.seconds).round(), "server_cpu_us": cpu.round(),
        "generator_cpu_us": got.generator_us().round(), "peak_mib": server.resident_mib()?[1].round(),
    }))
}

/// p99 in an open loop at half of the peak: the median of several runs, each with a probe of the disk before and after.
pub async fn latency(bed: &Bed, peak: f64) -> Result<Vec<Line>> {
    let (mut p99s, mut limits, mut seen) = (Vec::new(), Vec::new(), Vec::new());
    for run in 0..bed.scale.pairs as u64 {
        let folder = bed.folder()?;
        let before = probe::fdatasync_p99(folder.path())?;
        let server = Server::product(&bed.binary, folder.path(), "").await?;
        let got = bed.paced(&server, peak / 2.0, 77 + run).await?;
        bed.keep_peak(&server)?;
        server.stop()?;
        let after = probe::fdatasync_p99(folder.path())?;
        limits.push(f64::max(10.0, 3.0 * before.max(after)));
        p99s.push(got.quantile(0.99));
        seen.push(json!({
            "answered_per_s": got.rate().round(), "p50_ms": got.quantile(0.5), "p99_ms": got.quantile(0.99),
            "p999_ms": got.quantile(0.999), "p99_from_due_ms": got.quantile_from_due(0.99), "fdatasync_p99_ms": [before, after],
        }));
    }
    let (p99, limit) = (median(&p99s), median(&limits));
    let detail = json!({ "rate": (peak / 2.0).round(), "runs": seen });
    Ok(vec![Line::new("ack p99 at half the peak, ms", p99, bed.scale.at_most(limit), detail)])
}
