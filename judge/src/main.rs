//! `hookonce-judge`: the campaigns from the command line. `cargo xtask campaign …` and `cargo xtask test` call it.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::{Parser, Subcommand};
use hookonce_judge::dice::Dice;
use hookonce_judge::{binary, cases, kill, nodes, planted, power};

/// Cycles from which every named point must have been hit.
const ALL_POINTS: u64 = 60;

#[derive(Parser)]
#[command(name = "hookonce-judge", about = "breaks a real server and judges what is left")]
struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// SIGKILL at random moments and named points
    Kill {
        #[arg(long, default_value_t = 60)]
        cycles: u64,
        /// Servers that run beside each other
        #[arg(long, default_value_t = 4)]
        children: usize,
        /// Leave out what the results file holds already
        #[arg(long)]
        resume: bool,
        #[arg(long)]
        seed: Option<u64>,
        /// Folder of the campaign below `target/judge` (default: by its size, so that a short one ends no long one)
        #[arg(long)]
        name: Option<String>,
    },
    /// Power loss on a loop device; needs root
    Power {
        #[arg(long, default_value_t = 40)]
        cycles: u64,
        /// `normal`: only the control that must lose
        #[arg(long)]
        synchronous: Option<String>,
        #[arg(long)]
        resume: bool,
        #[arg(long)]
        seed: Option<u64>,
        #[arg(long)]
        name: Option<String>,
    },
    /// Several servers on one database: killed, stopped past their leases, cut off, at random
    Nodes {
        #[arg(long, default_value_t = 16)]
        cycles: u64,
        #[arg(long)]
        resume: bool,
        #[arg(long)]
        seed: Option<u64>,
        #[arg(long)]
        name: Option<String>,
    },
    /// Planted bugs, each to be found by its invariant
    Planted {
        only: Vec<String>,
        #[arg(long)]
        seed: Option<u64>,
    },
    /// Field cases that need a whole server: f11, f20a, f20d, f22-readers, f22-inbox, f22-work, f23c, wiped, x9, x10, x10-local, x16
    Cases {
        only: Vec<String>,
        #[arg(long)]
        seed: Option<u64>,
    },
    /// The power rig's own proof, without a server
    Toy,
    #[command(hide = true)]
    ToyWriter { database: PathBuf, synchronous: String },
}

#[tokio::main]
async fn main() -> Result<()> {
    match Args::parse().what {
        What::Kill { cycles, children, resume, seed, name } => {
            let name = name.unwrap_or_else(|| format!("kill-{cycles}"));
            run_kill(kill::Campaign { cycles, children, resume, seed: seeded(seed)?, name }).await
        }
        What::Power { synchronous: Some(mode), seed, .. } => only_control(&mode, seeded(seed)?).await,
        What::Power { cycles, resume, seed, name, .. } => {
            let name = name.unwrap_or_else(|| format!("power-{cycles}"));
            run_power(power::Cuts { cycles, resume, seed: seeded(seed)?, name }).await
        }
        What::Nodes { cycles, resume, seed, name } => {
            let name = name.unwrap_or_else(|| format!("nodes-{cycles}"));
            run_nodes(nodes::Campaign { cycles, resume, seed: seeded(seed)?, name }).await
        }
        What::Planted { only, seed } => planted::all(seeded(seed)?, &only).await,
        What::Cases { only, seed } => cases::all(seeded(seed)?, &only).await,
        What::Toy => prove().await,
        What::ToyWriter { database, synchronous } => power::toy::write(&database, &synchronous),
    }
}

fn seeded(seed: Option<u64>) -> Result<u64> {
    seed.map_or_else(Dice::seed, Ok)
}

async fn run_kill(asked: kill::Campaign) -> Result<()> {
    let results = kill::campaign(&asked).await?;
    println!("kill: {}", results.sum().words());
    println!("{}", results.sum().row("X1", &format!("cargo xtask campaign kill --cycles {}", asked.cycles)));
    results.sum().verdict()?;
    let unhit = kill::unhit(&results);
    if asked.cycles >= ALL_POINTS && !unhit.is_empty() {
        bail!("void: the kill points {unhit:?} were never hit");
    }
    Ok(())
}

async fn run_nodes(asked: nodes::Campaign) -> Result<()> {
    let results = nodes::campaign(&asked).await?;
    println!("nodes: {}", results.sum().words());
    let command = format!("cargo xtask campaign nodes --cycles {}", asked.cycles);
    println!("{}", results.sum().row("X16, X17, X26", &command));
    results.sum().verdict()
}

async fn run_power(asked: power::Cuts) -> Result<()> {
    prove().await?;
    let results = power::campaign(&asked).await?;
    println!("power: {}", results.sum().words());
    println!("{}", results.sum().row("X2", &format!("cargo xtask campaign power --cycles {}", asked.cycles)));
    results.sum().verdict()?;
    only_control("normal", asked.seed).await
}

async fn only_control(mode: &str, seed: u64) -> Result<()> {
    if mode != "normal" {
        bail!("no control `{mode}`\n  hint: `--synchronous normal`");
    }
    let lost = power::control(seed).await?;
    println!("power control: synchronous=NORMAL lost {lost} acked events, as it must");
    Ok(())
}

async fn prove() -> Result<()> {
    power::toy::prove(&std::env::current_exe()?, &binary::runs().join("toy")).await?;
    println!("power rig: FULL lost nothing, OFF lost");
    Ok(())
}
