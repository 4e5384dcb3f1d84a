//! Why a database cannot be a store, by what is to be done about it.

use tokio_postgres::error::SqlState;

use super::open::OLDEST;
use super::value::{is_io, said};
use crate::store::StoreError;

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("the address of the database is none: {0}\nhint: `postgres://user@host:5432/database`")]
    Address(String),
    #[error("no database answers: {0}\nhint: start it, or check host and port in `[store] url`; trying again is safe")]
    Unreachable(String),
    #[error(
        "the database does not let this user in: {0}\nhint: check the user in `[store] url`, the password in `PGPASSWORD`, and `sslmode` if the line is the trouble"
    )]
    NotLetIn(String),
    #[error("there is no such database: {0}\nhint: make it, `createdb NAME`, or check `[store] url`")]
    NoDatabase(String),
    #[error(
        "the user of the database may not do this: {0}\nhint: let its owner run `hookonce migrate up` once, or `grant create on database`"
    )]
    NoRight(String),
    #[error("the database has the schema {found}, this program knows {ours}\nhint: start the newer program")]
    Newer { found: usize, ours: usize },
    #[error(
        "the schema `hookonce` of the database is not ours: {0}\nhint: somebody made or changed it by hand: put it back as it was, or use another database"
    )]
    Foreign(String),
    #[error(
        "a move into this database is not finished\nhint: say `hookonce move --to …` again: it goes on where it was"
    )]
    Moving,
    #[error("PostgreSQL {found} is too old\nhint: {OLDEST} or later is needed")]
    TooOld { found: String },
    #[error(
        "the database takes no writes\nhint: it is a standby or set to read only: name the primary in `[store] url`"
    )]
    ReadOnly,
    #[error(
        "the database's `{name}` is `{found}`\nhint: an answered request could be lost, so hookonce does not start; set it to `{want}`"
    )]
    Setting { name: &'static str, found: String, want: &'static str },
    #[error("PostgreSQL says: {0}")]
    Postgres(tokio_postgres::Error),
    #[error("the store does not answer: {0}")]
    Store(#[from] StoreError),
}

impl From<tokio_postgres::Error> for OpenError {
    fn from(error: tokio_postgres::Error) -> OpenError {
        match error.code().map(SqlState::code) {
            Some(code) => by_state(code, said(&error)).unwrap_or(OpenError::Postgres(error)),
            None if error.is_closed() || is_io(&error) => OpenError::Unreachable(said(&error)),
            None => OpenError::Postgres(error),
        }
    }
}

impl OpenError {
    /// Of a connection that was not had: what is no trouble of the line is one of the way in.
    pub fn connecting(error: tokio_postgres::Error) -> OpenError {
        match OpenError::from(error) {
            OpenError::Postgres(error) if error.code().is_none() => OpenError::NotLetIn(said(&error)),
            other => other,
        }
    }
}

fn by_state(code: &str, text: String) -> Option<OpenError> {
    match (code.get(..2).unwrap_or_default(), code) {
        (_, "25006") => Some(OpenError::ReadOnly),
        (_, "3D000") => Some(OpenError::NoDatabase(text)),
        (_, "42501") => Some(OpenError::NoRight(text)),
        ("28", _) => Some(OpenError::NotLetIn(text)),
        ("08" | "53" | "57", _) => Some(OpenError::Unreachable(text)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_says_what_to_do() {
        for (code, says) in [
            ("25006", "takes no writes"),
            ("28P01", "`PGPASSWORD`"),
            ("28000", "let this user in"),
            ("3D000", "`createdb NAME`"),
            ("42501", "`hookonce migrate up`"),
            ("08006", "trying again is safe"),
            ("53300", "trying again is safe"),
            ("57P03", "trying again is safe"),
        ] {
            let text = by_state(code, "x".to_owned()).map(|error| error.to_string()).unwrap_or_default();
            assert!(text.contains(says) && text.contains("\nhint: "), "{code}: {text}");
        }
        assert!(by_state("42P01", String::new()).is_none());
    }
}
