//! The signed bytes: the template of a scheme, compiled once, filled from a request without copying it.

use crate::request::{Headers, Request};

use super::refusal::Refusal;
use super::scheme::{MAX_PARTS, SchemeError, Signed};
use super::special::Prepared;

/// What of a request can be signed. Borrowed, so that a sender needs no [`Request`] to sign one.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    pub method: &'a str,
    /// Path and query.
    pub target: &'a str,
    /// As the provider has it.
    pub url: &'a str,
    pub headers: &'a Headers,
    pub body: &'a [u8],
}

impl<'a> Parts<'a> {
    pub fn of(request: &'a Request) -> Parts<'a> {
        Parts {
            method: request.method.as_str(),
            target: &request.target,
            url: &request.url,
            headers: &request.headers,
            body: &request.body,
        }
    }
}

/// One piece of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    Literal(String),
    Timestamp,
    Body,
    /// `before` is the literal that follows: a value that contains it could be cut at another place, and its tail would
    /// become part of what comes next (S6), so it is refused.
    Header {
        name: String,
        before: Option<String>,
    },
    Url,
    Method,
    Path,
    Query,
}

impl Part {
    pub(super) fn parse(template: &str) -> Result<Vec<Part>, SchemeError> {
        let mut parts = Vec::new();
        let mut rest = template;
        while let Some((literal, tail)) = rest.split_once('{') {
            let (name, after) = tail.split_once('}').ok_or(SchemeError::Unclosed)?;
            push_literal(&mut parts, literal);
            parts.push(Part::placeholder(name)?);
            rest = after;
        }
        push_literal(&mut parts, rest);
        if parts.len() > MAX_PARTS {
            return Err(SchemeError::TooLong);
        }
        Ok(parts)
    }

    fn placeholder(name: &str) -> Result<Part, SchemeError> {
        Ok(match name {
            "timestamp" => Part::Timestamp,
            "body" => Part::Body,
            "url" => Part::Url,
            "method" => Part::Method,
            "path" => Part::Path,
            "query" => Part::Query,
            _ => match name.strip_prefix("header:") {
                Some(name) => Part::Header { name: name.to_owned(), before: None },
                None => return Err(SchemeError::Placeholder(name.to_owned())),
            },
        })
    }

    fn value<'a>(&'a self, parts: &Parts<'a>, timestamp: &'a str) -> Result<&'a [u8], Refusal> {
        let (path, query) = parts.target.split_once('?').unwrap_or((parts.target, ""));
        Ok(match self {
            Part::Literal(text) => text.as_bytes(),
            Part::Timestamp => timestamp.as_bytes(),
            Part::Body => parts.body,
            Part::Header { name, before } => header(parts.headers, name, before.as_deref())?,
            Part::Url => parts.url.as_bytes(),
            Part::Method => parts.method.as_bytes(),
            Part::Path => path.as_bytes(),
            Part::Query => query.as_bytes(),
        })
    }
}

fn push_literal(parts: &mut Vec<Part>, text: &str) {
    if text.is_empty() {
        return;
    }
    if let Some(Part::Header { before, .. }) = parts.last_mut() {
        *before = Some(text.to_owned());
    }
    parts.push(Part::Literal(text.to_owned()));
}

fn header<'a>(headers: &'a Headers, name: &'a str, before: Option<&str>) -> Result<&'a [u8], Refusal> {
    let value = headers.single(name).map_err(|_| Refusal::MalformedHeader)?.unwrap_or_default();
    if value.trim_ascii().is_empty() {
        return Err(Refusal::MissingHeader);
    }
    if before.is_some_and(|text| value.windows(text.len()).any(|w| w == text.as_bytes())) {
        return Err(Refusal::MalformedHeader);
    }
    Ok(value)
}

/// What may have been signed.
#[derive(Debug)]
pub(super) enum Contents<'a> {
    Template(Content<'a>),
    Special(Prepared),
}

impl<'a> Contents<'a> {
    pub(super) fn of(
        signed: &Signed,
        template: &'a [Part],
        parts: &Parts<'a>,
        timestamp: &'a str,
    ) -> Result<Contents<'a>, Refusal> {
        match signed {
            Signed::Template(_) => Content::fill(template, parts, timestamp).map(Contents::Template),
            Signed::Special(prepare) => prepare(parts).map(Contents::Special),
        }
    }

    /// One, or several that are as good.
    pub(super) fn iter(&self) -> impl Iterator<Item = Content<'_>> {
        let (one, several) = match self {
            Contents::Template(content) => (Some(*content), [].as_slice()),
            Contents::Special(prepared) => (None, prepared.alternatives.as_slice()),
        };
        one.into_iter().chain(several.iter().map(|whole| Content::whole(whole)))
    }

    /// What must hold beside the signature, asked for once that is right.
    pub(super) fn body(&self) -> Result<(), Refusal> {
        match self {
            Contents::Template(_) => Ok(()),
            Contents::Special(prepared) => prepared.body,
        }
    }
}

/// The pieces in order. On the stack: this is built for every request that arrives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Content<'a> {
    pieces: [&'a [u8]; MAX_PARTS],
}

impl<'a> Content<'a> {
    fn whole(bytes: &'a [u8]) -> Content<'a> {
        let mut pieces: [&[u8]; MAX_PARTS] = [&[]; MAX_PARTS];
        pieces[0] = bytes;
        Content { pieces }
    }

    fn fill(template: &'a [Part], parts: &Parts<'a>, timestamp: &'a str) -> Result<Content<'a>, Refusal> {
        let mut pieces: [&[u8]; MAX_PARTS] = [&[]; MAX_PARTS];
        for (piece, part) in pieces.iter_mut().zip(template) {
            *piece = part.value(parts, timestamp)?;
        }
        Ok(Content { pieces })
    }

    pub(super) fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        self.pieces.iter().copied()
    }

    pub(super) fn joined(&self) -> Vec<u8> {
        self.pieces.concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_cut_at_its_placeholders() {
        let parts = Part::parse("v0:{timestamp}:{body}").expect("a template");
        let literal = |t: &str| Part::Literal(t.to_owned());
        assert_eq!(parts, [literal("v0:"), Part::Timestamp, literal(":"), Part::Body]);
        let header = Part::Header { name: "webhook-id".to_owned(), before: Some(".".to_owned()) };
        assert_eq!(Part::parse("{header:webhook-id}.{body}"), Ok(vec![header, literal("."), Part::Body]));
    }

    #[test]
    fn broken_templates_are_named() {
        assert_eq!(Part::parse("{nonce}{body}"), Err(SchemeError::Placeholder("nonce".to_owned())));
        assert_eq!(Part::parse("{body"), Err(SchemeError::Unclosed));
        assert_eq!(Part::parse(&"{body}".repeat(MAX_PARTS + 1)), Err(SchemeError::TooLong));
        assert!(Part::parse(&"{body}".repeat(MAX_PARTS)).is_ok());
    }
}
