//! What one reading of the configuration knows beside the tree: flags, environment, folder, clock.

use std::path::{Path, PathBuf};

use hookonce_core::time::Micros;

use super::dev::DevSecrets;
use super::environment::Environment;

/// What the command line and the process say. `Flags::default()` is a production start without overrides.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// Literal and generated secrets are taken.
    pub dev: bool,
    /// A missing secret is an error, not the trouble of one source.
    pub strict: bool,
    pub env: Environment,
    /// (flag, path of the setting, value), e.g. `("--listen", "ingest.listen", "0.0.0.0:80")`.
    pub set: Vec<(&'static str, &'static str, String)>,
}

impl Flags {
    /// Notes an override that was given.
    pub fn with(mut self, flag: &'static str, path: &'static str, value: Option<&str>) -> Flags {
        self.set.extend(value.map(|v| (flag, path, v.to_owned())));
        self
    }
}

#[derive(Debug)]
pub struct Reading<'a> {
    pub flags: &'a Flags,
    /// Relative paths start at the configuration's folder, wherever the process was started.
    pub folder: PathBuf,
    pub dev_secrets: DevSecrets,
    pub now: Micros,
}

impl Reading<'_> {
    pub fn beside(&self, path: &str) -> PathBuf {
        self.folder.join(Path::new(path))
    }
}
