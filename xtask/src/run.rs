//! Starting other programs, loudly: the line that was run, what it gave, how long it took.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context, Result, bail};

/// The workspace's folder.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().map_or_else(|| here.to_path_buf(), Path::to_path_buf)
}

/// What every program that is started from here is told.
static TOLD: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());

/// Tells all programs that are started from now on.
pub fn tell(name: &str, value: &str) {
    TOLD.lock().unwrap_or_else(PoisonError::into_inner).push((name.to_owned(), value.to_owned()));
}

fn told() -> Vec<(String, String)> {
    TOLD.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Runs a command line in the workspace's folder; a failure is an error.
pub fn run(name: &str, args: &[&str], env: &[(&str, &str)]) -> Result<()> {
    let started = Instant::now();
    eprintln!("\n$ {name} {}", args.join(" "));
    let status = Command::new(name)
        .args(args)
        .envs(told())
        .envs(env.iter().copied())
        .current_dir(root())
        .status()
        .with_context(|| format!("cannot start `{name}`"))?;
    eprintln!("  {status} after {:.1} s", started.elapsed().as_secs_f32());
    if !status.success() {
        bail!("`{name} {}` failed", args.join(" "));
    }
    Ok(())
}

/// What a command prints.
pub fn output(name: &str, args: &[&str]) -> Result<String> {
    let out =
        Command::new(name).args(args).current_dir(root()).output().with_context(|| format!("cannot start `{name}`"))?;
    if !out.status.success() {
        bail!("`{name} {}` failed: {}", args.join(" "), String::from_utf8_lossy(&out.stderr));
    }
    Ok(String::from_utf8(out.stdout)?)
}

/// Whether a program is to be found on the path.
pub fn has(name: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(|dir| dir.join(name).is_file()))
}

/// Installs Debian packages whose program is missing.
pub fn need(program: &str, package: &str) -> Result<()> {
    if has(program) || Path::new("/usr/sbin").join(program).is_file() || Path::new("/sbin").join(program).is_file() {
        return Ok(());
    }
    install(package)
}

/// Installs a Debian package.
pub fn install(package: &str) -> Result<()> {
    run("apt-get", &["update", "-q"], &[])?;
    run(
        "apt-get",
        &["install", "-y", "-q", "--no-install-recommends", package],
        &[("DEBIAN_FRONTEND", "noninteractive")],
    )
}
