//! What a rule may say, what it fills in, and when two rules are one.

use super::*;
use crate::provider::{Fallback, IdGuard};

fn errors(spec: &RuleSpec) -> Vec<(&'static str, usize, usize, String)> {
    let errors = Rule::compile("s", "n", spec).unwrap_err();
    errors.into_iter().map(|e| (e.field, e.entry, e.offset, e.message)).collect()
}

#[test]
fn all_errors_come_at_once_with_their_places() {
    let spec = RuleSpec {
        key: list(&["$.id", "{a}:{b"]),
        kind: list(&["type"]),
        aggregate: list(&["$.a", "$.b[*]"]),
        time: list(&["$.t-1"]),
        version: Some(VersionSpec { kind: VersionKind::Any, from: vec!["$".into(), "xml:v".into()] }),
        require: list(&["header:"]),
        items: list(&["$.a", "$.a[*]", "$^.b", "form:m $"]),
        volatile: list(&["$", "$$.a", "header:x", "form:f $.a"]),
        schema_strict: true,
        ..RuleSpec::default()
    };
    let found = errors(&spec);
    let places: Vec<_> = found.iter().map(|(field, entry, offset, _)| (*field, *entry, *offset)).collect();
    let expected = [
        ("items", 1, 0),
        ("items", 2, 0),
        ("items", 3, 0),
        ("volatile", 0, 0),
        ("volatile", 1, 0),
        ("volatile", 2, 0),
        ("volatile", 3, 0),
        ("key", 1, 4),
        ("type", 0, 0),
        ("aggregate", 1, 0),
        ("time", 0, 3),
        ("version", 1, 0),
        ("schema_versions", 0, 0),
        ("require", 0, 7),
    ];
    for place in expected {
        assert!(places.contains(&place), "{place:?} in {found:?}");
    }
    assert_eq!(places.len(), expected.len(), "{found:?}");
}

#[test]
fn a_key_there_must_be_and_it_must_tell_events_apart() {
    assert_eq!(errors(&RuleSpec::default()).len(), 1);
    assert_eq!(errors(&RuleSpec { key: Some(Vec::new()), ..RuleSpec::default() }).len(), 1);
    assert_eq!(errors(&keyed("text:x"))[0].3, "a constant cannot tell events apart");
    let many = RuleSpec { key: Some(vec!["$.id".into(); 65]), ..RuleSpec::default() };
    assert_eq!(errors(&many)[0].3, "at most 64 entries");
}

#[test]
fn fallback_and_guard_follow_where_the_id_stands() {
    let of = |key: &str, coverage: Coverage| {
        let rule = compile(&RuleSpec { coverage, ..keyed(key) });
        (rule.fallback, rule.id_guard)
    };
    let signed = Coverage { headers: vec!["Webhook-Id".into()], target: true, ..Coverage::default() };
    let nothing = Coverage { nothing: true, ..Coverage::default() };
    assert_eq!(of("$.id", Coverage::default()), (Fallback::Body, IdGuard::Accept));
    assert_eq!(of("body-sha256", Coverage::default()), (Fallback::Body, IdGuard::Accept));
    assert_eq!(of("header:webhook-id", Coverage::default()), (Fallback::Unmapped, IdGuard::Hold));
    assert_eq!(of("header:webhook-id", signed.clone()), (Fallback::Unmapped, IdGuard::Accept));
    assert_eq!(of("query:id", Coverage::default()), (Fallback::Unmapped, IdGuard::Hold));
    assert_eq!(of("query:id", signed), (Fallback::Unmapped, IdGuard::Accept));
    assert_eq!(of("header:x", nothing), (Fallback::Unmapped, IdGuard::Accept));
    let told = RuleSpec { fallback: Some(Fallback::Body), id_guard: Some(IdGuard::Duplicate), ..keyed("header:x") };
    assert_eq!((compile(&told).fallback, compile(&told).id_guard), (Fallback::Body, IdGuard::Duplicate));
}

/// A rule with both kinds of ids guards only the items whose id came from outside the signature: each guard row costs.
#[test]
fn a_signed_id_is_not_guarded_beside_an_unsigned_one() {
    let rule = compile(&RuleSpec { key: list(&["$.id", "header:X-Id"]), ..RuleSpec::default() });
    let guard = |body: &str| item(&rule, &with_headers(request(body), &[("X-Id", "h")])).guard;
    assert_eq!(rule.id_guard, IdGuard::Hold);
    assert_eq!(guard(r#"{"id":1}"#), None);
    assert!(guard("{}").is_some());
    // Nothing is signed of an empty body, so it tells no event from another.
    assert_eq!(guard(""), None);
}

#[test]
fn equal_identity_is_one_definition() {
    let spec = |key: &str, items: &str, volatile: &[&str]| RuleSpec {
        items: list(&[items]),
        volatile: list(volatile),
        ..keyed(key)
    };
    let base = compile(&spec("{Entity}", "$.events", &["$.a", "$.b"])).definition;
    assert_eq!(base, compile(&spec("$['Entity']", "$.events[*]", &["$.b", "$.a"])).definition);
    // Not of identity: what is read besides, what must be there, what is done with it.
    let besides = RuleSpec {
        time: list(&["$.t"]),
        require: list(&["$.r"]),
        id_guard: Some(IdGuard::Duplicate),
        ..spec("$.Entity", "$.events", &["$.a", "$.b"])
    };
    assert_eq!(base, compile(&besides).definition);
    let others = [
        spec("$.Other", "$.events", &["$.a", "$.b"]),
        spec("$.Entity", "$.event", &["$.a", "$.b"]),
        spec("$.Entity", "$.events", &["$.a"]),
        RuleSpec {
            fingerprint: Some(super::super::Fingerprint::Canonical),
            ..spec("$.Entity", "$.events", &["$.a", "$.b"])
        },
        RuleSpec { fallback: Some(Fallback::Unmapped), ..spec("$.Entity", "$.events", &["$.a", "$.b"]) },
        RuleSpec { kind: list(&["header:x"]), ..spec("$.Entity", "$.events", &["$.a", "$.b"]) },
    ];
    for other in others {
        assert_ne!(base, compile(&other).definition);
    }
}

/// A header that becomes signed leaves the fingerprint, so it is another rule.
#[test]
fn coverage_is_part_of_identity() {
    let signed = Coverage { headers: vec!["webhook-id".into()], ..Coverage::default() };
    let spec = keyed("header:webhook-id");
    assert_ne!(compile(&spec).definition, compile(&RuleSpec { coverage: signed, ..spec.clone() }).definition);
}

#[test]
fn a_stored_rule_gives_the_digests_that_it_gave() {
    let gh = RuleSpec { kind: list(&["{header:X-GitHub-Event}.{$.action}"]), volatile: list(&["$.n"]), ..gh() };
    let batch = RuleSpec { items: list(&["$[*]"]), aggregate: list(&["{$$.x}:{$^.y}:{a}"]), ..keyed("{id}:{query:q}") };
    let headers = [("X-GitHub-Delivery", "d"), ("X-GitHub-Event", "issues"), ("webhook-id", "m")];
    let request = with_headers(request(r#"{"id":1,"n":2,"action":"opened"}"#), &headers);
    for spec in [gh, batch, sw(), st()] {
        let rule = compile(&spec);
        let stored = Rule::stored("src", "ns", 1, &rule.definition).unwrap();
        assert_eq!(stored.definition, rule.definition);
        let of = |rule| match super::super::items(rule, &request).unwrap().remove(0) {
            Mapped::Item(item) => Some((item.digest, item.fingerprint, item.kind, item.aggregate, item.rule)),
            Mapped::Unmapped { .. } => None,
        };
        assert_eq!(of(&stored), of(&rule));
    }
    assert!(Rule::stored("s", "n", 1, "{}").is_err());
    assert!(Rule::stored("s", "n", 1, r#"{"key":["xml:a"],"type":[],"aggregate":[],"items":[],"volatile":[],"fingerprint":"bytes","fallback":"body","unsigned":[]}"#).is_err());
}
