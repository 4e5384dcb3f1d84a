//! What proves the engine: the in-memory model that is the first backend, and the suite that every backend passes.
//!
//! Start at [`model`] for the tables and the verbs, at [`script`] for the language of the suite. No SQL here: whatever
//! a store does is compared with the model row by row, see [`dump`]. [`explore`] walks small worlds to their ends.

pub mod dump;
pub mod explore;
pub mod faulty;
pub mod invariant;
pub mod mirrors;
pub mod model;
pub mod script;
pub mod suite;
