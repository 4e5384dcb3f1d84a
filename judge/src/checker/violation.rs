//! A finding: which rule, in words.

use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// A number of `docs/INVARIANTS.md`.
    Invariant(u8),
    /// The inbox file and the work file contradict each other.
    Pair,
    /// SQLite itself finds the file damaged.
    Integrity,
    /// A truly signed request was answered as if it were wrong.
    Answer,
    /// The server ended by itself, or did not end when told.
    Process,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invariant(n) => write!(f, "invariant {n}"),
            Self::Pair => f.write_str("cross-file rule"),
            Self::Integrity => f.write_str("file integrity"),
            Self::Answer => f.write_str("answer rule"),
            Self::Process => f.write_str("process rule"),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    pub rule: Rule,
    pub words: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.words)
    }
}
