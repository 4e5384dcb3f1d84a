//! `cargo xtask campaign kill|power|planted …`: builds the judge and hands the rest of the line over to it.
//!
//! The campaigns themselves live in the crate `judge`; here is only what they need of the machine.

use std::path::Path;

use anyhow::Result;

use crate::run::{need, run};

#[derive(clap::Args)]
pub struct Args {
    /// What the judge is asked to do, and its options (`--help` after the name lists them)
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    line: Vec<String>,
}

pub fn run_asked(args: &Args) -> Result<()> {
    judge(&args.line.iter().map(String::as_str).collect::<Vec<_>>(), None)
}

/// Runs the judge with these words, on that server or on one that it builds itself.
pub fn judge(line: &[&str], binary: Option<&Path>) -> Result<()> {
    if line.first() == Some(&"power") {
        need("mkfs.ext4", "e2fsprogs")?;
        need("losetup", "mount")?;
        need("python3", "python3-minimal")?;
    }
    let start = ["run", "--quiet", "--locked", "--package", "hookonce-judge", "--"];
    let env = binary.and_then(Path::to_str).map(|b| ("HOOKONCE_BIN", b));
    run("cargo", &[&start, line].concat(), env.as_slice())
}
