//! What is no key, and which algorithm a key belongs to: the configuration says it, never the request (S4, S9, F07 B).

use hookonce_core::signature::{
    Carrier, KeyError, Keys, MAX_SECRETS, Options, Parts, Refusal, Scheme, SchemeError, Secret, Signed, Use, catalog,
    sign, verify,
};
use hookonce_core::time::SECOND;

use crate::case;

fn keys(scheme: &str, secrets: &[Secret]) -> Result<(), KeyError> {
    Keys::new(case::scheme(scheme), secrets).map(|_| ())
}

#[test]
fn f07_b_a_missing_or_blank_secret_is_no_key() {
    for provider in catalog::all() {
        for scheme in provider.schemes {
            assert_eq!(keys(&scheme.name, &[]), Err(KeyError::Missing));
            for blank in ["", "   ", "\n", "\t \r\n"] {
                let secrets = [Secret::new("live", "a right secret, perhaps"), Secret::new("next", blank)];
                let found = keys(&scheme.name, &secrets[1..]);
                assert_eq!(found, Err(KeyError::Blank("next".into())), "{}", scheme.name);
                assert!(keys(&scheme.name, &secrets).is_err(), "one bad secret is not passed over");
            }
        }
    }
    // The prefix alone decodes to nothing, and that is the key of length 0 again.
    assert!(matches!(keys("standard-webhooks", &[Secret::new("a", "whsec_")]), Err(KeyError::Form { .. })));
}

#[test]
fn a_secret_of_another_form_is_refused_without_showing_it() {
    for secret in ["whsec_!!!", "not base64", "whpk_AAAA", "whsk_AAAA", "whpk_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"] {
        let error = keys("standard-webhooks", &[Secret::new("live", secret)]).expect_err(secret);
        let (shown, named) = (format!("{error} {error:?}"), "secret `live` is no");
        assert!(!shown.contains(secret) && shown.contains(named), "{shown}");
    }
    // A public key whose signatures anybody can make.
    let weak = Secret::new("weak", "whpk_AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=");
    assert!(matches!(keys("standard-webhooks", &[weak]), Err(KeyError::Form { .. })));
    let many: Vec<Secret> = (0..=MAX_SECRETS).map(|n| Secret::new(n.to_string(), "secret")).collect();
    assert_eq!(keys("github", &many), Err(KeyError::TooMany));
    assert_eq!(keys("github", &many[1..]), Ok(()));
}

#[test]
fn a_verify_token_of_a_handshake_is_never_a_key() {
    let case = case::of("github").remove(0);
    let token = Secret { use_: Use::Handshake, ..case.secrets[0].clone() };
    assert_eq!(keys("github", std::slice::from_ref(&token)), Err(KeyError::Missing));
    let keys = Keys::new(case::scheme("github"), &[token, Secret::new("other", "other")]).expect("keys");
    assert_eq!(verify(&keys, &case.request, &case.options, case.now), Err(Refusal::SignatureMismatch));
}

#[test]
fn s4_a_public_key_is_not_the_secret_of_an_hmac() {
    let vectors = case::of("standard-webhooks");
    let case = vectors.iter().find(|case| case.id.ends_with("ed25519-v1a-valid")).expect("a vector");
    let public = "1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=";
    let attacker = Keys::new(case::scheme("standard-webhooks"), &[Secret::new("guess", public)]).expect("keys");
    let mut forged = case.request.clone();
    forged.headers.0.retain(|(name, _)| name != "webhook-signature" && name != "webhook-timestamp");
    forged.headers.0.extend(sign(&attacker, &Parts::of(&forged), case.now).expect("a signature"));
    assert!(verify(&attacker, &forged, &case.options, case.now).is_ok());
    assert_eq!(verify(&case.keys(), &forged, &case.options, case.now), Err(Refusal::MalformedSignature));
}

#[test]
fn s9_a_secret_counts_from_its_first_second_to_its_last() {
    let case = case::of("github").remove(0);
    let secret = Secret {
        not_before: Some((case.now - 10) * SECOND),
        not_after: Some((case.now + 10) * SECOND),
        ..case.secrets[0].clone()
    };
    let keys = Keys::new(case::scheme("github"), &[secret]).expect("keys");
    let at = |now: i64| verify(&keys, &case.request, &Options::default(), now);
    for (offset, active) in [(-11, false), (-10, true), (10, true), (11, false)] {
        assert_eq!(at(case.now + offset).is_ok(), active, "{offset}");
    }
    assert_eq!(at(case.now + 11), Err(Refusal::UnknownKey));
    assert_eq!(at(case.now).expect("valid").secret().map(|name| &**name), Some("secret-0"));
}

#[test]
fn a_secret_bound_to_content_signs_for_that_content_only() {
    let case = case::of("crmbridge").remove(0);
    let bound = |name: &str, when: &[(&str, &str)]| Secret {
        name: name.into(),
        when: when.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect(),
        ..case.secrets[0].clone()
    };
    let found = |secrets: &[Secret]| {
        let keys = Keys::new(case::scheme("crmbridge"), secrets).expect("keys");
        verify(&keys, &case.request, &case.options, case.now).map(|v| v.secret().map(|name| name.to_string()))
    };
    let named = |name: &str| Ok(Some(name.to_owned()));
    let (ours, theirs) =
        (bound("ours", &[("$.Business", "17"), ("$.Location", "3")]), bound("theirs", &[("$.Business", "18")]));
    assert_eq!(found(std::slice::from_ref(&ours)), named("ours"));
    assert_eq!(found(std::slice::from_ref(&theirs)), Err(Refusal::ClaimMismatch));
    assert_eq!(found(&[theirs.clone(), ours]), named("ours"));
    assert_eq!(found(&[theirs, Secret::new("other", "other")]), Err(Refusal::ClaimMismatch));
    assert_eq!(found(&[bound("absent", &[("$.Tenant", "17")])]), Err(Refusal::ClaimMismatch));
    let many = Keys::new(case::scheme("crmbridge"), &[bound("many", &[("$.Data[*]", "17")])]);
    assert!(matches!(many, Err(KeyError::When { .. })), "{many:?}");
}

#[test]
fn debug_shows_names_and_nothing_else() {
    let case = case::of("stripe").remove(0);
    let shown = format!("{:?} {:?}", case.keys(), case.secrets);
    assert!(shown.contains("secret-0") && !shown.contains("whsec_test"), "{shown}");
}

#[test]
fn every_scheme_of_the_catalog_is_sound_and_every_mistake_is_named() {
    for provider in catalog::all() {
        for scheme in provider.schemes {
            assert_eq!(scheme.check(), [], "{}", scheme.name);
        }
    }
    let broken = |change: fn(&mut Scheme)| {
        let mut scheme = case::scheme("stripe").clone();
        change(&mut scheme);
        scheme.check()
    };
    assert_eq!(
        broken(|s| s.carrier = Carrier::Header("Stripe Signature".into())),
        [SchemeError::Header("Stripe Signature".into())]
    );
    assert_eq!(broken(|s| s.list = None), [SchemeError::NoList]);
    assert_eq!(broken(|s| s.timestamp = None), [SchemeError::NoTimestamp]);
    assert_eq!(broken(|s| s.signed = Signed::Template("{body}".into())), [SchemeError::UnsignedTimestamp]);
    let both = broken(|s| (s.list, s.signed) = (None, Signed::Template("{nonce}".into())));
    assert_eq!(both, [SchemeError::NoList, SchemeError::Placeholder("nonce".into())]);
}
