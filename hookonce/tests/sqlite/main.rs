//! The embedded store by itself: what the conformance suite, which every backend runs, cannot ask.

mod bed;
mod first;
