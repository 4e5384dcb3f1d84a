//! The way in, over real sockets, with a store in memory. Raw bytes where a client library would tidy up.

mod bed;
mod bytes;
