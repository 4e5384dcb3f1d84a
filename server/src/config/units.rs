//! Durations, sizes and instants as people write them, each with an error that says what is accepted.

use hookonce_core::time::{DAY, HOUR, MILLISECOND, MINUTE, Micros, SECOND};

const DURATIONS: [(&str, Micros); 7] =
    [("us", 1), ("ms", MILLISECOND), ("s", SECOND), ("m", MINUTE), ("h", HOUR), ("d", DAY), ("y", 365 * DAY)];
const SIZES: [(&str, u64); 7] = [
    ("B", 1),
    ("kB", 1_000),
    ("KiB", 1 << 10),
    ("MB", 1_000_000),
    ("MiB", 1 << 20),
    ("GB", 1_000_000_000),
    ("GiB", 1 << 30),
];

pub const DURATION_FORM: &str =
    "a duration is a whole number and a unit: `500ms`, `30s`, `5m`, `2h`, `3d`, `7y`, or `1h30m`";
pub const SIZE_FORM: &str = "a size is a whole number and a unit: `512KiB`, `1MiB`, `2GiB` (or `kB`, `MB`, `GB`, `B`)";
pub const INSTANT_FORM: &str = "an instant is a date or RFC 3339: `2026-12-31` or `2026-12-31T18:00:00Z`";

/// `None`: not of that form, or too large.
pub fn duration(text: &str) -> Option<Micros> {
    let mut rest = text.trim();
    let mut sum: Micros = 0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let (number, unit, after) = part(rest)?;
        let (_, factor) = DURATIONS.iter().find(|(name, _)| *name == unit)?;
        sum = sum.checked_add(i64::try_from(number).ok()?.checked_mul(*factor)?)?;
        rest = after.trim_start();
    }
    Some(sum)
}

pub fn size(text: &str) -> Option<u64> {
    let (number, unit, after) = part(text.trim())?;
    let (_, factor) = SIZES.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?;
    if after.is_empty() { number.checked_mul(*factor) } else { None }
}

/// Number, unit, rest.
fn part(text: &str) -> Option<(u64, &str, &str)> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, rest) = text.split_at(digits);
    let rest = rest.trim_start();
    let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
    let (unit, after) = rest.split_at(letters);
    Some((number.parse().ok()?, unit, after))
}

/// Which end of a day a bare date means: a key that is good until a date is good on that day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DayEnd {
    First,
    Last,
}

pub fn instant(text: &str, end: DayEnd) -> Option<Micros> {
    let text = text.trim();
    if let Ok(at) = text.parse::<jiff::Timestamp>() {
        return Some(at.as_microsecond());
    }
    let date: jiff::civil::Date = text.parse().ok()?;
    let midnight = date.at(0, 0, 0, 0);
    let start = jiff::tz::TimeZone::UTC.to_timestamp(midnight).ok()?.as_microsecond();
    Some(if end == DayEnd::Last { start.checked_add(DAY - 1)? } else { start })
}

/// The shortest exact form: `90s` is `1m30s`, `3600s` is `1h`.
pub fn spoken(mut time: Micros) -> String {
    if time == 0 {
        return "0s".to_owned();
    }
    let mut out = String::new();
    for (unit, factor) in DURATIONS.iter().rev().filter(|(unit, _)| *unit != "y") {
        if time >= *factor {
            out.push_str(&format!("{}{unit}", time / factor));
            time %= factor;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, expect) in [
            ("30s", Some(30 * SECOND)),
            (" 1h30m ", Some(90 * MINUTE)),
            ("3 d", Some(3 * DAY)),
            ("0s", Some(0)),
            ("500ms", Some(500 * MILLISECOND)),
            ("30", None),
            ("", None),
            ("-1s", None),
            ("1.5h", None),
            ("1w", None),
            ("99999999999999999999s", None),
            ("9223372036854775807d", None),
        ] {
            assert_eq!(duration(text), expect, "{text}");
        }
        assert_eq!(spoken(90 * MINUTE), "1h30m");
    }

    #[test]
    fn sizes() {
        for (text, expect) in [
            ("1MiB", Some(1 << 20)),
            ("1mib", Some(1 << 20)),
            ("10 kB", Some(10_000)),
            ("5", None),
            ("1MiB2", None),
            ("18446744073709551615GiB", None),
        ] {
            assert_eq!(size(text), expect, "{text}");
        }
    }

    #[test]
    fn a_date_means_its_first_or_last_microsecond() {
        let first = instant("2026-12-31", DayEnd::First).expect("a date");
        assert_eq!(instant("2026-12-31", DayEnd::Last), Some(first + DAY - 1));
        assert_eq!(instant("2026-12-31T00:00:00Z", DayEnd::Last), Some(first));
        assert_eq!(instant("2026-02-30", DayEnd::First), None);
        assert_eq!(instant("tomorrow", DayEnd::First), None);
    }
}
