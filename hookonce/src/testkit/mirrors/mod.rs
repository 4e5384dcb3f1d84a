//! Mirrors: the few look-ups of core that SQL repeats (`docs/ARCHITECTURE.md`), each tested over every world of a few
//! rows ([`worlds`]). A world is loaded, the one statement is run, and what it answered and left is compared with the
//! model's function of the same name.
//!
//! Start at `ALL` of a dialect: a statement file that says `-- Mirrors Mn` at its beginning is on it, and nothing else is.

use crate::sql::call::Stmt;

#[cfg(feature = "postgres")]
mod ingest;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod worlds;

/// A statement that mirrors a look-up of core, and the test of it, which answers how many worlds it tried. `S`: what
/// worlds are loaded into.
pub struct Mirror<S> {
    pub number: u8,
    pub stmt: &'static Stmt,
    pub test: fn(&S, &Stmt) -> usize,
}

impl<S> std::fmt::Debug for Mirror<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "M{} {}", self.number, self.stmt.name)
    }
}

const fn mirror<S>(number: u8, stmt: &'static Stmt, test: fn(&S, &Stmt) -> usize) -> Mirror<S> {
    Mirror { number, stmt, test }
}
