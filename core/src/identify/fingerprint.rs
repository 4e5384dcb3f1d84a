//! Hashes of one item: body hash, content hash, fingerprint.
//!
//! They build on each other so that a request is hashed once. The *body hash* is SHA-256 over the item's bytes. The
//! *content hash* is the same value unless there are volatile spans; then it is a second pass with each of them replaced
//! by one zero byte. The *fingerprint* is the content hash itself, unless values outside the signature were read: then
//! content hash and those values are framed and hashed once more, two blocks whatever the size of the body.

use sha2::{Digest as _, Sha256};

use super::canonical;
use super::json::Span;
use super::plan::Found;
use super::reader::Shared;
use super::rule::{Rule, Source};
use super::spec::Fingerprint;
use crate::event::Hash;
use crate::frame::{self, Framed};
use crate::request::Request;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hashes {
    pub body: Hash,
    /// Without the volatile values: what a body key and the id guard are made of.
    pub content: Hash,
    pub fingerprint: Hash,
}

/// Of the item at `span`; `found` is what the walk over it has met.
pub fn hashes(rule: &Rule, shared: &Shared<'_>, span: Span, found: Option<&Found>) -> Hashes {
    let request = shared.request;
    let bytes = span.of(&request.decoded);
    if bytes.is_empty() {
        let body = target(request);
        return Hashes { body, content: body, fingerprint: with_unsigned(rule, shared, body) };
    }
    let body = frame::sha256(bytes);
    let volatile = volatile(rule, shared, found);
    let content = if volatile.is_empty() { body } else { without(&request.decoded, span, &volatile) };
    let print = match rule.fingerprint {
        Fingerprint::Bytes => content,
        Fingerprint::Canonical => canonical::hash(bytes, span.start, &volatile).unwrap_or(content),
    };
    Hashes { body, content, fingerprint: with_unsigned(rule, shared, print) }
}

/// Without a body the request is all in its line.
fn target(request: &Request) -> Hash {
    Framed::new().part(request.method.as_str().as_bytes()).part(request.target.as_bytes()).hash()
}

/// The volatile spans in order, those inside others left out.
fn volatile(rule: &Rule, shared: &Shared<'_>, found: Option<&Found>) -> Vec<Span> {
    let mut spans: Vec<Span> = found.map(|f| f.volatile.clone()).unwrap_or_default();
    for name in &rule.volatile_fields {
        spans.extend(shared.form().all(name).map(|field| field.value));
    }
    spans.sort_by_key(|span| (span.start, usize::MAX - span.end));
    let mut end = 0;
    spans.retain(|span| {
        let apart = span.start >= end;
        end = end.max(span.end);
        apart
    });
    spans
}

fn without(bytes: &[u8], span: Span, volatile: &[Span]) -> Hash {
    let mut hash = Sha256::new();
    let mut at = span.start;
    for hole in volatile {
        hash.update(Span { start: at, end: hole.start }.of(bytes));
        hash.update([0]);
        at = hole.end;
    }
    hash.update(Span { start: at, end: span.end }.of(bytes));
    hash.finalize().into()
}

/// Every value of every unsigned place that key, type or aggregate may be read from: whoever changes one makes a
/// conflict, not a silent duplicate.
fn with_unsigned(rule: &Rule, shared: &Shared<'_>, print: Hash) -> Hash {
    if rule.unsigned.is_empty() {
        return print;
    }
    let mut framed = Framed::new().part(&print);
    for source in &rule.unsigned {
        match source {
            Source::Header(name) => {
                for value in shared.request.headers.all(name) {
                    framed = framed.part(name.as_bytes()).part(value);
                }
            }
            Source::Query(name) => {
                for value in shared.query_values(name) {
                    framed = framed.part(name.as_bytes()).part(&value);
                }
            }
            // Everything else is in the body, and so in the content hash.
            _ => {}
        }
    }
    framed.hash()
}
