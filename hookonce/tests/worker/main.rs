//! The loops over the model, in virtual time. `bed` is what they stand on.

mod bed;
mod lanes;
mod lost;
