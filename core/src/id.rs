//! Public names of events and requests: `evt_` or `req_` and the number in base32.
//!
//! Crockford's alphabet in lower case: no `i`, `l`, `o`, `u`, so that an id survives being read aloud, and the look-alikes
//! are understood on the way in.

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// What an id names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    Event,
    Request,
}

impl Named {
    const ALL: [Named; 2] = [Named::Event, Named::Request];

    fn prefix(self) -> &'static str {
        match self {
            Named::Event => "evt_",
            Named::Request => "req_",
        }
    }

    fn word(self) -> &'static str {
        match self {
            Named::Event => "an event",
            Named::Request => "a request",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    #[error("`{0}` is no id. hint: ids of events look like `evt_5k`, those of requests like `req_5k`")]
    Unknown(String),
    #[error("`{text}` names {found}, not {wanted}", found = .found.word(), wanted = .wanted.word())]
    Other { text: String, found: Named, wanted: Named },
    #[error("`{text}` has no number: `{character}` is none of its digits")]
    Digit { text: String, character: char },
    #[error("`{0}` has no number")]
    Empty(String),
    #[error("the number of `{0}` is too large")]
    TooLarge(String),
}

/// The shortest text: no leading zeros. Numbers of the store are never negative; one that were would be shown as zero.
pub fn text(named: Named, number: i64) -> String {
    let mut rest = u64::try_from(number).unwrap_or(0);
    let mut digits = Vec::new();
    loop {
        digits.push(char::from(ALPHABET[(rest & 31) as usize]));
        rest >>= 5;
        if rest == 0 {
            break;
        }
    }
    named.prefix().chars().chain(digits.into_iter().rev()).collect()
}

pub fn event(number: i64) -> String {
    text(Named::Event, number)
}

pub fn request(number: i64) -> String {
    text(Named::Request, number)
}

/// Reads an id in either case; `o` is 0, `i` and `l` are 1, hyphens between digits are passed over.
pub fn parse(wanted: Named, id: &str) -> Result<i64, IdError> {
    let lower = id.trim().to_ascii_lowercase();
    let Some(found) = Named::ALL.into_iter().find(|named| lower.starts_with(named.prefix())) else {
        return Err(IdError::Unknown(id.to_owned()));
    };
    if found != wanted {
        return Err(IdError::Other { text: id.to_owned(), found, wanted });
    }
    let digits = lower.strip_prefix(found.prefix()).unwrap_or_default().replace('-', "");
    if digits.is_empty() {
        return Err(IdError::Empty(id.to_owned()));
    }
    let number = digits.chars().try_fold(0_i64, |number, c| {
        let digit = digit(c).ok_or_else(|| IdError::Digit { text: id.to_owned(), character: c })?;
        number.checked_mul(32).and_then(|n| n.checked_add(digit)).ok_or_else(|| IdError::TooLarge(id.to_owned()))
    })?;
    Ok(number)
}

fn digit(c: char) -> Option<i64> {
    let c = match c {
        'o' => '0',
        'i' | 'l' => '1',
        other => other,
    };
    ALPHABET.iter().position(|d| char::from(*d) == c).and_then(|n| i64::try_from(n).ok())
}

/// Bytes in the same alphabet, most significant bits first, the last digit filled up with zero bits.
pub fn base32(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(5) * 8);
    let (mut bits, mut held) = (0_u32, 0);
    for byte in bytes {
        bits = bits << 8 | u32::from(*byte);
        held += 8;
        while held >= 5 {
            held -= 5;
            text.push(char::from(ALPHABET[(bits >> held & 31) as usize]));
        }
    }
    if held > 0 {
        text.push(char::from(ALPHABET[(bits << (5 - held) & 31) as usize]));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_the_round_trip_in_their_shortest_form() {
        for (number, id) in
            [(0, "evt_0"), (31, "evt_z"), (32, "evt_10"), (1 << 40, "evt_100000000"), (i64::MAX, "evt_7zzzzzzzzzzzz")]
        {
            assert_eq!(event(number), id);
            assert_eq!(parse(Named::Event, id), Ok(number));
        }
    }

    #[test]
    fn what_people_type_is_understood() {
        for id in ["evt_10", "EVT_10", "Evt_io", "evt_l0", " evt_10 ", "evt_1-0", "evt_0010"] {
            assert_eq!(parse(Named::Event, id), Ok(32), "{id}");
        }
    }

    #[test]
    fn what_is_no_id_is_answered_in_words() {
        let table = [
            ("req_1", "`req_1` names a request, not an event"),
            ("evt_u", "`evt_u` has no number: `u` is none of its digits"),
            ("evt_", "`evt_` has no number"),
            ("evt_8000000000000", "the number of `evt_8000000000000` is too large"),
            ("32", "`32` is no id. hint: ids of events look like `evt_5k`, those of requests like `req_5k`"),
            ("", "`` is no id. hint: ids of events look like `evt_5k`, those of requests like `req_5k`"),
        ];
        for (id, words) in table {
            assert_eq!(parse(Named::Event, id).unwrap_err().to_string(), words);
        }
    }

    /// The vectors of RFC 4648 in this alphabet, without padding.
    #[test]
    fn bytes_are_written_from_the_highest_bit() {
        for (bytes, text) in
            [("", ""), ("f", "cr"), ("fo", "csqg"), ("foo", "csqpy"), ("foob", "csqpyrg"), ("fooba", "csqpyrk1")]
        {
            assert_eq!(base32(bytes.as_bytes()), text);
        }
    }
}
