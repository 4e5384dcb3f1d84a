//! Official SDKs as clients of the real binary (`tests/clients`). Node and its packages are installed if they are missing.

use anyhow::{Context as _, Result, bail};

use crate::binaries;
use crate::run::{need, output, root, run};

/// The packages' own floor.
const NODE: u32 = 20;

pub fn run_all() -> Result<()> {
    need("node", "nodejs")?;
    need("npm", "npm")?;
    let version = output("node", &["--version"])?;
    let major: u32 =
        version.trim_start_matches('v').split('.').next().and_then(|n| n.parse().ok()).context("a version")?;
    if major < NODE {
        bail!("node {} is too old for the packages: {NODE} or newer is needed", version.trim());
    }
    let folder = root().join("tests/clients");
    let folder = folder.to_str().context("a path of text")?;
    run("npm", &["ci", "--prefix", folder, "--no-fund", "--no-audit"], &[])?;
    let binary = binaries::plain();
    let binary = binary.to_str().context("a path of text")?;
    run("npm", &["test", "--prefix", folder], &[("HOOKONCE_BIN", binary)])
}
