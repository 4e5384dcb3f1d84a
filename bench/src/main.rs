//! The bench of `cargo xtask bench`: the bars of the design's section 10 that need no `sql` consumer.
//!
//! Servers are processes of their own; this one generates load. Everything is compared within one run, in alternation.

mod acks;
mod bed;
mod beside;
mod body;
mod child;
mod deliveries;
mod identities;
mod load;
mod measured;
mod probe;
mod receiver;
mod report;
mod scale;
mod stats;
mod verify_only;
mod wire;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Parser, Subcommand};

use crate::bed::Bed;
use crate::report::{Line, Report};

/// The product's own, so that it is no difference between what is compared.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Parser)]
struct Args {
    #[command(subcommand)]
    role: Role,
}

#[derive(Subcommand)]
enum Role {
    /// Measure
    Run(Run),
    /// Load a server that runs already, to profile it
    Load(Drive),
    /// The HTTP stack of the product, verifying and storing nothing
    VerifyOnly { address: SocketAddr },
    /// The trivial receiver of deliveries
    Receiver { address: SocketAddr },
}

#[derive(clap::Args)]
struct Drive {
    /// Where it listens; it has a source `crm` of the bench's secret
    address: SocketAddr,
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
    /// Requests a second; as many as are answered unless it is given
    #[arg(long)]
    rate: Option<f64>,
    /// Other bodies for each
    #[arg(long, default_value_t = 1)]
    seed: u64,
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
        Role::Load(drive) => drive_server(&drive).await.map(|()| ExitCode::SUCCESS),
        Role::VerifyOnly { address } => verify_only::serve(address).await.map(|()| ExitCode::SUCCESS),
        Role::Receiver { address } => receiver::serve(address).await.map(|()| ExitCode::SUCCESS),
        Role::Run(run) => measure(run).await,
    }
}

async fn drive_server(drive: &Drive) -> Result<()> {
    let until = load::Until::Seconds(drive.seconds);
    let got = load::run(load::Load { address: drive.address, until, rate: drive.rate, seed: drive.seed }).await?;
    let [p50, p99, p999] = [0.5, 0.99, 0.999].map(|q| got.quantile(q));
    println!("{:.0}/s, p50 {p50} ms, p99 {p99} ms, p99.9 {p999} ms, {} not 200", got.rate(), got.refused);
    Ok(())
}

/// Scenarios, in the order in which they run.
const SCENARIOS: [&str; 6] = ["acks", "latency", "consumers", "transaction", "deliveries", "identities"];

async fn measure(run: Run) -> Result<ExitCode> {
    if let Some(unknown) = run.only.iter().find(|o| !SCENARIOS.contains(&o.as_str())) {
        bail!("no scenario `{unknown}`; there are {}", SCENARIOS.join(", "));
    }
    let scale = if run.short { scale::SHORT } else { scale::FULL };
    let wants = |name: &str| run.only.is_empty() || run.only.iter().any(|o| o == name);
    let bed = Bed::new(run.binary.canonicalize()?, scale, run.out.join("stores"));
    let mut report = Report::new(if run.short { "short" } else { "full" });
    // The open loops run at half of the peak, so where they are asked for the acks are measured too.
    if wants("acks") || wants("latency") || wants("transaction") {
        let (acks, peak) = acks::ratio(&bed).await?;
        report.add(acks);
        if wants("latency") {
            report.add(acks::latency(&bed, peak).await?);
        }
        if wants("transaction") {
            report.add(beside::long_transaction(&bed, peak).await?);
        }
    }
    if wants("consumers") {
        report.add(beside::more_consumers(&bed).await?);
    }
    if wants("deliveries") {
        report.add(deliveries::ratio(&bed).await?);
    }
    if wants("identities") {
        report.add(identities::many(&bed).await?);
    }
    let what = "resident memory at peak, of all that ran, MiB";
    report.add(vec![Line::new(what, bed.peak_mib(), scale.at_most(256.0), serde_json::json!({}))]);
    let held = report.write(&run.out)?;
    Ok(if held { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
