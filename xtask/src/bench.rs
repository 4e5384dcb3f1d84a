//! `cargo xtask bench`: builds the released binary and the bench, and measures. Results in `target/bench/`.

use anyhow::Result;

use crate::run::{root, run};

#[derive(clap::Args)]
pub struct Args {
    /// Shorter, at half the bars: what CI runs
    #[arg(long)]
    short: bool,
    /// Only these: acks, latency, consumers, transaction, deliveries, identities
    only: Vec<String>,
}

pub fn bench(args: &Args) -> Result<()> {
    run("cargo", &["build", "--locked", "--release", "-p", "hookonce-server", "-p", "hookonce-bench"], &[])?;
    measure("release", args.short, &args.only)
}

/// Measures what is built in that profile's folder.
pub fn measure(profile: &str, short: bool, only: &[String]) -> Result<()> {
    let target = root().join("target");
    let bin = target.join(profile);
    let (bench, binary, out) = (bin.join("hookonce-bench"), bin.join("hookonce"), target.join("bench"));
    let mut line = vec!["run", "--binary", path(&binary), "--out", path(&out)];
    if short {
        line.push("--short");
    }
    line.extend(only.iter().map(String::as_str));
    run(path(&bench), &line, &[])
}

fn path(path: &std::path::Path) -> &str {
    path.to_str().unwrap_or_default()
}
