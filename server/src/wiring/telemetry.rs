//! Logs on stderr, numbers for `/metrics`. One line where something is handled; never a body, never a secret.

use std::time::Duration;

use anyhow::{Context as _, Result};
use hookonce_core::time::{Micros, SECOND};
use metrics::{Unit, describe_gauge, gauge};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tracing_subscriber::EnvFilter;

/// Seconds: from a commit in the page cache to a provider's patience.
const SECONDS: &[f64] = &[0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];
const BATCH: &[f64] = &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0];
const BYTES: &[f64] = &[256.0, 1024.0, 4096.0, 16384.0, 65536.0, 262_144.0, 1_048_576.0, 8_388_608.0, 33_554_432.0];

const BUILD: &str = "hookonce_build_info";
const DRAINING: &str = "hookonce_node_draining";
const RELOADED: &str = "hookonce_config_last_reload_successful";
const RELOADED_AT: &str = "hookonce_config_last_reload_success_timestamp_seconds";

/// Between two foldings of the histograms.
const UPKEEP: Duration = Duration::from_secs(1);

pub fn logs(level: &str, json: bool, colour: bool) -> Result<()> {
    let filter = EnvFilter::try_new(level).with_context(|| format!("`{level}` is no log level"))?;
    // Whoever reads stderr may be gone: a log that cannot be written must not become a panic about it.
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(colour)
        .log_internal_errors(false);
    let set = if json { builder.json().try_init() } else { builder.try_init() };
    set.map_err(|e| anyhow::anyhow!("cannot set up logs: {e}"))
}

pub fn metrics() -> Result<PrometheusHandle> {
    let buckets = [("_seconds", SECONDS), ("_batch_events", BATCH), ("_bytes", BYTES)];
    let mut builder = PrometheusBuilder::new();
    for (suffix, values) in buckets {
        builder = builder.set_buckets_for_metric(Matcher::Suffix(suffix.to_owned()), values)?;
    }
    let handle = builder.install_recorder().context("cannot set up metrics")?;
    tokio::spawn(upkeep(handle.clone()));
    describe_gauge!(BUILD, "1, with the version that runs as a label");
    describe_gauge!(DRAINING, "1: this node takes nothing more and ends");
    describe_gauge!(RELOADED, "1: the last configuration that was read took effect");
    describe_gauge!(RELOADED_AT, Unit::Seconds, "when a configuration last took effect, since the epoch");
    gauge!(BUILD, "version" => env!("CARGO_PKG_VERSION")).set(1.0);
    draining(false);
    Ok(handle)
}

pub fn draining(now: bool) {
    gauge!(DRAINING).set(f64::from(now));
}

/// A configuration was read: whether it took effect, and if so when by the store's clock.
pub fn reloaded(at: Option<Micros>) {
    gauge!(RELOADED).set(f64::from(at.is_some()));
    if let Some(at) = at {
        gauge!(RELOADED_AT).set((at / SECOND) as f64);
    }
}

/// Folds what histograms have recorded into their buckets. Without it every single value is kept until somebody asks
/// for the metrics, which may be never.
async fn upkeep(handle: PrometheusHandle) {
    loop {
        tokio::time::sleep(UPKEEP).await;
        handle.run_upkeep();
    }
}
