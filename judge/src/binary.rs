//! Where the accused is: `HOOKONCE_BIN`, else built here with kill points and planted bugs compiled in.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

const FEATURES: &str = "failpoints,planted";

pub fn locate() -> Result<PathBuf> {
    if let Some(path) = std::env::var_os("HOOKONCE_BIN") {
        return Ok(std::path::absolute(path)?);
    }
    build()
}

/// The workspace's folder.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().map_or_else(|| here.to_path_buf(), Path::to_path_buf)
}

/// Where runs keep their folders.
pub fn runs() -> PathBuf {
    root().join("target/judge")
}

/// Built and set aside under a name of its own: an ordinary build beside it must not take its place in mid-campaign.
fn build() -> Result<PathBuf> {
    let args = ["build", "--locked", "--package", "hookonce-server", "--features", FEATURES];
    let status = Command::new("cargo").args(args).current_dir(root()).status().context("cannot start `cargo`")?;
    if !status.success() {
        bail!("the server with `{FEATURES}` does not build");
    }
    std::fs::create_dir_all(runs())?;
    let aside = runs().join("hookonce");
    let fresh = runs().join("hookonce.new");
    std::fs::copy(root().join("target/debug/hookonce"), &fresh)?;
    std::fs::rename(&fresh, &aside)?;
    Ok(aside)
}

/// The commit that is judged, for the record.
pub fn commit() -> String {
    let out = Command::new("git").args(["rev-parse", "--short", "HEAD"]).current_dir(root()).output();
    out.ok().and_then(|o| String::from_utf8(o.stdout).ok()).map_or_else(String::new, |s| s.trim().to_owned())
}
