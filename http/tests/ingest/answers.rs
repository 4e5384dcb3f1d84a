//! What each sender is told, and what no stranger is told (F07, F10, S2, S10).

use std::sync::atomic::Ordering::SeqCst;

use hookonce_core::identify::RuleSpec;
use hookonce_core::signature::{Keys, Secret, catalog, handshake};
use hookonce_core::source::Respond;
use hookonce_core::time::SECOND;
use hookonce_http::{Limits, Rate, Source, Verification};
use http::Method;

use crate::bed::{Answer, Bed, SECRET_A, T0, gh, push, request, signature, source};

fn body_key(name: &str, verification: Verification) -> Source {
    let rule = RuleSpec { key: Some(vec!["body-sha256".to_owned()]), ..RuleSpec::default() };
    source(name, verification, &rule)
}

/// Everything that a stranger could compare.
fn told(answer: &Answer) -> String {
    let lines = answer.head.lines().filter(|line| !line.starts_with("date:")).collect::<Vec<_>>().join("\n");
    format!("{lines}\n{}", String::from_utf8_lossy(&answer.body))
}

#[tokio::test]
async fn f07_a_every_wrong_signature_is_told_the_same() {
    let bed = Bed::new(vec![gh()]);
    let right = signature(b"{}");
    let hex = right.strip_prefix("sha256=").unwrap();
    let upper = "sha256=E8F5AC4EAA21CAAC19429F0ED302BACCC996CD14C030D3311D11427A16244E7C";
    let mut wrong: Vec<String> = ["", " ", "sha256=", "sha256=abc", hex, upper].map(str::to_owned).to_vec();
    wrong.push(format!("sha256={}", &hex[1..]));
    wrong.push(format!("sha256={hex}0"));
    wrong.push(format!("sha256={}", "g".repeat(64)));
    wrong.push(format!("sha1={}", &hex[..40]));
    wrong.push(format!("v0={hex}"));
    wrong.push("x".repeat(8000));
    for length in 0..right.len() {
        wrong.push(right[..length].to_owned());
    }
    let absent = bed.post("/in/gh", &[("X-GitHub-Delivery", "d-1")], b"{}").await;
    assert_eq!(absent.status, 401);
    for value in &wrong {
        let headers = [("X-GitHub-Delivery", "d-1"), ("X-Hub-Signature-256", value)];
        assert_eq!(told(&bed.post("/in/gh", &headers, b"{}").await), told(&absent), "{value}");
    }
    let twice = [("X-GitHub-Delivery", "d-1"), ("X-Hub-Signature-256", &*right), ("X-Hub-Signature-256", &*right)];
    assert_eq!(told(&bed.post("/in/gh", &twice, b"{}").await), told(&absent), "a right one, twice");
    assert!(bed.memory.stored().is_empty());

    assert_eq!(bed.push("d-1", b"{}").await.status, 200, "it still serves, and the id is not used up (F12 1)");
    assert_eq!(bed.memory.events(), 1);
}

#[tokio::test]
async fn f07_b_a_source_without_its_secret_accepts_nothing() {
    let bed = Bed::new(vec![body_key("crm", Verification::Missing("no secret to verify with".into())), gh()]);
    let empty_key = "sha256=22f8eea909400af98adf3681a9f31923ef6b7fcba4abb553d92823a3e9d5c25e";
    let answer = bed.post("/in/crm", &[("X-Hub-Signature-256", empty_key)], b"{}").await;
    assert_eq!((answer.status, answer.header("retry-after")), (503, Some("5")));
    assert_eq!(bed.push("d-1", b"{}").await.status, 200, "the others run");
    assert_eq!(bed.memory.stored().len(), 1);
}

/// A refusal would tell the provider that it is wrong, and it would send that event no more for long.
#[tokio::test]
async fn a_source_whose_last_secret_has_expired_is_our_trouble() {
    let until = (T0 + 10) * SECOND;
    let secret = Secret { not_after: Some(until), ..Secret::new("a", SECRET_A) };
    let keys = Keys::new(catalog::GITHUB.schemes[0], &[secret]).unwrap();
    let bed = Bed::new(vec![Source { verification: Verification::Keys(Box::new(keys)), ..gh() }]);
    bed.memory.now.store(until, SeqCst);
    assert_eq!(bed.push("d-1", b"{}").await.status, 200);
    bed.memory.now.store(until + SECOND, SeqCst);
    let answer = bed.push("d-2", b"{}").await;
    assert_eq!((answer.status, answer.header("retry-after")), (503, Some("5")));
    assert_eq!(bed.post("/in/gh", &[], b"{}").await.status, 503, "nobody is told more than that");
    assert!(bed.memory.reasons().is_empty(), "nothing was wrong with the requests");
}

#[tokio::test]
async fn an_unknown_source_is_a_404_that_says_nothing() {
    let bed = Bed::new(vec![gh()]);
    let first = bed.post("/in/none", &[], b"{}").await;
    assert_eq!(first.status, 404);
    for path in
        ["/", "/in", "/in/", "/in//", "/in/gh/x", "/in/GH", "/in/g%68", "/in/gh//", "/readyz", "/metrics", "/v1/events"]
    {
        assert_eq!(told(&bed.post(path, &[], b"{}").await), told(&first), "{path}");
    }
}

#[tokio::test]
async fn another_method_is_a_405_that_names_the_right_ones() {
    let mut sms = body_key("sms", Verification::None);
    sms.methods = vec![Method::POST, Method::GET];
    let bed = Bed::new(vec![gh(), sms]);
    for method in ["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "TRACE", "BREW"] {
        let answer = bed.ask(&request(method, "/in/gh", &[], b"")).await;
        assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")), "{method}");
    }
    let answer = bed.ask(&request("PUT", "/in/sms", &[], b"")).await;
    assert_eq!((answer.status, answer.header("allow")), (405, Some("POST, GET")));
    assert_eq!(bed.ask(&request("GET", "/in/sms?id=1", &[], b"")).await.status, 200);
    assert_eq!(bed.memory.stored()[0].target, "GET /in/sms?id=1");
}

fn probed() -> Source {
    let mut source = gh();
    source.handshakes = ["head", "options-origin", "json-challenge"].map(|n| handshake::find(n).unwrap()).to_vec();
    source.options.allowed_origins = vec!["hooks.example.com".to_owned()];
    source.respond = Respond { body: "[accepted]".into(), ..Respond::default() };
    source
}

#[tokio::test]
async fn f10_1_2_3_probes_are_answered_and_leave_no_row() {
    let bed = Bed::new(vec![probed()]);
    let head = bed.ask(&request("HEAD", "/in/gh", &[], b"")).await;
    assert_eq!((head.status, &head.body[..]), (200, &b""[..]));
    assert_eq!(bed.ask(&request("GET", "/in/gh", &[], b"")).await.status, 405);

    let origin = |name| request("OPTIONS", "/in/gh", &[("WebHook-Request-Origin", name)], b"");
    let good = bed.ask(&origin("hooks.example.com")).await;
    assert_eq!((good.status, good.header("webhook-allowed-origin")), (200, Some("hooks.example.com")));
    let evil = bed.ask(&origin("hooks.example.com.evil.test")).await;
    assert_eq!((evil.status, evil.header("webhook-allowed-origin")), (403, None));

    let challenge = br#"{"type":"url_verification","challenge":"3eZbrw1a"}"#;
    let echo = bed.push("d-1", challenge).await;
    assert_eq!((echo.status, &echo.body[..]), (200, &b"3eZbrw1a"[..]));
    assert_eq!(echo.header("x-content-type-options"), Some("nosniff"));
    assert!(echo.header("content-type").unwrap().starts_with("text/plain"));
    assert_eq!(bed.post("/in/gh", &[], challenge).await.status, 401);
    assert!(bed.memory.stored().is_empty());
}

#[tokio::test]
async fn f10_4_the_content_type_decides_nothing() {
    let bed = Bed::new(vec![probed()]);
    let signature = signature(b"{}");
    for (n, kind) in
        [Some("text/plain; charset=UTF-8"), None, Some("application/vnd.api+json"), Some("nonsense")].iter().enumerate()
    {
        let id = format!("d-{n}");
        let mut headers = vec![("X-GitHub-Delivery", &*id), ("X-Hub-Signature-256", &*signature)];
        headers.extend(kind.map(|kind| ("Content-Type", kind)));
        assert_eq!(bed.post("/in/gh", &headers, b"{}").await.status, 200, "{kind:?}");
    }
    assert_eq!(bed.memory.events(), 4);
}

#[tokio::test]
async fn f10_5_6_the_same_answer_with_a_slash_for_copies_and_for_what_nobody_wants() {
    let bed = Bed::new(vec![probed()]);
    let told = |answer: Answer| {
        let verdict = answer.header("hookonce-verdict").map(str::to_owned);
        let event = answer.header("hookonce-event").map(str::to_owned);
        (answer.status, String::from_utf8(answer.body).unwrap(), verdict.unwrap(), event)
    };
    let accepted = told(bed.ask(&push("/in/gh/", "d-1", b"{}")).await);
    let duplicate = told(bed.push("d-1", b"{}").await);
    let conflict = told(bed.push("d-1", b"[]").await);
    let unmapped =
        told(bed.ask(&request("POST", "/in/gh", &[("X-Hub-Signature-256", &*signature(b"{}"))], b"{}")).await);
    let event = accepted.3.clone();
    assert!(event.as_deref().unwrap().starts_with("evt_"));
    for (answer, verdict, event) in [
        (accepted, "accepted", event.clone()),
        (duplicate, "duplicate", event.clone()),
        (conflict, "conflict", event),
        (unmapped, "unmapped", None),
    ] {
        assert_eq!(answer, (200, "[accepted]".to_owned(), verdict.to_owned(), event));
    }
}

#[tokio::test]
async fn answers_of_a_source_are_its_own() {
    let mut strict = gh();
    strict.respond = Respond {
        status: 202,
        body: "<ok/>".into(),
        content_type: "text/xml".into(),
        on_conflict: 409,
        on_unmapped: 400,
        retry_429: false,
    };
    let bed = Bed::new(vec![strict]);
    let first = bed.push("d-1", b"{}").await;
    assert_eq!((first.status, first.header("content-type"), &first.body[..]), (202, Some("text/xml"), &b"<ok/>"[..]));
    assert_eq!(bed.push("d-1", b"[]").await.status, 409);
    let unmapped = request("POST", "/in/gh", &[("X-Hub-Signature-256", &*signature(b"{}"))], b"{}");
    assert_eq!(bed.ask(&unmapped).await.status, 400);
}

#[tokio::test]
async fn f12_2_trouble_of_the_store_is_a_503_and_uses_up_nothing() {
    let bed = Bed::new(vec![gh()]);
    bed.memory.broken.store(true, SeqCst);
    let answer = bed.push("d-b2", b"{}").await;
    assert_eq!((answer.status, answer.header("retry-after")), (503, Some("5")));
    assert!(!told(&answer).contains("disk"), "{answer:?}");
    bed.memory.broken.store(false, SeqCst);
    let healed = bed.push("d-b2", b"{}").await;
    assert_eq!((healed.status, healed.header("hookonce-verdict")), (200, Some("accepted")));
}

#[tokio::test]
async fn too_many_requests_of_one_address_wait_in_the_words_of_their_provider() {
    let mut polite = body_key("polite", Verification::None);
    polite.respond.retry_429 = true;
    let limits = Limits { address_rate: Some(Rate { per_second: 0.0, burst: 2.0 }), ..Limits::default() };
    let bed = Bed::with(vec![gh(), polite], limits);
    assert_eq!(bed.push("d-1", b"{}").await.status, 200);
    assert_eq!(bed.push("d-2", b"{}").await.status, 200);
    let limited = bed.push("d-3", b"{}").await;
    assert_eq!((limited.status, limited.header("retry-after")), (503, Some("5")));
    assert_eq!(bed.post("/in/polite", &[], b"{}").await.status, 429);
    assert_eq!(bed.memory.events(), 2);
}

#[tokio::test]
async fn other_sources_take_effect_at_once_and_as_a_whole() {
    let bed = Bed::new(vec![gh()]);
    assert_eq!(bed.post("/in/new", &[], b"{}").await.status, 404);
    bed.ingest.replace_sources(vec![body_key("new", Verification::None)]);
    assert_eq!(bed.post("/in/new", &[], b"{}").await.status, 200);
    assert_eq!(bed.push("d-1", b"{}").await.status, 404);
}
