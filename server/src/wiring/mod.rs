//! From what was configured to what runs. Nothing decides here: values of `config` become values of the crates below,
//! and `serve` starts them in the order in which they need each other.

mod changes;
mod consumers;
mod reload;
pub mod roles;
pub mod serve;
pub mod sources;
mod store;
mod telemetry;
