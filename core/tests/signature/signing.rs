//! A sender of ours makes the very bytes that the providers make: every valid vector is signed again.

use crate::case::{self, Case};
use hookonce_core::request::Request;
use hookonce_core::signature::{
    Carrier, Encoding, Hash, Keys, Options, Parts, Place, Scheme, Secret, SignError, Timestamp, Unit, sign, verify,
};

/// The request as it was before somebody signed it.
fn unsigned(case: &Case) -> Request {
    let scheme = case::scheme(&case.scheme);
    let mut ours = vec![case::header(scheme)];
    if let Some(Timestamp { place: Place::Header(name), .. }) = &scheme.timestamp {
        ours.push(name);
    }
    if let Some(selector) = &scheme.selector {
        ours.push(&selector.header);
    }
    let mut request = case.request.clone();
    request.headers.0.retain(|(name, _)| !ours.iter().any(|own| name.as_str().eq_ignore_ascii_case(own)));
    request
}

/// When the sender says that it signed.
fn made(case: &Case) -> i64 {
    let value = |name| String::from_utf8(case.request.headers.get(name).unwrap_or_default().to_vec()).expect("text");
    let text = match &case::scheme(&case.scheme).timestamp {
        Some(Timestamp { place: Place::Header(name), .. }) => value(name),
        Some(Timestamp { place: Place::Entry(_), .. }) => {
            let header = value(case::header(case::scheme(&case.scheme)));
            header.split(',').find_map(|entry| entry.strip_prefix("t=")).expect("a time").to_owned()
        }
        None => return case.now,
    };
    text.parse().expect("seconds")
}

#[test]
fn every_valid_vector_is_signed_as_its_sender_did() {
    let mut signed = 0;
    for case in Case::valid() {
        let mut request = unsigned(&case);
        let headers = match sign(&case.keys(), &Parts::of(&request), made(&case)) {
            Err(SignError::NoKey) if case.id.contains("ed25519") => continue,
            other => other.unwrap_or_else(|error| panic!("{}: {error}", case.id)),
        };
        for (name, value) in &headers {
            let theirs = case.request.headers.get(name.as_str()).unwrap_or_default();
            let ours = value.to_str().expect("text");
            let theirs = String::from_utf8(theirs.to_vec()).expect("text");
            let entries = |text: &str| text.split([' ', ',']).map(str::to_owned).collect::<Vec<_>>();
            let common = entries(ours).iter().any(|entry| entries(&theirs).contains(entry));
            // Ports and port-less URLs are as good as each other; the sender of these vectors chose the other one.
            assert!(common || case.scheme == "twilio", "{}: {ours} is not in {theirs}", case.id);
        }
        request.headers.0.extend(headers);
        assert!(verify(&case.keys(), &request, &case.options, case.now).is_ok(), "{}", case.id);
        signed += 1;
    }
    assert!(signed >= 30, "{signed}");
}

#[test]
fn a_key_pair_signs_with_its_private_half_only() {
    let scheme = case::scheme("standard-webhooks");
    let private = Secret::new("pair", "whsk_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
    let public = Secret::new("pair", "whpk_A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=");
    let mut request = case::of("github").remove(0).request;
    request.headers.0.push(("webhook-id".parse().expect("a name"), "msg_1".parse().expect("a value")));
    let keys = |secret: &Secret| Keys::new(scheme, std::slice::from_ref(secret)).expect("keys");
    assert_eq!(sign(&keys(&public), &Parts::of(&request), 1_767_225_600), Err(SignError::NoKey));
    request.headers.0.extend(sign(&keys(&private), &Parts::of(&request), 1_767_225_600).expect("a signature"));
    assert!(verify(&keys(&public), &request, &Options::default(), 1_767_225_600).is_ok());
    assert!(verify(&keys(&private), &request, &Options::default(), 1_767_225_600).is_ok());
}

#[test]
fn every_active_key_signs_where_the_header_is_a_list() {
    let secrets = [Secret::new("old", "one"), Secret::new("new", "two")];
    let request = case::of("stripe").remove(0).request;
    let stripe = Keys::new(case::scheme("stripe"), &secrets).expect("keys");
    let header = &sign(&stripe, &Parts::of(&request), 7).expect("a signature")[0].1;
    assert_eq!(header.to_str().expect("text").matches("v1=").count(), 2);
    let github = Keys::new(case::scheme("github"), &secrets).expect("keys");
    let header = &sign(&github, &Parts::of(&request), 7).expect("a signature")[0].1;
    assert_eq!(header.to_str().expect("text").matches("sha256=").count(), 1);
}

#[test]
fn every_unit_of_time_can_be_written_and_read() {
    for unit in [Unit::Seconds, Unit::Milliseconds, Unit::Rfc3339] {
        let mut scheme = Scheme::hmac(
            "own".into(),
            Hash::Sha512,
            Carrier::Header("X-Signature".into()),
            "".into(),
            Encoding::Base64,
            "{method} {path}?{query} {header:X-Id} {timestamp}{body}".into(),
        );
        let place = Place::Header("X-Time".into());
        scheme.timestamp = Some(Timestamp { place, unit, past: Some(5), future: None });
        let keys = Keys::new(&scheme, &[Secret::new("a", "secret")]).expect("keys");
        let mut request = case::of("twilio").remove(0).request;
        request.headers.0.push(("x-id".parse().expect("a name"), "7".parse().expect("a value")));
        request.headers.0.extend(sign(&keys, &Parts::of(&request), 1_767_225_600).expect("a signature"));
        for (now, fresh) in
            [(1_767_225_605, true), (1_767_225_606, false), (1_767_225_540, true), (1_767_225_539, false)]
        {
            assert_eq!(verify(&keys, &request, &Options::default(), now).is_ok(), fresh, "{unit:?} at {now}");
        }
    }
}
