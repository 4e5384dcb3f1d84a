//! `cargo xtask test`: everything, in the order in which it fails fastest. `.ci/run` calls the same.

use anyhow::{Result, bail};

use crate::run::{need, run};
use crate::{bench, binaries, campaign, clients, fence, postgres, tidy};

#[derive(clap::Args)]
pub struct Args {
    /// Only these steps, by name
    only: Vec<String>,
}

/// A step: its name and what it does.
type Step = (&'static str, fn() -> Result<()>);

const STEPS: &[Step] = &[
    ("format", || run("cargo", &["fmt", "--all", "--check"], &[])),
    ("tidy", tidy::run),
    ("fence", fence::run),
    ("lint", || run("cargo", &["clippy", "--locked", "--workspace", "--all-targets", "--", "-D", "warnings"], &[])),
    ("tools", tools),
    ("database", postgres::ready),
    ("unit", || run("cargo", &["test", "--locked", "--workspace"], &[])),
    ("switches", switches),
    ("binaries", binaries::build),
    ("demo", demo),
    ("clients", clients::run_all),
    ("planted", || faults(&["planted"])),
    ("cases", || faults(&["cases"])),
    ("kill", || faults(&["kill", "--cycles", "60"])),
    ("nodes", || faults(&["nodes", "--cycles", "8"])),
    ("power", || faults(&["power", "--cycles", "40"])),
    ("bench", bench_short),
];

pub fn run_steps(args: &Args) -> Result<()> {
    let unknown: Vec<&String> = args.only.iter().filter(|o| !STEPS.iter().any(|(name, _)| name == o)).collect();
    if !unknown.is_empty() {
        let names: Vec<&str> = STEPS.iter().map(|(name, _)| *name).collect();
        bail!("no step {unknown:?}; there are {}", names.join(", "));
    }
    // Whatever the steps come to, a server of our own ends with them.
    let _stopped = postgres::Stopped;
    let mut done = 0;
    for (name, step) in STEPS.iter().filter(|(name, _)| args.only.is_empty() || args.only.iter().any(|o| o == name)) {
        eprintln!("\n==== {name}");
        step()?;
        done += 1;
    }
    println!("steps: {done} passed, 0 failed");
    Ok(())
}

/// What tests call that a bare machine may lack.
fn tools() -> Result<()> {
    need("node", "nodejs")?;
    need("npm", "npm")?;
    need("curl", "curl")?;
    need("openssl", "openssl")?;
    need("pgbouncer", "pgbouncer")
}

/// Kill points and planted bugs of ingest do what they say, and the suite finds those of the store; they are compiled in
/// for this only.
fn switches() -> Result<()> {
    let lines = [
        "test --locked -p hookonce-http --features planted,failpoints --test planted --test points",
        "test --locked -p hookonce --features planted --test planted",
    ];
    lines.iter().try_for_each(|line| run("cargo", &line.split(' ').collect::<Vec<_>>(), &[]))
}

/// The judge on the build that was made for it.
fn faults(line: &[&str]) -> Result<()> {
    campaign::judge(line, Some(&binaries::planted()))
}

/// The newcomer's first command keeps every promise that it prints.
fn demo() -> Result<()> {
    run("target/plain/hookonce", &["demo", "--once"], &[])
}

/// The bench in the profile that everything else was built in: half the bars, ratios against the same profile.
fn bench_short() -> Result<()> {
    run("cargo", &["build", "--locked", "-p", "hookonce-bench"], &[])?;
    bench::measure("debug", true, &[])
}
