//! Field cases F01, F02, F07 A, F08 and F09: what broke real receivers, as far as verification is concerned.

use bytes::Bytes;
use hookonce_core::request::{Headers, Request};
use hookonce_core::signature::{Carrier, Encoding, Hash, Keys, Options, Refusal, Scheme, Secret, Verified, verify};

use crate::case;

const T0: i64 = 1_767_225_600;
const SECRET_A: &str = "field-test-secret-A-0123456789abcdef";
const KEY_A: &str = "whsec_ZmllbGQtc3cta2V5LUEtMDEyMzQ1Njc4OWFiY2RlZiE=";
const KEY_B: &str = "whsec_ZmllbGQtc3cta2V5LUItMDEyMzQ1Njc4OWFiY2RlZiE=";

fn request(headers: &[(&str, &str)], body: &[u8]) -> Request {
    let pairs = headers.iter().map(|(n, v)| (n.parse().expect("a name"), v.parse().expect("a value")));
    Request {
        received: 0,
        method: http::Method::POST,
        target: "/in/x".to_owned(),
        url: "https://hooks.example.com/in/x".to_owned(),
        headers: Headers(pairs.collect()),
        body: Bytes::copy_from_slice(body),
        decoded: Bytes::copy_from_slice(body),
    }
}

/// The source `gh` of the cases: a generic one, as a configuration writes it.
fn gh() -> Keys {
    let (header, prefix, signed) = (Carrier::Header("X-Hub-Signature-256".into()), "sha256=".into(), "{body}".into());
    let scheme = Scheme::hmac("gh".into(), Hash::Sha256, header, prefix, Encoding::Hex, signed);
    Keys::new(&scheme, &[Secret::new("a", SECRET_A)]).expect("keys")
}

fn gh_verify(signature: &str, body: &[u8]) -> Result<Verified, Refusal> {
    verify(&gh(), &request(&[("X-Hub-Signature-256", signature)], body), &Options::default(), T0)
}

#[test]
fn f01_the_bytes_on_the_wire_are_what_is_signed() {
    let bodies: [(&[u8], usize, &str); 5] = [
        (
            b"{\"id\": 1,  \"b\":2.0,\"a\":\"x\"}\r\n",
            29,
            "217ad34e917eb94a909c9c302d845e3699519a0a40898fecc66c23b017e32cd1",
        ),
        ("{\"t\":\"😀 ñ …\"}".as_bytes(), 19, "04cb4f478acb5b62c07dd67a22c6d95247dfd137ff2d91035b9ddf57cea461ee"),
        (
            br#"{"t":"\ud83d\ude00 \u00f1 \u2026"}"#,
            34,
            "d8be4f57341ed4fc7adbba06eac5cc0b03bac3bb6b399015122201414941f829",
        ),
        (b"{\"t\":\"a\xe2\x80\xa8b\"}", 13, "86bfb6d3beec3765170c12a02c00e1a9440e45f2806f28fa57ff6ed3c731218e"),
        (br#"{"t":"a\u2028b"}"#, 16, "16dcd3a961f435852cdc5d3b8afb73814f1aa5b5e8463ab8d2c9c776eea5e945"),
    ];
    for (at, (body, length, right)) in bodies.iter().enumerate() {
        assert_eq!(body.len(), *length);
        for (other, (_, _, signature)) in bodies.iter().enumerate() {
            let found = gh_verify(&format!("sha256={signature}"), body);
            assert_eq!(found.is_ok(), at == other, "body {at}, signature {other}");
        }
        assert!(gh_verify(&format!("sha256={right}"), body).is_ok());
    }
}

#[test]
fn f02_of_a_form_the_form_bytes_are_signed() {
    let plus = b"payload=%7B%22zen%22%3A%22a+b%2Bc%26d+%C3%A9%22%7D";
    let percent = b"payload=%7B%22zen%22%3A%22a%20b%2Bc%26d%20%C3%A9%22%7D";
    let of_plus = "sha256=7c221d505a923c6065d7b85a29bd2052693214a5b6505188708e440b0ec0a2fb";
    let of_percent = "sha256=03c4d44b8ed60adca3e23f651004d0579d3fcf1bc37be3291e4699677af722da";
    assert!(gh_verify(of_plus, plus).is_ok());
    assert_eq!(gh_verify(of_plus, percent), Err(Refusal::SignatureMismatch));
    assert!(gh_verify(of_percent, percent).is_ok());
}

#[test]
fn f07_a_a_hostile_header_is_refused_and_nothing_more() {
    let right = "e8f5ac4eaa21caac19429f0ed302baccc996cd14c030d3311d11427a16244e7c";
    assert!(gh_verify(&format!("sha256={right}"), b"{}").is_ok());
    let absent = verify(&gh(), &request(&[], b"{}"), &Options::default(), T0);
    assert_eq!(absent, Err(Refusal::MissingHeader));
    assert_eq!(gh_verify("", b"{}"), Err(Refusal::MissingHeader));
    let wrong = [
        "sha256=".to_owned(),
        "sha256=abc".to_owned(),
        format!("sha256={}", &right[..63]),
        format!("sha256={right}0"),
        format!("sha256={}", "g".repeat(64)),
        format!("sha1={}", &right[..40]),
        right.to_owned(),
        "a".repeat(8_000),
        format!("sha256={}", right.to_ascii_uppercase()),
    ];
    for value in wrong {
        assert_eq!(gh_verify(&value, b"{}"), Err(Refusal::MalformedSignature), "{value:.80}");
    }
}

#[test]
fn f08_any_signature_may_match_any_active_key() {
    let (a, b) = ("v1,l8FAu/spy13nO2Qzdj074EFiZdhZfUXATN+HNp1NSI4=", "v1,L35Y0wm9hsWeDe18Nhdpdxix4zaAaksWnzyse9oChYM=");
    let receivers: [&[(&str, &str)]; 3] = [&[("a", KEY_A)], &[("a", KEY_A), ("b", KEY_B)], &[("b", KEY_B)]];
    // Per header the name of the key that matches, at the receivers with A, with both, with B.
    let matrix = [
        (a.to_owned(), [Some("a"), Some("a"), None]),
        (b.to_owned(), [None, Some("b"), Some("b")]),
        (format!("{a} {b}"), [Some("a"), Some("a"), Some("b")]),
        (format!("{b} {a}"), [Some("a"), Some("a"), Some("b")]),
        (format!("v2,AAAA {a}"), [Some("a"), Some("a"), None]),
        (format!("v1,AAAA {b}"), [None, Some("b"), Some("b")]),
    ];
    let body = br#"{"type":"order.paid","data":{"id":"ord_1"}}"#;
    for (header, expected) in &matrix {
        for (receiver, name) in receivers.iter().zip(expected) {
            let secrets: Vec<Secret> = receiver.iter().map(|(name, value)| Secret::new(*name, *value)).collect();
            let keys = Keys::new(case::scheme("standard-webhooks"), &secrets).expect("keys");
            let stamp = T0.to_string();
            let headers = [("webhook-id", "msg_rot_1"), ("webhook-timestamp", &*stamp), ("webhook-signature", header)];
            let found = verify(&keys, &request(&headers, body), &Options::default(), T0);
            assert_eq!(found.as_ref().ok().and_then(Verified::secret).map(|n| &**n), *name, "{header} at {receiver:?}");
        }
    }
}

#[test]
fn f08_the_sixteenth_signature_is_tried_and_the_seventeenth_is_not() {
    let right = "v1,l8FAu/spy13nO2Qzdj074EFiZdhZfUXATN+HNp1NSI4=";
    let wrong = "v1,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    let keys = Keys::new(case::scheme("standard-webhooks"), &[Secret::new("a", KEY_A)]).expect("keys");
    for (before, accepted) in [(15, true), (16, false)] {
        let header = [vec![wrong; before], vec![right]].concat().join(" ");
        let stamp = T0.to_string();
        let headers = [("webhook-id", "msg_rot_1"), ("webhook-timestamp", &*stamp), ("webhook-signature", &header)];
        let body = br#"{"type":"order.paid","data":{"id":"ord_1"}}"#;
        let found = verify(&keys, &request(&headers, body), &Options::default(), T0);
        assert_eq!(found.is_ok(), accepted, "{before} wrong ones before it");
    }
}

#[test]
fn f09_clocks_differ_both_ways_and_retries_come_late() {
    let body = br#"{"id":"evt_clk_1","type":"t","data":{"object":{"id":"agg_c"}},"created":1767225600}"#;
    let at_t0 = "934ef06d4e27cd8165f6ff40e9393f35bb0b71e7aa32b14b54ae3f871791120a";
    let old = "t=1767225299,v1=461189f2d5c02cc79fe10482266b244fcbab7b93e9ec166996f20da6f7354b45";
    // The case does not print its secret's name; it is the A of all sources.
    let keys = Keys::new(case::scheme("stripe"), &[Secret::new("a", SECRET_A)]).expect("keys");
    let check = |header: &str, tolerance: Option<u32>, now: i64| {
        let options = Options { tolerance, ..Options::default() };
        verify(&keys, &request(&[("Stripe-Signature", header)], body), &options, now).map(|_| ())
    };
    let fresh = format!("t={T0},v1={at_t0}");
    for (skew, found) in
        [(299, Ok(())), (301, Err(Refusal::StaleTimestamp)), (-299, Ok(())), (-301, Err(Refusal::FutureTimestamp))]
    {
        assert_eq!(check(&fresh, None, T0 + skew), found, "{skew}");
    }
    assert_eq!(check(old, None, T0), Err(Refusal::StaleTimestamp));
    assert_eq!(check(&format!("t=abc,v1={at_t0}"), None, T0), Err(Refusal::MalformedTimestamp));
    assert_eq!(check(&format!("v1={at_t0}"), None, T0), Err(Refusal::MalformedHeader));
    assert_eq!(check(&format!("t={T0},t={T0},v1={at_t0}"), None, T0), Err(Refusal::MalformedHeader));
    // The late copy of a stored event: refused by the window, accepted by a source that trusts its ledger instead.
    assert_eq!(check(&fresh, None, T0 + 3_600), Err(Refusal::StaleTimestamp));
    assert_eq!(check(&fresh, Some(48 * 3_600), T0 + 90_000), Ok(()));
}
