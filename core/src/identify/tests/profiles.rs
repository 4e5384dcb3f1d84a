//! The providers' own identity: every profile compiles, and reads what its provider sends.

use super::*;
use crate::provider::{Fallback, IdGuard};
use crate::signature::catalog;

fn profile(id: &str, coverage: Coverage) -> Rule {
    let spec = RuleSpec { coverage, ..RuleSpec::default() };
    compile(&spec.with_defaults(catalog::provider(id).unwrap()))
}

#[test]
fn every_profile_compiles() {
    for provider in catalog::all() {
        let spec = RuleSpec::default().with_defaults(provider);
        Rule::compile(provider.id, provider.id, &spec).unwrap_or_else(|errors| panic!("{}: {errors:?}", provider.id));
    }
}

#[test]
fn what_the_user_writes_wins_and_leaves_the_rest() {
    let crm = catalog::provider("crmbridge").unwrap();
    let rule = compile(&keyed("{Entity}:{PrimaryKey}").with_defaults(crm));
    let item =
        item(&rule, &request(r#"{"Business":17,"Location":3,"Entity":"Patient","Action":"Update","PrimaryKey":42}"#));
    assert_eq!((item.key.text.as_str(), item.kind.as_str()), ("Patient:42", "Patient.Update"));
    assert_eq!(item.aggregate.as_deref(), Some("17:3:Patient:42"));
}

#[test]
fn github_events_of_both_content_types() {
    let rule = profile("github", Coverage::default());
    assert_eq!((rule.fallback, rule.id_guard), (Fallback::Unmapped, IdGuard::Hold));
    let headers = [("X-GitHub-Delivery", "d-1"), ("X-GitHub-Hook-ID", "9"), ("X-GitHub-Event", "issues")];
    let json = r#"{"action":"opened","issue":{"id":5,"updated_at":"2025-12-31T23:00:00Z"},"repository":{"id":7}}"#;
    let item = item(&rule, &with_headers(request(json), &headers));
    assert_eq!((item.key.text.as_str(), item.kind.as_str()), ("d-1", "issues.opened"));
    assert_eq!((item.aggregate.as_deref(), item.event_time), (Some("7:issue:5"), Some(T0 - 3_600_000_000)));
    assert_eq!(item.provider_delivery.as_deref(), Some("d-1:9"));
    let form = with_headers(request("payload=%7B%22action%22%3A%22opened%22%7D"), &headers);
    assert_eq!(super::item(&rule, &form).kind, "issues.opened");
}

#[test]
fn stripe_knows_a_retry_whose_pending_count_has_changed() {
    let rule = profile("stripe", Coverage::default());
    let of = |pending: u32, status: &str| {
        let object = format!(r#"{{"id":"pi_1","object":"payment_intent","status":"{status}"}}"#);
        let body = format!(
            r#"{{"id":"evt_1","created":1767225600,"data":{{"object":{object}}},"pending_webhooks":{pending}}}"#
        );
        item(&rule, &request(body))
    };
    let (first, retry, altered) = (of(2, "paid"), of(1, "paid"), of(2, "open"));
    assert_eq!(first.aggregate.as_deref(), Some("payment_intent:pi_1"));
    assert_eq!((first.digest, first.fingerprint), (retry.digest, retry.fingerprint));
    assert_ne!(first.body_hash, retry.body_hash);
    assert_ne!(first.fingerprint, altered.fingerprint);
}

#[test]
fn twilio_forms_without_a_token_fall_back_to_their_bytes() {
    let rule = profile("twilio", Coverage { target: true, ..Coverage::default() });
    let body = "AccountSid=AC1&MessageSid=SM1&MessageStatus=delivered";
    let with_token = item(&rule, &with_headers(request(body), &[("I-Twilio-Idempotency-Token", "t")]));
    assert_eq!((with_token.key.text.as_str(), with_token.kind.as_str()), ("t", "message.delivered"));
    assert_eq!(with_token.aggregate.as_deref(), Some("AC1:message:SM1"));
    let without = item(&rule, &request(body));
    assert_eq!((without.key.kind.name(), without.guard), ("body", None));
}

#[test]
fn twilio_types_are_named_by_what_is_there() {
    let rule = profile("twilio", Coverage { target: true, ..Coverage::default() });
    for (body, kind) in [
        ("MessageSid=SM1&MessageStatus=sent&SmsStatus=queued", "message.sent"),
        ("SmsSid=SM1&SmsStatus=received", "message.received"),
        ("CallSid=CA1&CallStatus=ringing", "call.ringing"),
        ("MessageSid=SM1&Body=hi", "message.received"),
        ("SmsSid=SM1&CallSid=CA1", "message.received"),
        ("CallSid=CA1&Digits=1", "call"),
        ("MessageSid=&CallSid=CA1", "call"),
        ("Digits=1", "unknown"),
    ] {
        assert_eq!(item(&rule, &request(body)).kind, kind, "{body}");
    }
}
