//! The embedded store by itself: what the conformance suite, which every backend runs, cannot ask.

#![allow(clippy::unwrap_used, reason = "in a test an unwrap is a failed assertion")]

mod backup;
mod bed;
mod bounds;
mod copies;
mod faults;
mod files;
mod first;
mod groups;
mod locks;
mod plans;
#[path = "../sent/mod.rs"]
mod sent;
mod tap;
