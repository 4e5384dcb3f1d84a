//! What the tests share: requests and rules written short.

mod expr;
mod field_cases;
mod items;
mod json;
mod path;
mod profiles;
mod properties;
mod rule;

use bytes::Bytes;
use http::{HeaderName, HeaderValue};

use super::{Coverage, Rule, RuleSpec, VersionKind, VersionSpec};
use crate::event::{Item, Mapped};
use crate::request::{Headers, Request};

/// 2026-01-01T00:00:00Z.
const T0: i64 = 1_767_225_600_000_000;

fn list(texts: &[&str]) -> Option<Vec<String>> {
    Some(texts.iter().map(|t| (*t).to_owned()).collect())
}

fn request(body: impl AsRef<[u8]>) -> Request {
    let body = Bytes::copy_from_slice(body.as_ref());
    Request {
        received: T0,
        method: http::Method::POST,
        target: "/in/x".into(),
        url: "https://hooks.example/in/x".into(),
        headers: Headers::default(),
        decoded: body.clone(),
        body,
    }
}

fn with_headers(mut request: Request, headers: &[(&str, &str)]) -> Request {
    for (name, value) in headers {
        let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
        request.headers.0.push((name, HeaderValue::from_bytes(value.as_bytes()).unwrap()));
    }
    request
}

fn compile(spec: &RuleSpec) -> Rule {
    Rule::compile("src", "ns", spec).unwrap().numbered(1)
}

fn keyed(key: &str) -> RuleSpec {
    RuleSpec { key: list(&[key]), ..RuleSpec::default() }
}

/// Source profile `gh` of the field cases: id and type in headers that nobody signs.
fn gh() -> RuleSpec {
    RuleSpec { key: list(&["header:X-GitHub-Delivery"]), kind: list(&["header:X-GitHub-Event"]), ..RuleSpec::default() }
}

/// Source profile `st` of the field cases.
fn st() -> RuleSpec {
    RuleSpec {
        key: list(&["$.id"]),
        kind: list(&["$.type"]),
        aggregate: list(&["$.data.object.id"]),
        time: list(&["$.created"]),
        version: Some(VersionSpec { kind: VersionKind::Number, from: vec!["$.created".into()] }),
        ..RuleSpec::default()
    }
}

fn sw() -> RuleSpec {
    let coverage = Coverage { headers: vec!["webhook-id".into(), "webhook-timestamp".into()], ..Coverage::default() };
    RuleSpec { key: list(&["header:webhook-id"]), coverage, ..RuleSpec::default() }
}

/// The one item of a request.
fn item(rule: &Rule, request: &Request) -> Item {
    match super::items(rule, request).unwrap().as_slice() {
        [Mapped::Item(item)] => (**item).clone(),
        other => panic!("one item expected: {other:?}"),
    }
}

fn unmapped(rule: &Rule, request: &Request) -> String {
    match super::items(rule, request).unwrap().as_slice() {
        [Mapped::Unmapped { reason, .. }] => reason.clone(),
        other => panic!("unmapped expected: {other:?}"),
    }
}
