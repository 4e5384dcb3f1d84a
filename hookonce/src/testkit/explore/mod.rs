//! Exhaustive exploration of small worlds: every interleaving of senders, routers, workers, crashes and lease ends.
//!
//! A world is plain data: the tables, what each task remembers, the clock, and what was seen outside. A task's verbs are
//! steps between which anything else may happen. This is the whole-verb grain, that of SQLite: one writer, so a verb
//! is one step; what lies between a claim and its settle, or between a commit and its answer, is not. A grain of
//! single statements with row locks is another list of steps over the same world and the same properties.
//!
//! Not here: the walk itself, which is a test's (`tests/explore.rs`). Start at [`world`], then [`steps`].

pub mod evidence;
pub mod mutation;
pub mod setup;
pub mod steps;
pub mod world;

pub use mutation::Mutation;
pub use setup::Setup;
pub use steps::Step;
pub use world::World;
