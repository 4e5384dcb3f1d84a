//! Headers as they are stored: the lines they came in, `name: value\r\n`. Neither part can hold CR or LF, so the text
//! reads back to exactly what it was, order and repeats included, and a person can read it.

use hookonce_core::request::Headers;
use http::{HeaderName, HeaderValue};

pub fn encode(headers: &Headers) -> Vec<u8> {
    let length = headers.0.iter().map(|(n, v)| n.as_str().len() + v.len() + 4).sum();
    let mut out = Vec::with_capacity(length);
    for (name, value) in &headers.0 {
        out.extend_from_slice(name.as_str().as_bytes());
        out.extend_from_slice(b": ");
        out.extend_from_slice(value.as_bytes());
        out.extend_from_slice(b"\r\n");
    }
    out
}

/// `None`: these bytes were not written by [`encode`].
pub fn decode(bytes: &[u8]) -> Option<Headers> {
    let mut rest = bytes;
    let mut headers = Headers::default();
    while !rest.is_empty() {
        let end = find(rest, b"\r\n")?;
        let (line, tail) = (rest.get(..end)?, rest.get(end + 2..)?);
        let colon = find(line, b": ")?;
        let name = HeaderName::from_bytes(line.get(..colon)?).ok()?;
        let value = HeaderValue::from_bytes(line.get(colon + 2..)?).ok()?;
        headers.0.push((name, value));
        rest = tail;
    }
    Some(headers)
}

fn find(bytes: &[u8], what: &[u8; 2]) -> Option<usize> {
    bytes.windows(2).position(|w| w == what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_come_back_as_they_went() {
        let list = [("b", " : x: "), ("a", "1"), ("b", "\u{e9}\t\x7e"), ("empty", "")];
        let headers = list.map(|(n, v)| {
            (HeaderName::from_bytes(n.as_bytes()).unwrap(), HeaderValue::from_bytes(v.as_bytes()).unwrap())
        });
        let headers = Headers(headers.to_vec());
        assert_eq!(decode(&encode(&headers)), Some(headers));
        assert_eq!(decode(b""), Some(Headers::default()));
    }

    #[test]
    fn foreign_bytes_are_no_headers() {
        for bytes in [&b"a: b"[..], b"a:b\r\n", b"\r\n", b": \r\n", b"a: b\rc\r\n", b"a b: c\r\n"] {
            assert_eq!(decode(bytes), None, "{bytes:?}");
        }
    }
}
