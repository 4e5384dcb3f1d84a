//! Hookonce: the durable, idempotent inbox for webhooks.
//!
//! Here: the store contract ([`store`]) and its backends, and the loops that drive it. Not here: HTTP (crate
//! `hookonce-http`), code that sends (`hookonce-destinations`), decisions (`hookonce-core`).

pub mod alarm;
pub mod backup;
pub mod chance;
pub mod change;
mod cleaner;
pub mod clock;
pub mod engine;
pub mod gauges;
#[cfg(feature = "axum")]
pub mod inbox;
mod janitor;
#[cfg(all(feature = "sqlite", feature = "postgres"))]
pub mod moving;
mod node;
#[cfg(feature = "postgres")]
pub mod postgres;
mod pulse;
mod read;
mod router;
pub mod sql;
#[cfg(feature = "sqlite")]
pub mod sqlite;
pub mod store;
#[cfg(feature = "testkit")]
pub mod testkit;
pub mod view;
pub mod wake;
mod worker;
