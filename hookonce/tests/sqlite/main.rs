//! The embedded store by itself: what the conformance suite, which every backend runs, cannot ask.

mod bed;
mod bounds;
mod copies;
mod faults;
mod files;
mod first;
mod groups;
mod locks;
mod reads;
mod tap;
