//! The judge: drives the real server as a child process, breaks it, and says from outside evidence whether the
//! promises held.
//!
//! Here: the evidence ([`history`]), a reader of the dead store ([`dump`]), the [`checker`], and the [`rig`] around
//! the child. Not here: anything of the engine. This crate signs, hashes and reads SQLite with code of its own and
//! must never depend on another crate of this workspace; a judge that shares code with the accused shares its
//! mistakes.
//!
//! Start at [`checker::judge`]: everything else exists to feed it.

pub mod binary;
pub mod cases;
pub mod checker;
pub mod dice;
pub mod dump;
pub mod history;
pub mod kill;
pub mod nodes;
pub mod planted;
pub mod power;
pub mod results;
pub mod rig;
pub mod sign;
pub mod trial;
