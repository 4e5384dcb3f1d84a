//! The real binary from outside: its signals, its files, its commands.

mod bed;
mod database;
mod decisions;
mod life;
mod metrics;
mod reload;
mod shared;
mod stores;
