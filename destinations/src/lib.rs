//! Code that sends: one folder a kind, each behind its feature, each ending every try in an `Outcome`.
//!
//! Here: [`guard`], which decides what may be connected to, for every kind; [`http`]. Not here: what is sent
//! (`hookonce_core::message`), when and how often (the loops of `hookonce`), anything that is stored.
//! Start at `http/send.rs`.

pub mod guard;
#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "testkit")]
pub mod testkit;
