//! The loops over the model, in virtual time. `bed` is what they stand on.

mod answers;
mod bed;
mod faulty;
mod lanes;
mod leases;
mod lost;
