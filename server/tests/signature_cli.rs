//! `hookonce verify`, `sign` and `providers` as a person and a script see them: streams, JSON, exit codes.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

const SECRET: &str = "whsec_ZmllbGQtc3cta2V5LUEtMDEyMzQ1Njc4OWFiY2RlZiE=";

struct Ran {
    code: i32,
    stdout: String,
    stderr: String,
}

fn hookonce(args: &[&str], stdin: &str) -> Ran {
    let mut child = Command::new(env!("CARGO_BIN_EXE_hookonce"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary");
    // Whoever does not read its input closes it; what counts is what it says.
    let _ = child.stdin.take().expect("stdin").write_all(stdin.as_bytes());
    let output = child.wait_with_output().expect("an end");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    Ran { code: output.status.code().expect("a code"), stdout: text(output.stdout), stderr: text(output.stderr) }
}

impl Ran {
    fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {} {}", self.stdout, self.stderr))
    }
}

fn vectors(provider: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../core/tests/vectors/{provider}.json"))
}

fn vector(provider: &str, id: &str) -> Value {
    let text = std::fs::read_to_string(vectors(provider)).expect("vectors");
    let list: Vec<Value> = serde_json::from_str(&text).expect("a list");
    list.into_iter().find(|vector| vector["id"] == id).expect("a vector")
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a folder"))
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path.to_str().expect("a path").to_owned()
    }
}

#[test]
fn every_vector_file_comes_out_as_expected() {
    for provider in ["crmbridge", "github", "slack", "standard-webhooks", "stripe", "twilio"] {
        let path = vectors(provider);
        let ran = hookonce(&["verify", "--vectors", path.to_str().expect("a path")], "");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let first: Value = serde_json::from_str(ran.stdout.lines().next().expect("a line")).expect("json");
        let names: Vec<&String> = first.as_object().expect("an object").keys().collect();
        assert_eq!(names, ["id", "valid", "reason", "response"]);
    }
}

#[test]
fn a_vector_that_does_not_hold_or_cannot_be_judged_fails_the_run() {
    let folder = Folder::new();
    let right = vector("github", "github-valid-signature");
    let mut wrong = right.clone();
    wrong["expect"] = json!("invalid:signature_mismatch");
    let mut reason = vector("github", "github-tampered-body-one-byte-changed");
    reason["expect"] = json!("invalid:stale_timestamp");
    let mut unbuilt = vector("github", "github-tampered-body-one-byte-changed");
    (unbuilt["provider"], unbuilt["scheme"]) = (json!("acuity"), json!("acuity"));
    let mut answer = vector("slack", "slack-url-verification-handshake");
    answer["response"]["body"] = json!("another");
    for (name, bad) in [("wrong", wrong), ("reason", reason), ("unbuilt", unbuilt), ("answer", answer)] {
        let file = folder.file(name, &json!([right, bad]).to_string());
        let ran = hookonce(&["verify", "--vectors", &file], "");
        assert_eq!(ran.code, 1, "{name}");
        assert!(ran.stderr.contains("1 of 2"), "{}", ran.stderr);
        assert_eq!(ran.stdout.contains("unsupported scheme `acuity`"), name == "unbuilt");
    }
    let one = folder.file("only", &json!([right, vector("stripe", "stripe-header-missing")]).to_string());
    assert_eq!(hookonce(&["verify", "--vectors", &one, "--provider", "github"], "").stdout.lines().count(), 1);
    let none = hookonce(&["verify", "--vectors", &one, "--provider", "twilio"], "");
    assert_eq!(none.code, 1, "nothing was run, so nothing was proved");
}

#[test]
fn one_request_is_judged_by_json_and_flags() {
    let folder = Folder::new();
    let mut request = vector("stripe", "stripe-valid-v1-signature");
    let fields = request.as_object_mut().expect("an object");
    fields.retain(|name, _| ["method", "url", "headers", "body", "body_encoding"].contains(&name.as_str()));
    let text = request.to_string();
    let secret = folder.file("new", "whsec_test_secret\n");
    let other = folder.file("old", "whsec_test_secret_2\r\n");
    let verify = |more: &[&str], stdin: &str| hookonce(&[&["verify", "--provider", "stripe"], more].concat(), stdin);

    let files = ["--secret-file", &other, "--secret-file", &secret, "--now", "1767225600"];
    let valid = verify(&files, &text);
    assert_eq!((valid.code, valid.json()), (0, json!({ "valid": true, "secret": secret })), "{}", valid.stderr);
    let late = verify(&["--secret-file", &secret, "--now", "1767225899"], &text);
    assert_eq!((late.code, late.json()), (1, json!({ "valid": false, "reason": "stale_timestamp" })));
    let wrong = verify(&["--secret-file", &other, "--now", "1767225600"], &text);
    assert_eq!(wrong.json()["reason"], "signature_mismatch");
    assert!(late.stderr.is_empty() && !wrong.stdout.contains("whsec"), "the answer is on stdout, the secret nowhere");

    let file = folder.file("request.json", &text);
    let by_stdin = verify(&["--secret-stdin", "--request", &file, "--now", "1767225600"], "whsec_test_secret\n");
    assert_eq!(by_stdin.json(), json!({ "valid": true, "secret": "stdin" }));
    request["secrets"] = json!(["whsec_test_secret"]);
    let wins = verify(&["--secret-file", &other, "--now", "1767225600"], &request.to_string());
    assert_eq!(wins.code, 0, "the secrets of the JSON win over the flags");
}

#[test]
fn a_challenge_shows_its_answer() {
    let ran = hookonce(&["verify"], &vector("slack", "slack-url-verification-handshake").to_string());
    assert_eq!((ran.code, &ran.json()["response"]["status"]), (0, &json!(200)), "{}", ran.stderr);
    let refused = vector("slack", "slack-url-verification-with-a-bad-signature-is-refused");
    let ran = hookonce(&["verify"], &refused.to_string());
    assert_eq!(ran.json(), json!({ "valid": false, "reason": "signature_mismatch", "response": { "status": 401 } }));
    assert_eq!(ran.code, 1);
}

#[test]
fn what_cannot_be_judged_is_an_error_with_a_hint_and_no_verdict() {
    let folder = Folder::new();
    let request = r#"{"url":"http://x/","headers":[],"body":""}"#;
    let blank = folder.file("blank", " \n");
    for (args, stdin, code, said) in [
        (vec![], request, 2, "neither a provider nor a scheme"),
        (vec!["--provider", "github"], request, 2, "no secret"),
        (vec!["--provider", "github", "--secret-file", &blank], request, 3, "is empty"),
        (vec!["--provider", "nobody", "--secret-file", &blank], request, 5, "unknown provider `nobody`"),
        (vec!["--provider", "github"], "{", 2, "cannot be read"),
        (vec!["--provider", "github"], r#"{"url":"x","headers":[["a b","c"]]}"#, 2, "`a b` is no header name"),
        (vec!["--provider", "github"], r#"{"url":"x","headers":[["a","b\nc"]]}"#, 2, "header `a` cannot be sent"),
        (vec!["--provider", "github"], r#"{"url":"x","scheme":"gitea"}"#, 5, "unsupported scheme `gitea`"),
        (vec!["--provider", "github", "--secret-file", "/nowhere"], request, 1, "cannot read `/nowhere`"),
        (vec!["--provider", "github", "--secret-stdin"], request, 2, "--request"),
    ] {
        let ran = hookonce(&[vec!["verify"], args.clone()].concat(), stdin);
        assert_eq!(ran.code, code, "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(said) && ran.stdout.is_empty(), "{args:?}: {} {}", ran.stdout, ran.stderr);
    }
}

#[test]
fn what_is_signed_verifies() {
    let folder = Folder::new();
    let secret = folder.file("secret", SECRET);
    let body = folder.file("body", "{\"id\":\"é\"}\n");
    for provider in ["crmbridge", "github", "slack", "standard-webhooks", "stripe"] {
        let flags = ["--provider", provider, "--secret-file", &secret, "--now", "1767225600"];
        let header = ["--body", &body, "--header", "webhook-id: msg_1"];
        let signed = hookonce(&[&["sign", "-o", "json"], &flags[..], &header].concat(), "");
        assert_eq!(signed.code, 0, "{provider}: {}", signed.stderr);
        let mut request = signed.json();
        request["headers"].as_array_mut().expect("headers").push(json!(["webhook-id", "msg_1"]));
        request["url"] = json!("http://127.0.0.1:8080/");
        request["body"] = json!("{\"id\":\"é\"}\n");
        let verified = hookonce(&[&["verify"], &flags[..]].concat(), &request.to_string());
        assert_eq!(verified.code, 0, "{provider}: {} {}", verified.stdout, verified.stderr);
    }
    let lines = hookonce(&["sign", "--provider", "github", "--secret-file", &secret, "--body", &body], "");
    assert!(lines.stdout.starts_with("x-hub-signature-256: sha256="), "{}", lines.stdout);
    let flags = ["sign", "--provider", "standard-webhooks", "--secret-file", &secret, "--body", &body];
    let no_id = hookonce(&flags, "");
    assert!(no_id.code == 1 && no_id.stderr.contains("webhook-id"), "{}", no_id.stderr);
}

#[test]
fn providers_are_listed_and_described() {
    let list = hookonce(&["providers", "-o", "json"], "").json();
    assert_eq!(list.as_array().expect("a list").len(), 6);
    for entry in list.as_array().expect("a list") {
        let name = entry["provider"].as_str().expect("a name");
        let one = hookonce(&["providers", name, "-o", "json"], "").json();
        assert_eq!(one["provider"], entry["provider"]);
        assert!(one["notes"].as_array().is_some_and(|notes| !notes.is_empty()), "{name}");
        assert!(hookonce(&["providers", name], "").stdout.contains("confidence  signature"), "{name}");
    }
    let unknown = hookonce(&["providers", "nobody"], "");
    assert!(unknown.code == 5 && unknown.stderr.contains("hint: known: crmbridge"), "{}", unknown.stderr);
}
