//! The two programs under test: the ordinary one, and the one with kill points and planted bugs. The same profile and
//! the same target folder, so that nothing below them is compiled twice.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};

use crate::run::{root, run};

/// What only the build for faults may know, by name.
const HOOKS: &[&str] = &["HOOKONCE_KILL_AT", "HOOKONCE_STOP_AT", "HOOKONCE_LEASE_MS", "HOOKONCE_PLANT"];

pub fn plain() -> PathBuf {
    root().join("target/plain/hookonce")
}

pub fn planted() -> PathBuf {
    root().join("target/planted/hookonce")
}

/// Builds both, and proves that the ordinary one has no hooks: the other one shows that the look would find them.
pub fn build() -> Result<()> {
    for (path, features, hooked) in [(planted(), "failpoints,planted", true), (plain(), "", false)] {
        run("cargo", &["build", "--locked", "-p", "hookonce-server", "--features", features], &[])?;
        fs::create_dir_all(path.parent().context("a folder")?)?;
        // A new file each time: an older copy may still be running.
        let _ = fs::remove_file(&path);
        fs::copy(root().join("target/debug/hookonce"), &path)?;
        let program = fs::read(&path)?;
        for hook in HOOKS {
            let found = program.windows(hook.len()).any(|w| w == hook.as_bytes());
            ensure!(found == hooked, "`{}` {} know `{hook}`", path.display(), if hooked { "must" } else { "must not" });
        }
    }
    Ok(())
}
