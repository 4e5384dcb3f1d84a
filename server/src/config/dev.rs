//! Secrets for trying things out: `hookonce init` generates them into one file beside the configuration, and `--dev`
//! takes from it what the environment does not set. The configuration itself is the same in production.

use std::collections::BTreeMap;
use std::path::Path;

/// Beside `hookonce.toml`.
pub const SECRETS_FILE: &str = ".hookonce/dev.secrets";

#[derive(Clone, Default)]
pub struct DevSecrets(BTreeMap<String, String>);

impl std::fmt::Debug for DevSecrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl DevSecrets {
    /// What cannot be read counts as empty: the secret is then reported as missing, with this file as the hint.
    pub fn beside(folder: &Path) -> DevSecrets {
        DevSecrets::parse(&std::fs::read_to_string(folder.join(SECRETS_FILE)).unwrap_or_default())
    }

    /// `NAME=value`, one a line; `#` begins a comment line.
    pub fn parse(text: &str) -> DevSecrets {
        let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
        let pairs = lines.filter_map(|line| line.split_once('='));
        DevSecrets(pairs.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect())
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}
