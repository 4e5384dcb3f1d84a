//! From headers to what they claim: the signatures, and when they say they were made. Everything here has come from
//! nobody knows whom, so nothing is indexed unchecked and every spelling but the canonical one is refused.

use std::borrow::Cow;

use crate::identify::form::Form;
use crate::request::Headers;
use crate::time::{MILLISECOND, Micros, SECOND};

use super::content::Parts;
use super::refusal::Refusal;
use super::scheme::{Carrier, Place, Scheme, Selector, Timestamp, Unit};

/// More digits than any honest timestamp has, few enough that no arithmetic overflows.
const MAX_DIGITS: usize = 18;
/// RFC 3339 with nanoseconds and a zone has 35.
const MAX_INSTANT: usize = 64;

/// What the request says about itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim<'a> {
    signatures: &'a str,
    list: Option<&'a str>,
    /// As it was written: these bytes are signed, not the number.
    pub(super) timestamp: &'a str,
    pub(super) made: Option<Micros>,
    /// The id of the key, where the sender names it.
    pub(super) key: Option<&'a str>,
}

impl<'a> Claim<'a> {
    /// `signatures` is what the carrier holds.
    pub(super) fn read(scheme: &'a Scheme, signatures: &'a str, headers: &'a Headers) -> Result<Claim<'a>, Refusal> {
        let mut claim = Claim { signatures, list: scheme.list.as_deref(), timestamp: "", made: None, key: None };
        if let Some(stamp) = &scheme.timestamp {
            claim.timestamp = claim.find_timestamp(stamp, headers)?;
            claim.made = Some(instant(claim.timestamp, stamp.unit).ok_or(Refusal::MalformedTimestamp)?);
        }
        if let Some(selector) = &scheme.selector {
            claim.key = selected(selector, headers)?;
        }
        Ok(claim)
    }

    /// The entries of the signature header, malformed ones included: whoever looks for one skips them.
    pub(super) fn entries(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let (whole, split) = match self.list {
            None => (Some(self.signatures), None),
            Some(separator) => (None, Some(self.signatures.split(separator))),
        };
        whole.into_iter().chain(split.into_iter().flatten())
    }

    fn find_timestamp(&self, stamp: &Timestamp, headers: &'a Headers) -> Result<&'a str, Refusal> {
        match &stamp.place {
            Place::Header(name) => header(headers, name),
            Place::Entry(prefix) => {
                let mut found = self.entries().filter_map(|entry| entry.strip_prefix(&**prefix));
                // Two of them are refused: which one was signed, and which one is fresh, could differ.
                match (found.next(), found.next()) {
                    (Some(only), None) => Ok(only),
                    _ => Err(Refusal::MalformedHeader),
                }
            }
        }
    }
}

impl Carrier {
    /// The text with the signatures.
    pub(super) fn read<'a>(&self, parts: &Parts<'a>) -> Result<Cow<'a, str>, Refusal> {
        match self {
            Carrier::Header(name) => header(parts.headers, name).map(Cow::Borrowed),
            Carrier::Query(name) => parameter(parts.target, name).map(Cow::Owned),
        }
    }
}

/// A parameter that must be there, once, as text.
fn parameter(target: &str, name: &str) -> Result<String, Refusal> {
    let query = target.split_once('?').map_or("", |(_, query)| query);
    let form = Form::parse(query.as_bytes());
    let mut values = form.pairs().filter(|(own, _)| **own == *name.as_bytes());
    let (_, value) = values.next().ok_or(Refusal::MissingField)?;
    if values.next().is_some() {
        return Err(Refusal::MalformedHeader);
    }
    let text = String::from_utf8(value.into_owned()).map_err(|_| Refusal::MalformedSignature)?;
    if text.trim().is_empty() { Err(Refusal::MissingField) } else { Ok(text) }
}

/// `None`: the header is not there.
fn selected<'a>(selector: &Selector, headers: &'a Headers) -> Result<Option<&'a str>, Refusal> {
    let settings = match header(headers, &selector.header) {
        Ok(settings) => settings,
        Err(Refusal::MissingHeader) => return Ok(None),
        Err(refusal) => return Err(refusal),
    };
    let entries = || settings.split(&*selector.list);
    let mut ids = entries().filter_map(|entry| entry.strip_prefix(&*selector.key));
    match (ids.next(), ids.next()) {
        (Some(_), None) if !entries().any(|entry| entry == selector.agreed) => Err(Refusal::UnsupportedAlgorithm),
        (Some(id), None) => Ok(Some(id)),
        _ => Err(Refusal::MalformedHeader),
    }
}

/// A header that must be there, once, as text.
fn header<'a>(headers: &'a Headers, name: &str) -> Result<&'a str, Refusal> {
    let value = headers.single(name).map_err(|_| Refusal::MalformedHeader)?.ok_or(Refusal::MissingHeader)?;
    let text = std::str::from_utf8(value).map_err(|_| Refusal::MalformedHeader)?;
    if text.trim().is_empty() { Err(Refusal::MissingHeader) } else { Ok(text) }
}

fn instant(text: &str, unit: Unit) -> Option<Micros> {
    match unit {
        Unit::Seconds => number(text)?.checked_mul(SECOND),
        Unit::Milliseconds => number(text)?.checked_mul(MILLISECOND),
        Unit::Microseconds => number(text),
        Unit::Rfc3339 if text.len() <= MAX_INSTANT => text.parse::<jiff::Timestamp>().ok().map(|t| t.as_microsecond()),
        Unit::Rfc3339 => None,
    }
}

/// Digits without sign, blanks or leading zeros: a library that signs the number and one that signs the text would
/// disagree about any other spelling.
fn number(text: &str) -> Option<i64> {
    let canonical = text == "0" || !text.starts_with('0');
    let digits = !text.is_empty() && text.len() <= MAX_DIGITS && text.bytes().all(|b| b.is_ascii_digit());
    if canonical && digits { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_one_spelling() {
        assert_eq!(instant("1767225600", Unit::Seconds), Some(1_767_225_600 * SECOND));
        assert_eq!(instant("0", Unit::Seconds), Some(0));
        for bad in
            ["", "+1", "-1", " 1", "1 ", "01", "00", "1.0", "1e9", "١", "99999999999999999999", "999999999999999999"]
        {
            assert_eq!(instant(bad, Unit::Seconds), None, "{bad:?}");
        }
    }

    #[test]
    fn the_unit_says_what_the_text_is() {
        let instant_of_both = Some(1_767_225_600_123 * MILLISECOND);
        assert_eq!(instant("1767225600123", Unit::Milliseconds), instant_of_both);
        assert_eq!(instant("1767225600123000", Unit::Microseconds), instant_of_both);
        assert_eq!(instant("2026-01-01T00:00:00.123Z", Unit::Rfc3339), instant_of_both);
        assert_eq!(instant("2026-01-01T01:00:00.123+01:00", Unit::Rfc3339), instant_of_both);
        assert_eq!(instant("2026-01-01", Unit::Rfc3339), None);
    }
}
