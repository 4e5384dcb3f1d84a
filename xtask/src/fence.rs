//! Which crate may stand on which (`docs/ARCHITECTURE.md`). Asked of cargo itself: the inverse dependency tree.

use anyhow::{Result, bail};

use crate::run::output;

/// A crate of ours, and what must not be found below it: (package, features, banned, why).
const FENCE: &[(&str, &[&str], &str)] = &[
    (
        "hookonce-core",
        &["tokio", "rusqlite", "tokio-postgres", "reqwest", "hyper", "axum", "rand", "tracing", "metrics", "getrandom"],
        "core is pure: no clock, chance, driver, client",
    ),
    (
        "hookonce-http",
        &["hookonce", "hookonce-destinations", "clap", "rusqlite", "tokio-postgres", "reqwest"],
        "ingest admits through the trait `Intake`",
    ),
    (
        "hookonce-destinations",
        &["hookonce", "hookonce-http", "axum", "rusqlite", "tokio-postgres", "clap"],
        "code that sends stores nothing",
    ),
    (
        "hookonce",
        &["reqwest", "hookonce-destinations", "clap"],
        "the engine sends only through the trait `Destination`",
    ),
    (
        "hookonce-judge",
        &["hookonce", "hookonce-core", "hookonce-http", "hookonce-destinations", "hookonce-server"],
        "the judge shares no code with what it judges",
    ),
];

pub fn run() -> Result<()> {
    let mut broken = Vec::new();
    for (package, banned, why) in FENCE {
        let tree =
            output("cargo", &["tree", "--locked", "-p", package, "-e", "normal", "--prefix", "none", "-f", "{p}"])?;
        let below = tree.lines().skip(1).filter_map(|line| line.split(' ').next());
        for name in below.filter(|name| banned.contains(name)) {
            broken.push(format!("`{package}` stands on `{name}`: {why}"));
        }
    }
    broken.sort();
    broken.dedup();
    if broken.is_empty() {
        eprintln!("fence: {} crates keep their edges", FENCE.len());
        return Ok(());
    }
    bail!("{}", broken.join("\n"));
}
