//! A header that names the key (Twilio's shared keys): it chooses among the keys that are configured, and nothing else.

use hookonce_core::request::Request;
use hookonce_core::signature::{Refusal, Verified, verify};
use http::HeaderValue;

use crate::case::{self, Case};

const SETTINGS: &str = "x-twilio-webhooks-signature-settings";

fn shared() -> Case {
    case::of("twilio").into_iter().find(|case| case.id == "twilio-shared-key-hmac-sha256-valid").expect("a vector")
}

fn found(case: &Case, settings: Option<&str>) -> Result<Option<String>, Refusal> {
    let mut request: Request = case.request.clone();
    request.headers.0.retain(|(name, _)| name.as_str() != SETTINGS);
    request.headers.0.extend(
        settings.map(|text| (SETTINGS.parse().expect("a name"), HeaderValue::from_str(text).expect("a value"))),
    );
    let verified = verify(&case.keys(), &request, &case.options, case.now);
    verified.map(|v| Verified::secret(&v).map(|name| name.to_string()))
}

#[test]
fn the_named_key_is_the_only_one_that_is_tried() {
    let case = shared();
    let id = "webhooks_sharedkey_01TEST";
    let right = Ok(Some(format!("shared-{id}")));
    assert_eq!(found(&case, Some(&format!("key={id},algorithm=HMAC_SHA256"))), right);
    assert_eq!(found(&case, Some(&format!("algorithm=HMAC_SHA256,key={id}"))), right);
    assert_eq!(found(&case, Some("key=another,algorithm=HMAC_SHA256")), Err(Refusal::UnknownKey));
    // Without the header the keys without an id are tried, and they sign with another hash.
    assert_eq!(found(&case, None), Err(Refusal::MalformedSignature));
    let plain = case::of("twilio").remove(0);
    let refused = found(&plain, Some(&format!("key={id},algorithm=HMAC_SHA256")));
    assert_eq!(refused, Err(Refusal::UnknownKey), "a key without an id is not tried where one is named");
}

#[test]
fn s4_the_sender_may_only_agree_on_the_algorithm() {
    let case = shared();
    for algorithm in ["", ",algorithm=HMAC_SHA1", ",algorithm=none", ",algorithm=HMAC_SHA2567", ",HMAC_SHA256"] {
        let settings = format!("key=webhooks_sharedkey_01TEST{algorithm}");
        assert_eq!(found(&case, Some(&settings)), Err(Refusal::UnsupportedAlgorithm), "{settings}");
    }
    for settings in ["algorithm=HMAC_SHA256", "x", "key=webhooks_sharedkey_01TEST,algorithm=HMAC_SHA256,key=b"] {
        assert_eq!(found(&case, Some(settings)), Err(Refusal::MalformedHeader), "{settings}");
    }
}
