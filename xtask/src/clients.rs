//! Official SDKs as clients of the real binary, and workers in other languages (`tests/clients`). What they stand on is
//! installed if it is missing.

use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::binaries;
use crate::run::{install, need, output, root, run};

/// The packages' own floor.
const NODE: u32 = 20;
/// The one that packages are installed for; the path may hold another one.
const PYTHON: &str = "/usr/bin/python3";
const JDBC: &str = "/usr/share/java/postgresql.jar";

pub fn run_all() -> Result<()> {
    need("node", "nodejs")?;
    need("npm", "npm")?;
    let version = output("node", &["--version"])?;
    let major: u32 =
        version.trim_start_matches('v').split('.').next().and_then(|n| n.parse().ok()).context("a version")?;
    if major < NODE {
        bail!("node {} is too old for the packages: {NODE} or newer is needed", version.trim());
    }
    drivers()?;
    let folder = root().join("tests/clients");
    let folder = folder.to_str().context("a path of text")?;
    run("npm", &["ci", "--prefix", folder, "--no-fund", "--no-audit"], &[])?;
    let binary = binaries::plain();
    let binary = binary.to_str().context("a path of text")?;
    run("npm", &["test", "--prefix", folder], &[("HOOKONCE_BIN", binary)])
}

/// Python and Java, each with its driver for PostgreSQL.
fn drivers() -> Result<()> {
    if !Path::new(PYTHON).is_file() {
        install("python3")?;
    }
    if output(PYTHON, &["-c", "import psycopg"]).is_err() {
        install("python3-psycopg")?;
    }
    need("javac", "default-jdk-headless")?;
    if !Path::new(JDBC).is_file() {
        install("libpostgresql-jdbc-java")?;
    }
    Ok(())
}
