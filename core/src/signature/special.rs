//! What the data of a scheme cannot say: one function each, from the parts of a request to the bytes that are signed.

use std::collections::BTreeSet;

use sha2::{Digest as _, Sha256};

use super::content::Parts;
use super::refusal::Refusal;
use super::scheme::Encoding;

/// Most form fields that are sorted. Far above what any provider sends in one request.
const MAX_FIELDS: usize = 4_096;

/// The signed bytes of one request.
#[derive(Debug)]
pub struct Prepared {
    /// Any of them may be the signed one; senders disagree with themselves. The first is what we sign ourselves.
    pub(super) alternatives: Vec<Vec<u8>>,
    /// What holds if the signature does: a scheme may sign a hash of the body, or nothing of it.
    pub(super) body: Result<(), Refusal>,
}

/// Twilio: the URL, then of a form post every field sorted by name as name and value, decoded, without separators. The
/// body of any other post is signed by its hash in the URL. Its signer is at odds with itself about the port, so the URL
/// counts with and without it.
pub(super) fn twilio(parts: &Parts<'_>) -> Result<Prepared, Refusal> {
    let claimed = query_value(parts.url, "bodySHA256");
    let by_fields = claimed.is_none() && !parts.body.is_empty() && is_form(parts);
    let fields = if by_fields { sorted_fields(parts.body)? } else { Vec::new() };
    let body = match claimed {
        Some(hash) if hash.as_bytes() == Encoding::Hex.write(&Sha256::digest(parts.body)).as_bytes() => Ok(()),
        Some(_) => Err(Refusal::BodyHashMismatch),
        None if by_fields || parts.body.is_empty() => Ok(()),
        // The official SDK accepts it, but then the body is anybody's.
        None => Err(Refusal::MissingField),
    };
    let urls = ports(parts.url).into_iter();
    Ok(Prepared { alternatives: urls.map(|url| [url.as_bytes(), &fields].concat()).collect(), body })
}

fn is_form(parts: &Parts<'_>) -> bool {
    let kind = parts.headers.get("content-type").unwrap_or_default();
    let kind = kind.split(|b| *b == b';').next().unwrap_or_default().trim_ascii();
    kind.eq_ignore_ascii_case(b"application/x-www-form-urlencoded")
}

/// Name and value of every field, sorted, equal pairs once.
fn sorted_fields(body: &[u8]) -> Result<Vec<u8>, Refusal> {
    let pieces = body.split(|b| *b == b'&').filter(|piece| !piece.is_empty());
    let mut fields = BTreeSet::new();
    for (at, piece) in pieces.enumerate() {
        if at >= MAX_FIELDS {
            return Err(Refusal::MalformedBody);
        }
        let cut = piece.iter().position(|b| *b == b'=').unwrap_or(piece.len());
        let (name, value) = piece.split_at(cut);
        fields.insert((decoded(name), decoded(value.get(1..).unwrap_or_default())));
    }
    Ok(fields.into_iter().flat_map(|(name, value)| [name, value]).collect::<Vec<_>>().concat())
}

/// `+` and `%XX`; what is no escape stays as it is.
fn decoded(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, tail)) = rest.split_first() {
        let escaped = if *first == b'%' { tail.get(..2).and_then(escape) } else { None };
        bytes.push(escaped.unwrap_or(if *first == b'+' { b' ' } else { *first }));
        rest = if escaped.is_some() { tail.get(2..).unwrap_or_default() } else { tail };
    }
    bytes
}

fn escape(digits: &[u8]) -> Option<u8> {
    Encoding::Hex.read(&digits.to_ascii_lowercase())?.first().copied()
}

/// The first value of a query parameter, as it stands.
fn query_value<'a>(url: &'a str, name: &str) -> Option<&'a str> {
    let (_, query) = url.split_once('?')?;
    query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
}

/// The URL as it is, and the same without its port or with the usual one of its scheme.
fn ports(url: &str) -> [String; 2] {
    let other = || {
        let (scheme, rest) = url.split_once("://")?;
        let (authority, tail) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let host_at = authority.rfind('@').map_or(0, |at| at + 1);
        let (user, host) = authority.split_at_checked(host_at)?;
        let port_at = host.rfind(':').filter(|at| host.get(at + 1..).is_some_and(is_port));
        let host = match port_at {
            Some(at) => host.get(..at)?.to_owned(),
            None if scheme.eq_ignore_ascii_case("http") => format!("{host}:80"),
            None => format!("{host}:443"),
        };
        Some(format!("{scheme}://{user}{host}{tail}"))
    };
    [url.to_owned(), other().unwrap_or_else(|| url.to_owned())]
}

fn is_port(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_counts_with_and_without_its_port() {
        for (url, other) in [
            ("https://a.example/x?y=1", "https://a.example:443/x?y=1"),
            ("http://a.example", "http://a.example:80"),
            ("https://u:p@a.example:8443/x", "https://u:p@a.example/x"),
            ("https://u:1@a.example/x", "https://u:1@a.example:443/x"),
            ("https://[::1]:81/x", "https://[::1]/x"),
            ("https://[::1]/x", "https://[::1]:443/x"),
            ("no url", "no url"),
        ] {
            assert_eq!(ports(url), [url.to_owned(), other.to_owned()]);
        }
    }

    #[test]
    fn fields_are_decoded_sorted_and_single() {
        let fields = |body: &str| sorted_fields(body.as_bytes()).map(|f| String::from_utf8(f).expect("text"));
        assert_eq!(fields("b=2&a=1&b=1&a=1&c"), Ok("a1b1b2c".to_owned()));
        assert_eq!(fields("a=x+y%2B%zz%4"), Ok("ax y+%zz%4".to_owned()));
        assert_eq!(fields(&"a&".repeat(MAX_FIELDS + 1)), Err(Refusal::MalformedBody));
    }
}
