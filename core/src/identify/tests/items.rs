//! Requests to items.

use super::*;
use crate::event::{HoldReason, KeyKind};
use crate::frame::{Framed, sha256};
use crate::identify::{Fingerprint, UNKNOWN, items};

#[test]
fn a_blank_id_in_a_header_is_unmapped_with_a_reason() {
    let rule = compile(&gh());
    for request in [request("{}"), with_headers(request("{}"), &[("X-GitHub-Delivery", " ")])] {
        assert_eq!(unmapped(&rule, &request), "no key: `header:x-github-delivery` is missing or blank");
    }
}

#[test]
fn the_reason_says_why_a_body_has_no_values() {
    let rule = compile(&RuleSpec { fallback: Some(crate::provider::Fallback::Unmapped), ..keyed("$.id") });
    assert_eq!(unmapped(&rule, &request(r#"{"id""#)), "no key: `$.id` is missing or blank (not JSON at byte 5)");
    let deep = "[".repeat(70);
    assert!(unmapped(&rule, &request(deep)).ends_with("(nested deeper than 64 levels)"));
}

/// An id counts only as one text, number or boolean.
#[test]
fn values_that_are_no_id() {
    let rule = compile(&keyed("$.id"));
    for id in ["null", "[]", "{}", "[1]", r#"{"a":1}"#, r#""""#, r#"" ""#, r#""\t\n""#] {
        let item = item(&rule, &request(format!(r#"{{"id":{id}}}"#)));
        assert_eq!(item.key.kind, KeyKind::Body, "{id}");
    }
    for (id, text) in [("0", "0"), ("-1.50", "-1.50"), ("true", "true"), (r#"" a""#, " a")] {
        let item = item(&rule, &request(format!(r#"{{"id":{id}}}"#)));
        assert_eq!((item.key.kind, item.key.text.as_str()), (KeyKind::Provider, text));
    }
}

#[test]
fn the_first_alternative_that_holds_counts() {
    let rule = compile(&RuleSpec {
        key: list(&["{a}:{b}", "$.c", "body-sha256"]),
        kind: list(&["{header:X-Event}.{$.action}", "{header:X-Event}.{form:payload $.action}", "header:X-Event"]),
        ..RuleSpec::default()
    });
    let of = |body: &str| {
        let item = item(&rule, &with_headers(request(body), &[("X-Event", "issues")]));
        (item.key.text, item.kind)
    };
    assert_eq!(of(r#"{"a":1,"b":2,"c":3,"action":"opened"}"#), ("1:2".into(), "issues.opened".into()));
    assert_eq!(of(r#"{"a":1,"b":"","c":3}"#), ("3".into(), "issues".into()));
    assert_eq!(of("payload=%7B%22action%22%3A%22closed%22%7D").1, "issues.closed");
    assert_eq!(of("{}").0, crate::frame::hex(&sha256(b"{}")));
    assert_eq!(item(&rule, &request("{}")).kind, UNKNOWN);
}

#[test]
fn parts_of_a_template_do_not_slide() {
    let rule = compile(&keyed("{a}:{b}"));
    let digest = |a: &str, b: &str| item(&rule, &request(format!(r#"{{"a":"{a}","b":"{b}"}}"#))).digest;
    assert_ne!(digest("x:y", "z"), digest("x", "y:z"));
    // A word that belongs to the key is in it; the colons between parts are not.
    let key = |text: &str| item(&compile(&keyed(text)), &request(r#"{"a":1,"b":2}"#)).key.bytes;
    assert_ne!(key("job:{a}"), key("build:{a}"));
    assert_eq!(key("{a}:{b}"), key("{a}::{b}"));
    assert_ne!(key("{a}:{b}"), key("{a}-{b}"));
}

#[test]
fn aggregates_of_other_parts_are_other_texts() {
    let of = |rule: &str, body: &str| {
        let rule = compile(&RuleSpec { aggregate: list(&[rule]), ..keyed("body-sha256") });
        item(&rule, &request(body)).aggregate
    };
    let table = [
        ("{a}:{b}", r#"{"a":"17","b":3}"#, "17:3"),
        ("{a}:{b}", r#"{"a":"1:7","b":3}"#, r"1\:7:3"),
        ("{a}:{b}", r#"{"a":"1\\","b":3}"#, r"1\\:3"),
        ("{a}{b}", r#"{"a":1,"b":3}"#, "1:3"),
        ("$.a", r#"{"a":"x:y"}"#, r"x\:y"),
        ("{a}#{b}", r#"{"a":"o/r#1","b":3}"#, r"o/r\#1#3"),
        ("pay_{a}", r#"{"a":"p_1"}"#, "pay_p_1"),
        ("message:{a}", r#"{"a":"SM1"}"#, "message:SM1"),
        ("$.a", r#"{"a":"n\u0000\ud800"}"#, r"n\u0000\xed\xa0\x80"),
        ("$.a", r#"{"a":"n\\u0000"}"#, r"n\\u0000"),
    ];
    for (rule, body, expected) in table {
        assert_eq!(of(rule, body).as_deref(), Some(expected), "{rule} {body}");
    }
    assert_eq!(of("{a}:{b}", r#"{"a":1}"#), None);
}

#[test]
fn required_fields_that_are_missing_make_it_unmapped() {
    let rule = compile(&RuleSpec { require: list(&["$.PrimaryKey", "$.Data"]), ..keyed("$.id") });
    assert_eq!(unmapped(&rule, &request(r#"{"id":1,"Data":{}}"#)), "required `$.PrimaryKey` is missing");
    assert_eq!(unmapped(&rule, &request(r#"{"id":1,"PrimaryKey":1,"Data":null}"#)), "required `$.Data` is missing");
    item(&rule, &request(r#"{"id":1,"PrimaryKey":1,"Data":{}}"#));
}

#[test]
fn a_header_that_contradicts_itself_is_no_id() {
    let rule = compile(&gh());
    let of = |ids: [(&str, &str); 2]| with_headers(request("{}"), &ids);
    unmapped(&rule, &of([("X-GitHub-Delivery", "a"), ("X-GitHub-Delivery", "b")]));
    item(&rule, &of([("X-GitHub-Delivery", "a"), ("x-github-delivery", "a")]));
}

#[test]
fn forms_and_queries_are_read_decoded_and_the_last_field_counts() {
    let rule = compile(&RuleSpec { key: list(&["{form:id}:{form:a b}", "{query:id}"]), ..RuleSpec::default() });
    assert_eq!(item(&rule, &request("id=1&id=tr_%37&a+b=x%20y%zz+&&=&c")).key.text, "tr_7:x y%zz ");
    let mut get = request("");
    get.target = "/in/x?id=9&id=%C3%A9".into();
    assert_eq!(item(&rule, &get).key.text, "é");
    let rule = compile(&keyed("form:id"));
    assert_eq!(item(&rule, &get).key.text, "é", "without a body the query is the form");
    get.decoded = "x=1".into();
    assert_eq!(item(&rule, &get).key.kind, KeyKind::Body, "with a body it is not");
}

#[test]
fn hashes_build_on_each_other() {
    let body = r#"{"id":1,"n":22,"m":{"n":3}}"#;
    let plain = item(&compile(&keyed("$.id")), &request(body));
    assert_eq!((plain.body_hash, plain.fingerprint), (sha256(body.as_bytes()), sha256(body.as_bytes())));
    let volatile = RuleSpec { volatile: list(&["$.n", "$.m.n", "$.m", "$.absent"]), ..keyed("$.id") };
    let volatile = item(&compile(&volatile), &request(body));
    assert_eq!(volatile.body_hash, sha256(body.as_bytes()));
    assert_eq!(volatile.fingerprint, sha256(b"{\"id\":1,\"n\":\0,\"m\":\0}"));
    let header = with_headers(request(body), &[("X-GitHub-Delivery", "d"), ("X-GitHub-Event", "e")]);
    let expected = [&sha256(body.as_bytes())[..], b"x-github-delivery", b"d", b"x-github-event", b"e"];
    let expected = expected.into_iter().fold(Framed::new(), Framed::part).hash();
    assert_eq!(item(&compile(&gh()), &header).fingerprint, expected);
}

#[test]
fn unsigned_headers_that_are_read_make_a_conflict_not_a_duplicate() {
    let rule = compile(&RuleSpec { aggregate: list(&["header:X-Shop"]), ..gh() });
    let of = |event: &str, shop: &str, other: &str| {
        let headers = [("X-GitHub-Delivery", "d"), ("X-GitHub-Event", event), ("X-Shop", shop), ("X-Other", other)];
        item(&rule, &with_headers(request("{}"), &headers))
    };
    let first = of("push", "a", "1");
    for other in [of("ping", "a", "1"), of("push", "b", "1")] {
        assert_eq!(other.digest, first.digest);
        assert_ne!(other.fingerprint, first.fingerprint);
    }
    assert_eq!(of("push", "a", "2").fingerprint, first.fingerprint, "what nobody reads does not count");
}

/// An attempt mark must not make a new event of a source whose key is the hash of the body.
#[test]
fn a_body_key_leaves_volatile_values_out() {
    let rule = compile(&RuleSpec { volatile: list(&["$.attempt", "form:attempt"]), ..keyed("body-sha256") });
    let of = |body: &str| item(&rule, &request(body)).digest;
    assert_eq!(of(r#"{"a":1,"attempt":1}"#), of(r#"{"a":1,"attempt":"second"}"#));
    assert_ne!(of(r#"{"a":1,"attempt":1}"#), of(r#"{"a":2,"attempt":1}"#));
    assert_eq!(of("a=1&attempt=1&b=2&attempt=x"), of("a=1&attempt=&b=2&attempt=7"));
    assert_ne!(of("a=1&attempt=1"), of("a=2&attempt=1"));
}

#[test]
fn an_empty_body_is_hashed_with_its_request_line() {
    let rule = compile(&keyed("body-sha256"));
    let base = request("");
    let digest = |change: &dyn Fn(&mut Request)| {
        let mut request = base.clone();
        change(&mut request);
        item(&rule, &request).digest
    };
    let first = digest(&|_| {});
    assert_eq!(first, digest(&|r| r.url = "https://elsewhere".into()));
    assert_ne!(first, digest(&|r| r.target = "/in/x?id=1".into()));
    assert_ne!(first, digest(&|r| r.method = http::Method::PUT));
}

#[test]
fn canonical_fingerprints_forgive_spelling_only() {
    let rule =
        compile(&RuleSpec { fingerprint: Some(Fingerprint::Canonical), volatile: list(&["$.v"]), ..keyed("$.id") });
    let of = |body: &str| item(&rule, &request(body)).fingerprint;
    let base = of(r#"{"id":1,"a":{"x":"é","y":[1.0,null,true]},"v":1}"#);
    for same in [
        r#"{"id": 1, "a": {"y": [1.0, null, true], "x": "\u00e9"}, "v": [2]}"#,
        r#"{"v":{},"\u0061":{"x":"é","y":[1.0,null,true]},"id":1}"#,
    ] {
        assert_eq!(of(same), base, "{same}");
    }
    for other in [
        r#"{"id":1,"a":{"x":"é","y":[1,null,true]},"v":1}"#,
        r#"{"id":1,"a":{"x":"é","y":["1.0",null,true]},"v":1}"#,
        r#"{"id":1,"a":{"x":"é","y":[null,1.0,true]},"v":1}"#,
        r#"{"id":1,"a":{"x":"é","y":[1.0,null,true]}}"#,
        r#"{"id":1,"id":1,"a":{"x":"é","y":[1.0,null,true]},"v":1}"#,
        r#"{"id":1,"a":{"x":"é","y":[1.0,[null,true]]},"v":1}"#,
    ] {
        assert_ne!(of(other), base, "{other}");
    }
    assert_ne!(of(r#"{"id":1,"id":2}"#), of(r#"{"id":2,"id":1}"#), "repeated names keep their order");
    assert_eq!(of("no json"), sha256(b"no json"));
}

#[test]
fn times_come_in_many_forms() {
    let table: [(&str, Option<i64>); 24] = [
        ("1767225600", Some(T0)),
        ("1767225600.5", Some(T0 + 500_000)),
        ("1767225600.0000019", Some(T0 + 1)),
        ("1767225600123", Some(T0 + 123_000)),
        ("1767225600123.4", Some(T0 + 123_400)),
        ("1767225600123456", Some(T0 + 123_456)),
        ("99999999999", None),
        ("-1", Some(-1_000_000)),
        ("2026-01-01T00:00:00Z", Some(T0)),
        ("2026-01-01T01:00:00.25+01:00", Some(T0 + 250_000)),
        ("2026-01-01T00:00:00", Some(T0)),
        ("2026-01-01 00:00:00 UTC", Some(T0)),
        ("2026-01-01", Some(T0)),
        ("Thu, 01 Jan 2026 00:00:00 +0000", Some(T0)),
        ("Thu Jan 01 00:00:00 +0000 2026", Some(T0)),
        // More than a day ahead: none.
        ("2026-01-02T00:00:00Z", Some(T0 + 86_400_000_000)),
        ("2026-01-02T00:00:01Z", None),
        ("99999999999999999999", None),
        ("9223372036854775807", None),
        ("1e9", None),
        ("yesterday", None),
        (".5", None),
        ("2026-13-01T00:00:00Z", None),
        ("-", None),
    ];
    let rule = compile(&RuleSpec { time: list(&["$.absent", "$.t"]), ..keyed("body-sha256") });
    for (text, expected) in table {
        let item = item(&rule, &request(format!(r#"{{"t":"{text}"}}"#)));
        assert_eq!(item.event_time, expected, "{text}");
    }
}

#[test]
fn versions_are_kept_as_written_if_they_are_of_their_kind() {
    let of = |kind, value: &str| {
        let version = Some(VersionSpec { kind, from: vec!["$.v".into()] });
        item(&compile(&RuleSpec { version, ..keyed("body-sha256") }), &request(format!(r#"{{"v":{value}}}"#))).version
    };
    assert_eq!(of(VersionKind::Number, "007").as_deref(), None, "no JSON number");
    assert_eq!(of(VersionKind::Number, "1234567890123456789012").as_deref(), Some("1234567890123456789012"));
    assert_eq!(of(VersionKind::Number, r#""1.50""#).as_deref(), Some("1.50"));
    assert_eq!(of(VersionKind::Number, r#""2026-01-01T00:00:00Z""#), None);
    assert_eq!(of(VersionKind::Time, r#""2026-01-01T01:00:00+01:00""#).as_deref(), Some("2026-01-01T01:00:00+01:00"));
    assert_eq!(of(VersionKind::Time, r#""v2""#), None);
    assert_eq!(of(VersionKind::Any, r#""v2""#).as_deref(), Some("v2"));
}

#[test]
fn unlisted_schemas_are_held_where_the_source_is_strict() {
    let spec = RuleSpec { schema_version: list(&["$.s"]), schema_versions: list(&["1", "2"]), ..keyed("body-sha256") };
    let hold =
        |strict, body: &str| item(&compile(&RuleSpec { schema_strict: strict, ..spec.clone() }), &request(body)).hold;
    assert_eq!(hold(true, r#"{"s":1}"#), None);
    assert_eq!(hold(true, r#"{"s":3}"#), Some(HoldReason::SchemaVersion));
    assert_eq!(hold(true, "{}"), Some(HoldReason::SchemaVersion));
    assert_eq!(hold(false, r#"{"s":3}"#), None);
}

fn all(rule: &Rule, request: &Request) -> Vec<Item> {
    let one = |mapped| match mapped {
        Mapped::Item(item) => *item,
        other => panic!("{other:?}"),
    };
    items(rule, request).unwrap().into_iter().map(one).collect()
}

#[test]
fn inside_a_batch_roots_are_item_document_and_parent() {
    let rule = compile(&RuleSpec {
        aggregate: list(&["{$$.object}:{$^.id}"]),
        time: list(&["$^.time"]),
        delivery_id: list(&["$$.delivery"]),
        items: list(&["$.entry[*].changes[*].value.messages", "$.entry[*].changes", "$.entry[*].messaging"]),
        ..keyed("$.id")
    });
    let body = r#"{"object":"wa","delivery":"d","entry":[
        {"id":"e1","time":1767225600,"changes":[
            {"id":"c1","time":1767225601,"value":{"messages":[{"id":"m1"},{"id":"m2"}]}},
            {"id":"c2","value":{"x":1}}]},
        {"id":"e2","messaging":[{"id":"g1"}]}]}"#;
    let items = all(&rule, &request(body));
    let seen: Vec<_> =
        items.iter().map(|i| (i.item, i.key.text.as_str(), i.aggregate.as_deref(), i.event_time)).collect();
    // `c1` is the frame of two messages, so it is no item itself.
    let expected = [
        (0, "m1", Some("wa:c1"), Some(T0 + 1_000_000)),
        (1, "m2", Some("wa:c1"), Some(T0 + 1_000_000)),
        (2, "c2", Some("wa:e1"), Some(T0)),
        (3, "g1", Some("wa:e2"), None),
    ];
    assert_eq!(seen, expected);
    assert!(items.iter().all(|item| item.provider_delivery.as_deref() == Some("d")));
}

#[test]
fn a_key_from_outside_the_item_gets_its_position() {
    for key in ["header:X-Id", "$$.id", "{$^.id}"] {
        let rule = compile(&RuleSpec { items: list(&["$.events"]), ..keyed(key) });
        let request = with_headers(request(r#"{"id":"e","events":[1,1,2]}"#), &[("X-Id", "e")]);
        let texts: Vec<_> = all(&rule, &request).into_iter().map(|item| item.key.text).collect();
        assert_eq!(texts, ["e:0", "e:1", "e:2"], "{key}");
    }
    let rule = compile(&RuleSpec { items: list(&["$.events"]), ..keyed("{header:X-Id}:{id}") });
    let request = with_headers(request(r#"{"events":[{"id":7}]}"#), &[("X-Id", "e")]);
    assert_eq!(all(&rule, &request)[0].key.text, "e:7");
}

#[test]
fn equal_bytes_in_one_batch_are_all_meant() {
    for key in ["body-sha256", "$.absent", "{n}:{body-sha256}"] {
        let rule = compile(&RuleSpec { items: list(&["$"]), ..keyed(key) });
        let digests = |body: &str| all(&rule, &request(body)).into_iter().map(|i| i.digest).collect::<Vec<_>>();
        let three = digests(r#"[{"n":1},{"n":2},{"n":1}]"#);
        assert_eq!(std::collections::HashSet::<_>::from_iter(&three).len(), 3, "{key}");
        // Sent alone, or again, they are what they were.
        assert_eq!(digests(r#"[{"n":1}]"#), [three[0]]);
        assert_eq!(digests(r#"[{"n":1},{"n":1}]"#), [three[0], three[2]]);
    }
}

#[test]
fn siblings_with_equal_bytes_do_not_guard_against_each_other() {
    let rule = compile(&RuleSpec { items: list(&["$"]), ..keyed("header:X-Id") });
    let of = |id: &str| {
        let request = with_headers(request("[7,7]"), &[("X-Id", id)]);
        all(&rule, &request).into_iter().map(|item| item.guard.unwrap().digest).collect::<Vec<_>>()
    };
    let first = of("a");
    assert_ne!(first[0], first[1]);
    assert_eq!(first, of("b"), "the whole batch under another id is still recognised");
}

#[test]
fn without_an_array_the_body_is_one_item() {
    let rule = compile(&RuleSpec {
        items: list(&["$.events", "$.more[*]"]),
        aggregate: list(&["{$$.a}:{$^.a}"]),
        ..keyed("$.id")
    });
    for body in [r#"{"id":7,"a":1}"#, r#"{"id":7,"a":1,"events":{"id":8},"more":9}"#] {
        let item = item(&rule, &request(body));
        assert_eq!((item.key.text.as_str(), item.aggregate.as_deref(), item.span), ("7", Some("1:1"), None));
    }
    assert_eq!(items(&rule, &request(r#"{"events":[]}"#)).unwrap(), []);
    assert_eq!(items(&rule, &request(r#"{"events":{},"more":[]}"#)).unwrap(), []);
    assert_eq!(item(&rule, &request("no json")).key.kind, KeyKind::Body);
}

/// Volatile values and fingerprints belong to the item, whatever stands around it.
#[test]
fn fingerprints_of_items_ignore_their_surroundings() {
    let rule = compile(&RuleSpec { items: list(&["$.e"]), volatile: list(&["$.n"]), ..keyed("$.id") });
    let of = |body: &str| all(&rule, &request(body)).iter().map(|i| (i.digest, i.fingerprint)).collect::<Vec<_>>();
    let one = of(r#"{"e":[{"id":1,"n":1},{"id":2,"n":1}],"n":1}"#);
    let two = of(r#" {"sent":"later","e":[ {"id":2,"n":"x"}]}"#);
    assert_eq!(one[1], two[0]);
}

#[test]
fn a_long_value_is_none_and_a_batch_cannot_multiply_it() {
    let long = "x".repeat(crate::identify::text::MAX_TEXT + 1);
    let rule = compile(&RuleSpec { aggregate: list(&["$$.a"]), items: list(&["$.e"]), ..keyed("$.id") });
    let body = |a: &str, ids: usize| {
        let ids: Vec<String> = (0..ids).map(|n| format!(r#"{{"id":{n}}}"#)).collect();
        request(format!(r#"{{"a":"{a}","e":[{}]}}"#, ids.join(",")))
    };
    assert_eq!(all(&rule, &body(&long, 1))[0].aggregate, None);
    assert_eq!(all(&rule, &body(&long[1..], 1))[0].aggregate.as_deref(), Some(&long[1..]));
    assert!(items(&rule, &body(&long[1..], 2_000)).is_err());
    assert_eq!(item(&compile(&keyed("$.a")), &body(&long, 0)).key.kind, KeyKind::Body);
    let ten_kilobytes = "k".repeat(10_000);
    assert_eq!(item(&compile(&keyed("$.a")), &body(&ten_kilobytes, 0)).key.text, ten_kilobytes);
}
