//! The loops over the model, in virtual time. `bed` is what they stand on.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod answers;
mod bed;
mod faulty;
mod lanes;
mod leases;
mod lost;
