//! The versions of a store's schema, as people are told of them.

/// One of the schemas of a store: SQLite has one for each file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    /// `inbox`, `work`, `database`.
    pub of: &'static str,
    /// The version that is there; 0: none yet.
    pub found: usize,
    /// The last one that this program knows.
    pub known: usize,
    /// What is missing, in the order in which it is applied.
    pub pending: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub version: usize,
    pub what: String,
}

impl Schema {
    /// `versions`: the texts of all that are known, of which the first line says what they do.
    pub fn new(of: &'static str, found: usize, versions: &[&str]) -> Schema {
        let step = |(at, text): (usize, &&str)| {
            let first = text.lines().next().unwrap_or_default();
            Step { version: at + 1, what: first.trim_start_matches("-- ").to_owned() }
        };
        let pending = versions.iter().enumerate().skip(found).map(step).collect();
        Schema { of, found, known: versions.len(), pending }
    }
}
