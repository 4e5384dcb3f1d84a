//! The time that an event says of itself, in whatever form its provider writes it.
//!
//! RFC 3339 (with a zone, without one it is UTC), RFC 2822, `Thu Jan 01 00:00:00 +0000 2026`, and numbers, whose size
//! tells their unit.

use jiff::{Timestamp, civil, fmt::rfc2822, fmt::strtime, tz::Offset};

use crate::admit::believed;
use crate::time::{MILLISECOND, Micros, SECOND};

/// Longer texts are no times; parsers need not see them.
const MAX_LENGTH: usize = 64;

/// The time that a text means, if it can be believed of an event received at `received`.
pub fn of(text: &[u8], received: Micros) -> Option<Micros> {
    believed(parse(text), received)
}

pub fn parse(text: &[u8]) -> Option<Micros> {
    let text = std::str::from_utf8(text).ok()?.trim();
    if text.is_empty() || text.len() > MAX_LENGTH {
        return None;
    }
    number(text).or_else(|| written(text))
}

/// Below 10^11 seconds, below 10^14 milliseconds, else microseconds; of a decimal the part before the point decides.
fn number(text: &str) -> Option<Micros> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let numeric = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !numeric(whole) || !numeric(fraction) {
        return None;
    }
    let whole: i64 = whole.parse().ok()?;
    let unit = match whole {
        ..100_000_000_000 => SECOND,
        100_000_000_000..100_000_000_000_000 => MILLISECOND,
        _ => 1,
    };
    let time = whole.checked_mul(unit)?.checked_add(part_of(fraction, unit))?;
    Some(if negative { -time } else { time })
}

/// The digits behind the point in microseconds, finer ones cut off.
fn part_of(fraction: &str, unit: Micros) -> Micros {
    let mut part = 0;
    let mut worth = unit;
    for digit in fraction.bytes() {
        worth /= 10;
        part += Micros::from(digit - b'0') * worth;
    }
    part
}

fn written(text: &str) -> Option<Micros> {
    let zoned = |text: &str| text.parse::<Timestamp>().ok();
    let mail = || rfc2822::DateTimeParser::new().parse_timestamp(text).ok();
    zoned(text).or_else(|| local(text)).or_else(mail).or_else(|| unix_date(text)).map(Timestamp::as_microsecond)
}

/// A time without a zone is UTC, said or not.
fn local(text: &str) -> Option<Timestamp> {
    let text = text.strip_suffix("UTC").map_or(text, str::trim_end);
    let date: civil::DateTime = text.parse().ok()?;
    Offset::UTC.to_timestamp(date).ok()
}

fn unix_date(text: &str) -> Option<Timestamp> {
    strtime::parse("%a %b %d %H:%M:%S %z %Y", text).ok()?.to_timestamp().ok()
}
