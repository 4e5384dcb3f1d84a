//! The codes of configuration problems. Each has an entry in `docs/ERRORS.md`; a test compares the two lists.
//! A code once published keeps its meaning: scripts and runbooks hold on to it.

/// What kind of problem it is, by what the reader has to do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    File,
    Syntax,
    SetTwice,
    UnknownSection,
    UnknownKey,
    UnknownVariable,
    UnsetVariable,
    WrongType,
    BadValue,
    BadName,
    MissingKey,
    Contradiction,
    Misplaced,
    UnknownProvider,
    UnknownScheme,
    UnknownSource,
    NoIdentity,
    NotVerified,
    BadRule,
    BadPattern,
    BadUrl,
    PrivateTarget,
    LiteralSecret,
    MissingSecret,
    BadSecret,
    LooseSecretFile,
    TrimmedSecret,
    DefaultKey,
    NothingRuns,
    NotBuilt,
}

impl Code {
    #[cfg(test)]
    pub const ALL: [Code; 30] = [
        Code::File,
        Code::Syntax,
        Code::SetTwice,
        Code::UnknownSection,
        Code::UnknownKey,
        Code::UnknownVariable,
        Code::UnsetVariable,
        Code::WrongType,
        Code::BadValue,
        Code::BadName,
        Code::MissingKey,
        Code::Contradiction,
        Code::Misplaced,
        Code::UnknownProvider,
        Code::UnknownScheme,
        Code::UnknownSource,
        Code::NoIdentity,
        Code::NotVerified,
        Code::BadRule,
        Code::BadPattern,
        Code::BadUrl,
        Code::PrivateTarget,
        Code::LiteralSecret,
        Code::MissingSecret,
        Code::BadSecret,
        Code::LooseSecretFile,
        Code::TrimmedSecret,
        Code::DefaultKey,
        Code::NothingRuns,
        Code::NotBuilt,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Code::File => "config-file",
            Code::Syntax => "config-syntax",
            Code::SetTwice => "config-set-twice",
            Code::UnknownSection => "config-unknown-section",
            Code::UnknownKey => "config-unknown-key",
            Code::UnknownVariable => "config-unknown-variable",
            Code::UnsetVariable => "config-unset-variable",
            Code::WrongType => "config-wrong-type",
            Code::BadValue => "config-bad-value",
            Code::BadName => "config-bad-name",
            Code::MissingKey => "config-missing-key",
            Code::Contradiction => "config-contradiction",
            Code::Misplaced => "config-misplaced",
            Code::UnknownProvider => "config-unknown-provider",
            Code::UnknownScheme => "config-unknown-scheme",
            Code::UnknownSource => "config-unknown-source",
            Code::NoIdentity => "config-no-identity",
            Code::NotVerified => "config-not-verified",
            Code::BadRule => "config-bad-rule",
            Code::BadPattern => "config-bad-pattern",
            Code::BadUrl => "config-bad-url",
            Code::PrivateTarget => "config-private-target",
            Code::LiteralSecret => "config-literal-secret",
            Code::MissingSecret => "config-missing-secret",
            Code::BadSecret => "config-bad-secret",
            Code::LooseSecretFile => "config-loose-secret-file",
            Code::TrimmedSecret => "config-trimmed-secret",
            Code::DefaultKey => "config-default-key",
            Code::NothingRuns => "config-nothing-runs",
            Code::NotBuilt => "config-not-built",
        }
    }

    /// Complaints that something is absent. In a file with syntax errors they would be guesses: the line that says it
    /// may be the very line that could not be read.
    pub fn needs_whole_file(self) -> bool {
        matches!(
            self,
            Code::MissingKey
                | Code::NoIdentity
                | Code::NotVerified
                | Code::UnknownSource
                | Code::NothingRuns
                | Code::MissingSecret
        )
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::Code;
    use crate::cli::Exit;

    /// Codes in the first or second cell of the tables of a section.
    fn listed(section: &str, cell: usize) -> BTreeSet<String> {
        let text = include_str!("../../../docs/ERRORS.md");
        let part = text.split("\n## ").find(|part| part.starts_with(section)).expect("the section");
        let rows = part.lines().filter(|line| line.starts_with("| ") && line.contains('`'));
        rows.filter_map(|row| row.split('|').nth(cell)).map(|c| c.trim().trim_matches('`').to_owned()).collect()
    }

    #[test]
    fn every_code_is_explained_and_nothing_else() {
        let names = Code::ALL.map(Code::name);
        assert_eq!(listed("Configuration", 1), names.iter().map(|n| (*n).to_owned()).collect());
        let exits = Exit::ALL.map(|exit| exit.name().to_owned());
        assert_eq!(listed("Exit codes", 2), BTreeSet::from(exits));
    }
}
