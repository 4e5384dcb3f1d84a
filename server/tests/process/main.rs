//! The real binary from outside: its signals, its files, its commands.

mod bed;
mod decisions;
mod life;
mod metrics;
mod reload;
