//! What the data of a scheme cannot say: one function each, from the parts of a request to the bytes that are signed.

use std::collections::BTreeSet;

use crate::frame;
use crate::identify::form::Form;

use super::content::Parts;
use super::refusal::Refusal;

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
    let fields = if by_fields { sorted_fields(parts.body) } else { Vec::new() };
    let body = match claimed {
        Some(hash) if hash == frame::hex(&frame::sha256(parts.body)) => Ok(()),
        Some(_) => Err(Refusal::BodyHashMismatch),
        // A form that nobody can read adds nothing, and then the signature of the bare URL would cover it.
        None if by_fields && fields.is_empty() => Err(Refusal::MalformedBody),
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
fn sorted_fields(body: &[u8]) -> Vec<u8> {
    let fields: BTreeSet<_> = Form::parse(body).pairs().collect();
    fields.into_iter().flat_map(|(name, value)| [name, value]).collect::<Vec<_>>().concat()
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
        assert_eq!(sorted_fields(b"b=2&a=1&b=1&a=1&c"), b"a1b1b2c");
        assert_eq!(sorted_fields(b"a=x+y%2B%zz%4&&"), b"ax y+%zz%4");
    }

    #[test]
    fn a_body_that_adds_nothing_is_not_covered_by_the_url() {
        let kind = (http::header::CONTENT_TYPE, http::HeaderValue::from_static("application/x-www-form-urlencoded"));
        let headers = crate::request::Headers(vec![kind]);
        let url = "https://a.example/x";
        let refusal = |body: &[u8]| {
            let parts = Parts { method: "POST", target: "/x", url, headers: &headers, body };
            twilio(&parts).and_then(|prepared| prepared.body)
        };
        assert_eq!(refusal(b"&&"), Err(Refusal::MalformedBody));
        assert_eq!(refusal("a=1&".repeat(20_000).as_bytes()), Err(Refusal::MalformedBody));
        assert_eq!(refusal(b"a=1"), Ok(()));
        assert_eq!(refusal(b""), Ok(()));
    }
}
