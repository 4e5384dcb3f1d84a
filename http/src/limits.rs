//! Every bound of the way in, with its default. What a user may set is in [`Limits`], the rest are constants.

use std::time::Duration;

use crate::address::Rate;

/// Header lines of one request.
pub const MAX_HEADERS: usize = 64;
/// Request line and headers together.
pub const MAX_HEAD: usize = 16 * 1024;
/// HTTP/2 streams of one connection at once.
pub const MAX_STREAMS: u32 = 64;
/// HTTP/2: bytes in flight that nobody has read yet, per stream and per connection.
pub const STREAM_WINDOW: u32 = 64 * 1024;
pub const CONNECTION_WINDOW: u32 = 256 * 1024;
/// Streams that a peer resets before we have taken them (rapid reset), then the connection ends.
pub const MAX_RESETS: usize = 20;
/// Body of one request, decoded or not, where neither source nor provider says otherwise.
pub const MAX_BODY: usize = 1024 * 1024;
/// Beyond the time of an ordinary body, a large one has to keep this pace (bytes per second).
pub const MIN_RATE: u64 = 128 * 1024;
/// Frames of one body that bring nothing. They are always there at once, so that no time-out would ever be looked at.
pub const MAX_EMPTY: u32 = 100;
/// A decoded body may be so many times its coded length; text that people send stays below a tenth of it.
pub const MAX_RATIO: usize = 256;
/// Below this the ratio says nothing.
pub const RATIO_FLOOR: usize = 64 * 1024;
/// Bodies from here on are hashed and walked off the threads that serve connections.
pub const OFFLOAD: usize = 256 * 1024;
/// One source may fill this part of the buffers: a flood at one door leaves the others open.
pub const SOURCE_SHARE: usize = 2;
/// What a sender is told to wait when the trouble is ours.
pub const RETRY_AFTER_SECONDS: u16 = 5;
/// Connections that the kernel keeps for us while all slots are taken.
pub const BACKLOG: u32 = 4096;

/// What the configuration may change.
#[derive(Clone, Debug)]
pub struct Limits {
    /// From the connection to its first byte.
    pub first_byte: Duration,
    /// From the first byte of a head to its last.
    pub head: Duration,
    /// For an ordinary body; a larger one has a second more for each [`MIN_RATE`] bytes that came.
    pub body: Duration,
    /// Between two requests.
    pub idle: Duration,
    /// Bytes of bodies in memory, all sources together.
    pub max_buffered: usize,
    pub connections: usize,
    /// Behind a proxy all connections have one address, so this is no limit unless it is set.
    pub connections_per_address: Option<usize>,
    pub address_rate: Option<Rate>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            first_byte: Duration::from_secs(5),
            head: Duration::from_secs(10),
            body: Duration::from_secs(10),
            idle: Duration::from_secs(15),
            max_buffered: 256 * 1024 * 1024,
            connections: 16_384,
            connections_per_address: None,
            address_rate: None,
        }
    }
}
