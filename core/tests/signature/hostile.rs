//! Hostile bytes in every header and body: refused, never a panic, whatever they are.

use bytes::Bytes;
use hookonce_core::request::{Headers, Request};
use hookonce_core::signature::{Keys, Options, Secret, catalog, handshake, verify};
use http::{HeaderName, HeaderValue};
use proptest::prelude::*;

const NAMES: [&str; 10] = [
    "x-hub-signature-256",
    "x-hub-signature",
    "stripe-signature",
    "x-slack-signature",
    "x-slack-request-timestamp",
    "webhook-id",
    "webhook-timestamp",
    "webhook-signature",
    "x-twilio-signature",
    "x-twilio-webhooks-signature-settings",
];

/// Bytes that look like what the grammars look for, and bytes that do not.
fn value() -> impl Strategy<Value = Vec<u8>> {
    let shaped = "(t=|v1=|v1,|v1a,|v0=|sha256=|key=|algorithm=HMAC_SHA256|,|;| |[0-9a-f]{64}|[A-Za-z0-9+/]{43}=|[0-9]{1,20}|.){0,40}";
    let headerish = |byte: &u8| *byte >= b' ' && *byte != 0x7f;
    let raw = prop::collection::vec(any::<u8>().prop_filter("a header byte", headerish), 0..200);
    prop_oneof![shaped.prop_map(String::into_bytes), raw, Just(vec![b'1'; 9_000])]
}

fn requests() -> impl Strategy<Value = Request> {
    let headers = prop::collection::vec((prop::sample::select(NAMES.as_slice()), value()), 0..12);
    let body = prop::collection::vec(any::<u8>(), 0..64);
    let url = "(https?://)?([a-z@:0-9\\[\\]]{0,12})(/.{0,6})?(\\?(bodySHA256=)?.{0,70})?";
    (headers, body, url, any::<bool>()).prop_map(|(headers, body, url, form)| {
        let mut pairs: Vec<(HeaderName, HeaderValue)> = headers
            .into_iter()
            .filter_map(|(name, value)| Some((HeaderName::from_static(name), HeaderValue::from_bytes(&value).ok()?)))
            .collect();
        if form {
            let kind = HeaderValue::from_static("application/x-www-form-urlencoded");
            pairs.push((http::header::CONTENT_TYPE, kind));
        }
        let body = Bytes::from(body);
        Request {
            received: 0,
            method: http::Method::POST,
            target: url.clone(),
            url,
            headers: Headers(pairs),
            decoded: body.clone(),
            body,
        }
    })
}

fn all_keys() -> Vec<Keys> {
    let schemes = catalog::all().iter().flat_map(|provider| provider.schemes.iter());
    let secret = Secret::new("a", "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD");
    let shared = Secret { id: Some("k".into()), ..secret.clone() };
    schemes.map(|scheme| Keys::new(scheme, &[secret.clone(), shared.clone()]).expect("keys")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_hostile_passes_or_panics(request in requests(), now in any::<i64>(), tolerance in any::<Option<u32>>()) {
        let options = Options { tolerance, ..Options::default() };
        for keys in all_keys() {
            prop_assert!(verify(&keys, &request, &options, now).is_err());
        }
    }

    #[test]
    fn no_body_makes_a_handshake_panic(body in "[\\[{\"challenge:url_verification,\\\\\\]}\u{0}-\u{ff}]{0,300}", method in "(HEAD|OPTIONS|POST|GET)") {
        let mut request = Request {
            received: 0,
            method: method.parse().expect("a method"),
            target: String::new(),
            url: String::new(),
            headers: Headers::default(),
            body: Bytes::new(),
            decoded: Bytes::from(body.into_bytes()),
        };
        request.headers.0.push((HeaderName::from_static("webhook-request-origin"), HeaderValue::from_static("x")));
        for kind in &handshake::ALL {
            let _ = handshake::answer(&[kind], &request, &Options::default(), || Err(hookonce_core::signature::Refusal::MissingHeader));
        }
    }
}
