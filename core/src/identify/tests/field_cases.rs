//! The identity side of the field cases, each under its number.

use super::*;
use crate::event::KeyKind;
use crate::provider::{Fallback, IdGuard};

#[test]
fn f02_a_form_delivery_is_read_inside_its_field() {
    let mut spec = gh();
    spec.aggregate = list(&["form:payload $.zen"]);
    let rule = compile(&spec);
    for body in
        ["payload=%7B%22zen%22%3A%22a+b%2Bc%26d+%C3%A9%22%7D", "payload=%7B%22zen%22%3A%22a%20b%2Bc%26d%20%C3%A9%22%7D"]
    {
        let item =
            item(&rule, &with_headers(request(body), &[("X-GitHub-Delivery", "d-1"), ("X-GitHub-Event", "ping")]));
        assert_eq!((item.kind.as_str(), item.aggregate.as_deref()), ("ping", Some("a b+c&d é")));
    }
}

#[test]
fn f05_nul_in_an_id_is_another_id_and_no_text_column_sees_it() {
    let rule = compile(&st());
    let bodies = [
        r#"{"id":"evt_nul_1","type":"t","data":{"object":{"id":"agg_n"},"note":"a\u0000b"},"created":1767225600}"#,
        r#"{"id":"evt_nul_2","type":"t","data":{"object":{"id":"agg_n"},"note":"a\\u0000b"},"created":1767225601}"#,
        r#"{"id":"evt\u0000x","type":"t","data":{"object":{"id":"agg_m"}},"created":1767225600}"#,
        r#"{"id":"evtx","type":"t","data":{"object":{"id":"agg_m"}},"created":1767225600}"#,
    ];
    let items = bodies.map(|body| item(&rule, &request(body)));
    let keys = items.each_ref().map(|item| item.key.bytes.as_slice());
    assert_eq!(keys, [b"evt_nul_1".as_slice(), b"evt_nul_2", b"evt\0x", b"evtx"]);
    assert_ne!(items[2].digest, items[3].digest);
    assert_eq!(items[2].key.text, r"evt\u0000x");
}

/// Lone surrogates have no UTF-8; replaced by one character they would all be one id.
#[test]
fn f05_lone_surrogates_stay_apart() {
    let rule = compile(&keyed("$.id"));
    let digest = |id: &str| item(&rule, &request(format!(r#"{{"id":"{id}"}}"#))).digest;
    let all = [r"\ud800", r"\ud801", r"\udc00", r"\ud800\ud800", r"\ufffd", r"\ud83d\ude00", r"\u0000"].map(digest);
    for (n, one) in all.iter().enumerate() {
        assert!(!all[n + 1..].contains(one), "{n}");
    }
    assert_eq!(digest(r"\ud83d\ude00"), digest("😀"));
}

#[test]
fn f06_big_numbers_keep_their_digits() {
    let rule = compile(&st());
    let of = |body: &str| {
        let item = item(&rule, &request(body));
        (item.key.text, item.aggregate.unwrap(), item.digest)
    };
    let one = of(
        r#"{"id":9007199254740993,"type":"t","data":{"object":{"id":1152921506151679042}},"amount":12345678901234567890.10,"created":1767225600}"#,
    );
    let two = of(
        r#"{"id":9007199254740992,"type":"t","data":{"object":{"id":1152921506151679041}},"amount":1.0,"created":1767225600}"#,
    );
    assert_eq!((one.0.as_str(), one.1.as_str()), ("9007199254740993", "1152921506151679042"));
    assert_eq!((two.0.as_str(), two.1.as_str()), ("9007199254740992", "1152921506151679041"));
    assert_ne!(one.2, two.2);
}

#[test]
fn f13_the_template_says_what_an_event_is() {
    let bodies = ["false", "true"].map(|success| {
        request(format!(
            r#"{{"eventCode":"AUTHORISATION","pspReference":"PSP-883","success":"{success}","merchant":"M1"}}"#
        ))
    });
    let under = |key: &str| {
        let rule = compile(&keyed(key));
        bodies.each_ref().map(|body| item(&rule, body))
    };
    let [one, two] = under("{eventCode}:{pspReference}");
    assert_eq!((one.key.text.as_str(), one.key.kind), ("AUTHORISATION:PSP-883", KeyKind::Template));
    assert_eq!(one.digest, two.digest);
    assert_ne!(one.fingerprint, two.fingerprint);
    let [one, two] = under("{eventCode}:{pspReference}:{success}");
    assert_ne!(one.digest, two.digest);
}

#[test]
fn f14_events_without_an_id_are_told_apart_by_their_bytes() {
    let rule = compile(&keyed("$.event_id"));
    let of = |body: &str| item(&rule, &request(body));
    let one = of(r#"{"type":"unsubscribe","email":"a"}"#);
    let two = of(r#"{"type":"unsubscribe","email":"b"}"#);
    assert_eq!((one.key.kind, two.key.kind), (KeyKind::Body, KeyKind::Body));
    assert_ne!(one.digest, two.digest);
    assert_eq!(one.digest, of(r#"{"type":"unsubscribe","email":"a"}"#).digest);
}

fn f16_rule() -> RuleSpec {
    RuleSpec {
        key: list(&["$.id"]),
        aggregate: list(&["$.recipient"]),
        items: list(&["$.entry[*].changes[*].value.statuses[*]"]),
        fallback: Some(Fallback::Unmapped),
        ..RuleSpec::default()
    }
}

fn f16_body(statuses: &[&[&str]]) -> String {
    let change = |ids: &[&str]| {
        let statuses: Vec<String> = ids
            .iter()
            .map(|id| {
                if id.is_empty() {
                    r#"{"recipient":"r"}"#.into()
                } else {
                    format!(r#"{{"id":"{id}","recipient":"r"}}"#)
                }
            })
            .collect();
        format!(r#"{{"value":{{"statuses":[{}]}}}}"#, statuses.join(","))
    };
    let entry = |changes: &[&[&str]]| {
        let changes: Vec<String> = changes.iter().map(|ids| change(ids)).collect();
        format!(r#"{{"changes":[{}]}}"#, changes.join(","))
    };
    let (first, rest) = statuses.split_at(statuses.len() / 2);
    format!(r#"{{"entry":[{},{}]}}"#, entry(first), entry(rest))
}

#[test]
fn f16_every_item_of_a_batch_has_its_own_identity() {
    let rule = compile(&f16_rule());
    let request = request(f16_body(&[&["1", "2"], &["3", "4"], &["5", "6"], &["7", "8"]]));
    let items = super::super::items(&rule, &request).unwrap();
    let mut seen = Vec::new();
    for (n, mapped) in items.iter().enumerate() {
        let Mapped::Item(item) = mapped else { panic!("{mapped:?}") };
        let (start, end) = item.span.unwrap();
        let bytes = &request.decoded[start as usize..end as usize];
        assert_eq!(bytes, format!(r#"{{"id":"{}","recipient":"r"}}"#, n + 1).as_bytes());
        assert_eq!((item.item as usize, item.key.text.as_str()), (n, (n + 1).to_string().as_str()));
        assert_eq!(item.fingerprint, crate::frame::sha256(bytes));
        seen.push(item.digest);
    }
    assert_eq!(seen.len(), 8);
}

/// The same item in another request, at another place, is the same event.
#[test]
fn f16_one_more_item_leaves_the_others_what_they_were() {
    let rule = compile(&f16_rule());
    let digests = |body: String| -> Vec<_> {
        let items = super::super::items(&rule, &request(body)).unwrap();
        items
            .iter()
            .map(|m| if let Mapped::Item(i) = m { (i.digest, i.fingerprint) } else { panic!("{m:?}") })
            .collect()
    };
    let before = digests(f16_body(&[&["1", "2"], &["3"]]));
    let after = digests(f16_body(&[&["0", "1", "2"], &["3"]]));
    assert_eq!(before, after[1..]);
}

#[test]
fn f16_an_item_without_an_id_is_unmapped_alone() {
    let rule = compile(&f16_rule());
    let items = super::super::items(&rule, &request(f16_body(&[&["1", ""], &["3", "4"]]))).unwrap();
    let unmapped: Vec<_> = items.iter().map(|m| matches!(m, Mapped::Unmapped { .. })).collect();
    assert_eq!(unmapped, [false, true, false, false]);
}

#[test]
fn f16_empty_batches_have_no_items_and_large_ones_a_limit() {
    let rule = compile(&f16_rule());
    assert_eq!(super::super::items(&rule, &request(f16_body(&[&[], &[]]))).unwrap(), []);
    let ids: Vec<String> = (0..=super::super::MAX_ITEMS).map(|n| n.to_string()).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let full = request(f16_body(&[&[], &ids[1..]]));
    assert_eq!(super::super::items(&rule, &full).unwrap().len(), super::super::MAX_ITEMS);
    assert!(super::super::items(&rule, &request(f16_body(&[&[], &ids]))).is_err());
}

#[test]
fn f12_ids_in_headers_are_guarded_by_the_signed_body() {
    let rule = compile(&gh());
    let of = |id: &str| item(&rule, &with_headers(request(r#"{"a":1}"#), &[("X-GitHub-Delivery", id)]));
    let (one, two) = (of("d-1"), of("d-2"));
    assert_ne!(one.digest, two.digest);
    let guard = one.guard.unwrap();
    assert_eq!((Some(guard), guard.then), (two.guard, IdGuard::Hold));
    assert!(item(&compile(&sw()), &with_headers(request("{}"), &[("webhook-id", "m")])).guard.is_none(), "a signed id");
}
