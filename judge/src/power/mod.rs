//! Fault X2: power loss. The store lies on an ext4 image on a loop device; after the server is dead (first kill, then
//! cut: a server that lives on over a shut-down file system sees success where none was) the file system is shut down
//! without flushing its log, so that everything unsynced is gone.
//!
//! [`image`] the disk and the cut · [`toy`] the rig's own proof: a bare SQLite writer that must lose nothing under
//! `FULL` and must lose under `OFF` · [`run`] the server on that disk, and the negative control.

mod image;
mod run;
pub mod toy;

pub use image::Image;
pub use run::{Cuts, campaign, control};
