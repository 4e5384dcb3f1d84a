//! `application/x-www-form-urlencoded`, in a body or a query: pairs with spans, decoded only when read.
//!
//! The last field of a name counts, as the provider notes say; the raw bytes keep all of them.

use std::borrow::Cow;

use super::json::Span;

/// Fields that are looked at; a form with more has no values.
pub const MAX_FIELDS: usize = 10_000;

#[derive(Clone, Copy, Debug)]
pub struct Field {
    name: Span,
    pub value: Span,
}

/// The fields of a form and the bytes that they stand in.
#[derive(Clone, Debug)]
pub struct Form<'a> {
    bytes: &'a [u8],
    fields: Vec<Field>,
}

impl<'a> Form<'a> {
    pub fn parse(bytes: &'a [u8]) -> Self {
        let mut fields = Vec::new();
        let mut start = 0;
        for pair in bytes.split(|b| *b == b'&') {
            let end = start + pair.len();
            let name = pair.iter().position(|b| *b == b'=').unwrap_or(pair.len());
            if !pair.is_empty() {
                let value = Span { start: (start + name + 1).min(end), end };
                fields.push(Field { name: Span { start, end: start + name }, value });
            }
            if fields.len() > MAX_FIELDS {
                return Form { bytes, fields: Vec::new() };
            }
            start = end + 1;
        }
        Form { bytes, fields }
    }

    /// Every field of that name, in order.
    pub fn all<'f>(&'f self, name: &'f str) -> impl DoubleEndedIterator<Item = &'f Field> {
        self.fields.iter().filter(move |field| *decode(field.name.of(self.bytes)) == *name.as_bytes())
    }

    pub fn text(&self, field: &Field) -> Cow<'a, [u8]> {
        decode(field.value.of(self.bytes))
    }

    /// Name and value of every field, in order.
    pub fn pairs(&self) -> impl Iterator<Item = (Cow<'a, [u8]>, Cow<'a, [u8]>)> {
        self.fields.iter().map(|field| (decode(field.name.of(self.bytes)), self.text(field)))
    }

    pub fn last(&self, name: &str) -> Option<Cow<'a, [u8]>> {
        self.all(name).next_back().map(|field| self.text(field))
    }
}

/// `+` is a space and `%XX` a byte; a percent sign without two digits stands for itself.
fn decode(raw: &[u8]) -> Cow<'_, [u8]> {
    if !raw.iter().any(|b| matches!(b, b'+' | b'%')) {
        return Cow::Borrowed(raw);
    }
    let mut text = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((first, more)) = rest.split_first() {
        let byte = if *first == b'%' { more.first_chunk().and_then(hex_byte) } else { None };
        rest = if byte.is_some() { more.get(2..).unwrap_or_default() } else { more };
        text.push(byte.unwrap_or(if *first == b'+' { b' ' } else { *first }));
    }
    Cow::Owned(text)
}

fn hex_byte(digits: &[u8; 2]) -> Option<u8> {
    let digit = |b: u8| char::from(b).to_digit(16);
    u8::try_from(digit(digits[0])? * 16 + digit(digits[1])?).ok()
}
