//! What only PostgreSQL has: commits that nobody answers, locks of strangers, nodes beside each other,
//! transactions that stay open, plans. The suite is in `tests/suite.rs`.

#![allow(clippy::unwrap_used, reason = "in a test an unwrap is a failed assertion")]

mod bed;
mod beside;
mod chaos;
mod commits;
mod config;
mod crowd;
mod faults;
mod functions;
mod groups;
mod hints;
mod locks;
mod plans;
mod proxy;
mod retention;
#[path = "../sent/mod.rs"]
mod sent;
mod standby;
#[path = "../sqlite/tap.rs"]
mod tap;
mod ways;
