//! Times: RFC 3339 in UTC for programs, the distance from now for people.

use hookonce_core::time::{DAY, HOUR, MINUTE, Micros, SECOND};

pub fn rfc3339(at: Micros) -> String {
    jiff::Timestamp::from_microsecond(at).map_or_else(|_| at.to_string(), |t| t.to_string())
}

/// `4s`, `3m`, `2h`, `5d`; of the future `in 4s`.
pub fn ago(at: Micros, now: Micros) -> String {
    let distance = now.saturating_sub(at);
    let text = rounded(distance.saturating_abs());
    if distance < 0 { format!("in {text}") } else { text }
}

fn rounded(time: Micros) -> String {
    let (unit, factor) = match time {
        t if t < MINUTE => ("s", SECOND),
        t if t < HOUR => ("m", MINUTE),
        t if t < 2 * DAY => ("h", HOUR),
        _ => ("d", DAY),
    };
    format!("{}{unit}", time / factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (at, expect) in
            [(-4 * SECOND, "4s"), (-90 * SECOND, "1m"), (-47 * HOUR, "47h"), (-50 * HOUR, "2d"), (5 * MINUTE, "in 5m")]
        {
            assert_eq!(ago(at, 0), expect);
        }
        assert_eq!(ago(Micros::MIN, Micros::MAX), "106751991d");
        assert_eq!(rfc3339(1_764_504_422_000_000), "2025-11-30T12:07:02Z");
    }
}
