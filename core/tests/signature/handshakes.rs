//! Probes and challenges: the vectors of the providers, and field case F10, parts 1 to 3, where the parts that need a
//! socket or a store are left to the server's tests.

use crate::case::{self, Case};
use bytes::Bytes;
use hookonce_core::request::{Headers, Request};
use hookonce_core::signature::handshake::{self, Answer, Handshake, MAX_CHALLENGE_BODY, MAX_ECHO, Refused};
use hookonce_core::signature::{
    Carrier, Encoding, Hash, Keys, Options, Parts, Refusal, Scheme, Secret, Verified, catalog, sign, verify,
};

/// A challenge is checked with the scheme of its provider: what is signed is signed like an event.
fn answer(case: &Case) -> Result<Answer, Refused> {
    let kind = handshake::find(&case.scheme).expect("a kind of handshake");
    let provider = catalog::all().iter().find(|p| p.handshakes.contains(&kind.name)).expect("a provider");
    let verify = || {
        verify(&Keys::new(provider.schemes[0], &case.secrets).expect("keys"), &case.request, &case.options, case.now)
    };
    let refused = Refused { status: 403, reason: Refusal::ChallengeRefused };
    handshake::answer(&[kind], &case.request, &case.options, verify).unwrap_or(Err(refused))
}

#[test]
fn slack_vectors() {
    let cases: Vec<Case> = case::of("slack").into_iter().filter(|case| case.kind == "challenge").collect();
    assert_eq!(cases.len(), 2);
    for case in cases {
        match answer(&case) {
            Ok(answer) => {
                assert!(case.valid, "{}", case.id);
                assert_eq!(case.response["status"], answer.status);
                assert_eq!(case.response["body"], answer.body);
            }
            Err(refused) => {
                assert!(case.reasons.contains(&refused.reason), "{}", case.id);
                assert_eq!(refused.status, 401, "a challenge with a bad signature");
            }
        }
    }
}

const NAMES: [&str; 3] = ["head", "options-origin", "json-challenge"];

fn ask(
    method: &str,
    headers: &[(&str, &str)],
    body: &str,
    proof: Result<Verified, Refusal>,
) -> Option<Result<Answer, Refused>> {
    let kinds: Vec<&Handshake> = NAMES.iter().map(|name| handshake::find(name).expect("a kind")).collect();
    let options = Options { allowed_origins: vec!["hooks.example.com".to_owned()], ..Options::default() };
    handshake::answer(&kinds, &request(method, headers, body), &options, || proof)
}

fn request(method: &str, headers: &[(&str, &str)], body: &str) -> Request {
    let pairs = headers.iter().map(|(n, v)| (n.parse().expect("a name"), v.parse().expect("a value")));
    Request {
        received: 0,
        method: method.parse().expect("a method"),
        target: "/in/x".to_owned(),
        url: "https://hooks.example.com/in/x".to_owned(),
        headers: Headers(pairs.collect()),
        body: Bytes::copy_from_slice(body.as_bytes()),
        decoded: Bytes::copy_from_slice(body.as_bytes()),
    }
}

fn never() -> Result<Verified, Refusal> {
    Err(Refusal::SignatureMismatch)
}

#[test]
fn f10_1_head_is_answered_and_get_is_no_handshake() {
    let empty = Answer { status: 200, headers: Vec::new(), body: String::new() };
    assert_eq!(ask("HEAD", &[], "", never()), Some(Ok(empty)));
    assert_eq!(ask("GET", &[], "", never()), None);
    let head = request("HEAD", &[], "");
    assert_eq!(handshake::answer(&[], &head, &Options::default(), never), None, "only where it is switched on");
}

#[test]
fn f10_2_an_origin_is_allowed_as_a_whole_or_not_at_all() {
    let origin = |name| ask("OPTIONS", &[("WebHook-Request-Origin", name)], "", never());
    let allowed = origin("hooks.example.com").expect("a handshake").expect("an answer");
    assert_eq!(allowed.status, 200);
    assert!(allowed.headers.contains(&("webhook-allowed-origin", "hooks.example.com".to_owned())));
    for name in ["hooks.example.com.evil.test", "hooks.example.co", "evil.hooks.example.com", "*", "HOOKS.example.com "]
    {
        let refused = Refused { status: 403, reason: Refusal::ChallengeRefused };
        assert_eq!(origin(name), Some(Err(refused)), "{name}");
    }
    assert_eq!(ask("OPTIONS", &[], "", never()), None, "without an origin it is a wrong method");
    let twice = [("WebHook-Request-Origin", "hooks.example.com"); 2];
    assert_eq!(ask("OPTIONS", &twice, "", never()), None);
}

#[test]
fn f10_3_a_challenge_is_echoed_to_whom_the_source_trusts() {
    let body = r#"{"type":"url_verification","challenge":"3eZbrw1a"}"#;
    let scheme = Scheme::hmac(
        "gh".into(),
        Hash::Sha256,
        Carrier::Header("X-Hub-Signature-256".into()),
        "sha256=".into(),
        Encoding::Hex,
        "{body}".into(),
    );
    let keys = Keys::new(&scheme, &[Secret::new("a", "field-test-secret-A-0123456789abcdef")]).expect("keys");
    let mut signed = request("POST", &[], body);
    let unsigned = verify(&keys, &signed, &Options::default(), 0);
    signed.headers.0.extend(sign(&keys, &Parts::of(&signed), 0).expect("a signature"));
    let proof = verify(&keys, &signed, &Options::default(), 0);

    let echoed = ask("POST", &[], body, proof).expect("a handshake").expect("an answer");
    assert_eq!((echoed.status, &*echoed.body), (200, "3eZbrw1a"));
    assert!(echoed.headers.contains(&("content-type", "text/plain; charset=utf-8".to_owned())));
    assert!(echoed.headers.contains(&("x-content-type-options", "nosniff".to_owned())));
    let refused = Refused { status: 401, reason: Refusal::MissingHeader };
    assert_eq!(ask("POST", &[], body, unsigned), Some(Err(refused)));
    assert!(
        ask("POST", &[], body, Ok(Verified::unsigned())).expect("a handshake").is_ok(),
        "a source without signatures"
    );
}

#[test]
fn an_event_with_a_challenge_in_it_stays_an_event() {
    let long = format!(r#"{{"type":"url_verification","challenge":"x","pad":"{}"}}"#, "x".repeat(MAX_CHALLENGE_BODY));
    for body in [
        "",
        "challenge",
        "[]",
        r#"{"type":"url_verification"}"#,
        r#"{"type":"url_verification","challenge":7}"#,
        r#"{"type":"task.challenge","challenge":"x"}"#,
        r#"{"challenge":"x","event":{"type":"create_pulse"}}"#,
        r#"{"event":{"type":"url_verification","challenge":"x"}}"#,
        &long,
        &"[".repeat(9_000),
    ] {
        assert_eq!(ask("POST", &[], body, Ok(Verified::unsigned())), None, "{body:.60}");
    }
}

#[test]
fn what_is_echoed_is_short() {
    let echo = |len: usize| {
        let body = format!(r#"{{"challenge":"{}"}}"#, "c".repeat(len));
        ask("POST", &[], &body, Ok(Verified::unsigned())).expect("a handshake")
    };
    assert!(echo(MAX_ECHO).is_ok());
    let refused = Refused { status: 403, reason: Refusal::ChallengeRefused };
    assert_eq!(echo(MAX_ECHO + 1), Err(refused));
    assert_eq!(echo(0), Err(refused));
}
