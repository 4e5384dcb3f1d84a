//! The bench of `cargo xtask bench`: the bars of the design's section 10 that need no `sql` consumer.
//!
//! Servers are processes of their own; this one generates load. Everything is compared within one run, in alternation.

mod acks;
mod beside;
mod body;
mod child;
mod deliveries;
mod identities;
mod load;
mod probe;
mod report;
mod scale;
mod stats;
mod verify_only;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::report::Line;

#[derive(Parser)]
struct Args {
    #[command(subcommand)]
    role: Role,
}

#[derive(Subcommand)]
enum Role {
    /// Measure
    Run(Run),
    /// The HTTP stack of the product, verifying and storing nothing
    VerifyOnly { address: SocketAddr },
}

#[derive(clap::Args)]
struct Run {
    /// The `hookonce` under test
    #[arg(long)]
    binary: PathBuf,
    /// Folder of the reports
    #[arg(long)]
    out: PathBuf,
    /// CI's form: shorter, half the bars
    #[arg(long)]
    short: bool,
    /// Only these: acks, latency, consumers, transaction, deliveries, identities
    only: Vec<String>,
}

#[tokio::main]
async fn main() -> Result<ExitCode> {
    // The bare client is plain HTTP, but the library wants to know its TLS all the same.
    let _ = rustls::crypto::ring::default_provider().install_default();
    match Args::parse().role {
        Role::VerifyOnly { address } => verify_only::serve(address).await.map(|()| ExitCode::SUCCESS),
        Role::Run(run) => measure(run).await,
    }
}

async fn measure(run: Run) -> Result<ExitCode> {
    let scale = if run.short { scale::SHORT } else { scale::FULL };
    let wants = |name: &str| run.only.is_empty() || run.only.iter().any(|o| o == name);
    let binary = &run.binary.canonicalize()?;
    let mut lines: Vec<Line> = Vec::new();
    // The peak is what the open loops are measured at, so the acks come first, whatever is asked for.
    let (acks, peak) = acks::ratio(binary, &scale).await?;
    lines.extend(acks);
    if wants("latency") {
        lines.extend(acks::latency(binary, &scale, peak).await?);
    }
    if wants("consumers") {
        lines.extend(beside::more_consumers(binary, &scale).await?);
    }
    if wants("transaction") {
        lines.extend(beside::long_transaction(binary, &scale, peak).await?);
    }
    if wants("deliveries") {
        lines.extend(deliveries::ratio(binary, &scale).await?);
    }
    if wants("identities") {
        lines.extend(identities::many(binary, &scale).await?);
    }
    let held = report::write(&run.out, if run.short { "short" } else { "full" }, &lines)?;
    Ok(if held { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
