//! How people see our numbers: `evt_` and the number in base 32. Never part of a key, a number does not survive a
//! restore.

use crate::event::EventNo;

/// Crockford's digits in lower case: no letter that is taken for a digit.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// 64 bits in digits of five.
const DIGITS_MAX: usize = 13;

/// `evt_1z`.
pub fn event(number: EventNo) -> String {
    format!("evt_{}", written(number))
}

/// The number of `evt_1z`, or `None` for anything that [`event`] does not write.
pub fn parse_event(text: &str) -> Option<EventNo> {
    read(text.strip_prefix("evt_")?)
}

fn written(number: i64) -> String {
    let mut rest = number as u64;
    let mut digits = Vec::with_capacity(DIGITS_MAX);
    loop {
        digits.push(DIGITS[(rest % 32) as usize]);
        rest /= 32;
        if rest == 0 {
            break;
        }
    }
    digits.iter().rev().map(|d| char::from(*d)).collect()
}

fn read(text: &str) -> Option<i64> {
    if text.is_empty() || text.len() > DIGITS_MAX || (text.len() > 1 && text.starts_with('0')) {
        return None;
    }
    let number = text.bytes().try_fold(0u64, |number, byte| {
        let digit = DIGITS.iter().position(|d| *d == byte)? as u64;
        number.checked_mul(32)?.checked_add(digit)
    })?;
    i64::try_from(number).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_nothing_else_is_one() {
        for number in [0, 1, 31, 32, 1_000_000, i64::MAX] {
            assert_eq!(parse_event(&event(number)), Some(number));
        }
        assert_eq!(event(63), "evt_1z");
        for text in ["", "evt_", "evt_01", "evt_u", "evt_1Z", "1z", "evt_zzzzzzzzzzzzz", "evt_00000000000000", "evt_é"]
        {
            assert_eq!(parse_event(text), None, "{text}");
        }
    }
}
