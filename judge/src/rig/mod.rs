//! The rig: a real server as a child process in a folder of its own, a load generator before it, a receiver behind.
//!
//! [`place`] folders and addresses · [`config`] what the child is told · [`child`] its life and death · [`wire`]
//! HTTP/1.1 by hand · [`traffic`] what to send · [`load`] sending it · [`receiver`] taking what is forwarded. Nothing
//! here judges: everything is written down as evidence and judged by the checker.

pub mod child;
pub mod clock;
pub mod cluster;
pub mod config;
pub mod database;
pub mod line;
pub mod load;
pub mod place;
pub mod receiver;
pub mod traffic;
pub mod wire;

#[cfg(test)]
mod tests;

pub use child::{Child, Launch};
pub use clock::Clock;
pub use cluster::Cluster;
pub use database::Database;
pub use place::Place;
