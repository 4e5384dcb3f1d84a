//! The variables of the process as a value: read once, so that one reading of the configuration sees one environment
//! and tests bring their own.

use std::collections::BTreeMap;

#[derive(Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

/// Values may be secrets: only the names are ever shown.
impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Environment {
    /// What is not UTF-8 is taken with replacement characters: a setting or secret like that is refused further on,
    /// a variable that nobody asks for does no harm.
    pub fn of_process() -> Environment {
        let lossy = |s: std::ffi::OsString| s.to_string_lossy().into_owned();
        Environment(std::env::vars_os().map(|(name, value)| (lossy(name), lossy(value))).collect())
    }

    #[cfg(test)]
    pub fn of<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Environment {
        Environment(pairs.into_iter().map(|(n, v)| (n.to_owned(), v.to_owned())).collect())
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.0.keys().map(String::as_str)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(n, v)| (n.as_str(), v.as_str()))
    }
}
