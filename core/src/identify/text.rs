//! From the bytes of a value to its text: JSON escapes decoded once, and only for what is read; a form for people.
//!
//! Text here is bytes. A key is compared as bytes, so nothing may be replaced on the way: a lone surrogate keeps its
//! own three bytes (WTF-8) instead of melting into U+FFFD with all others, and NUL stays NUL.

use std::borrow::Cow;

use super::json::{Kind, Value};

/// A longer value is none: it would be copied into every item that reads it.
pub const MAX_TEXT: usize = 64 * 1024;

/// The value as one text: strings decoded, numbers and booleans as they are written. Containers and `null` are none.
pub fn of<'a>(value: &Value, document: &'a [u8]) -> Option<Cow<'a, [u8]>> {
    let raw = value.span.of(document);
    match value.kind {
        Kind::String { escaped } => {
            let inside = raw.get(1..raw.len().saturating_sub(1))?;
            Some(if escaped { Cow::Owned(unescape(inside)) } else { Cow::Borrowed(inside) })
        }
        Kind::Number | Kind::Boolean => Some(Cow::Borrowed(raw)),
        Kind::Null | Kind::Array | Kind::Object => None,
    }
}

/// Absent by the rule of identity: nothing, blanks only (a blank id is no id), or beyond the limit.
pub fn absent(text: &[u8]) -> bool {
    text.len() > MAX_TEXT || text.trim_ascii().is_empty()
}

/// Decodes the inside of a JSON string whose escapes the scanner has checked.
pub fn unescape(raw: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.iter().position(|b| *b == b'\\') {
        text.extend_from_slice(rest.get(..at).unwrap_or_default());
        let escape = rest.get(at..).unwrap_or_default();
        let used = match escape.get(1) {
            Some(b'u') => unicode(escape, &mut text),
            Some(letter) => {
                text.push(plain_escape(*letter));
                2
            }
            None => escape.len(),
        };
        rest = escape.get(used..).unwrap_or_default();
    }
    text.extend_from_slice(rest);
    text
}

fn plain_escape(letter: u8) -> u8 {
    match letter {
        b'b' => 0x08,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        other => other,
    }
}

/// One `\uXXXX`, or two that make one character; returns how many bytes they took.
fn unicode(escape: &[u8], text: &mut Vec<u8>) -> usize {
    let Some(first) = unit(escape, 0) else { return escape.len() };
    if let (0xd800..=0xdbff, Some(second @ 0xdc00..=0xdfff)) = (first, unit(escape, 6)) {
        push_code_point(text, 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00));
        return 12;
    }
    push_code_point(text, first);
    6
}

fn unit(escape: &[u8], at: usize) -> Option<u32> {
    let digits = escape.get(at..at + 6)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |value, digit| Some(value * 16 + char::from(*digit).to_digit(16)?))
}

/// UTF-8, and for a lone surrogate the three bytes that UTF-8 would have if it allowed them.
fn push_code_point(text: &mut Vec<u8>, code: u32) {
    if let Some(character) = char::from_u32(code) {
        text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        return;
    }
    let low = |shift: u32| 0x80 | (code >> shift & 0x3f) as u8;
    text.extend_from_slice(&[0xe0 | (code >> 12 & 0x0f) as u8, low(6), low(0)]);
}

/// For people and for text columns: control characters and broken bytes are spelled out, since PostgreSQL refuses a
/// NUL in `text` and a terminal obeys an escape sequence.
pub fn shown(text: &[u8]) -> String {
    let mut shown = String::with_capacity(text.len());
    push_shown(&mut shown, text, |_| false);
    shown
}

/// The same, with a backslash before itself and before every character that `special` names: what is joined can be
/// taken apart again.
pub fn push_shown(shown: &mut String, text: &[u8], special: impl Fn(char) -> bool) {
    use std::fmt::Write as _;
    for chunk in text.utf8_chunks() {
        for character in chunk.valid().chars() {
            if character.is_control() {
                // Writing to a string cannot fail.
                let _ = write!(shown, "\\u{:04x}", u32::from(character));
                continue;
            }
            if special(character) {
                shown.push('\\');
            }
            shown.push(character);
        }
        for byte in chunk.invalid() {
            let _ = write!(shown, "\\x{byte:02x}");
        }
    }
}
