//! The way in, over real sockets, with a store in memory. Raw bytes where a client library would tidy up.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod answers;
mod bed;
mod bytes;
mod commit;
mod framing;
mod limits;
mod refused;
mod routed;
mod slow;
mod streams;
