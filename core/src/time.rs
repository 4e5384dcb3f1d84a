//! Time as the engine keeps it. Core never reads a clock: instants arrive as arguments and leave as delays.

/// Microseconds: of an instant since the Unix epoch, of a delay its length. One unit everywhere, in SQL too.
pub type Micros = i64;

pub const MILLISECOND: Micros = 1_000;
pub const SECOND: Micros = 1_000_000;
pub const MINUTE: Micros = 60 * SECOND;
pub const HOUR: Micros = 60 * MINUTE;
pub const DAY: Micros = 24 * HOUR;
