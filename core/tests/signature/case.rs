//! A test vector as a value: a request, the secrets of its receiver, and what must come of it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use hookonce_core::request::{Headers, Request};
use hookonce_core::signature::{Carrier, Keys, Options, Refusal, Scheme, Secret, Verified, catalog, verify};
use serde_json::Value;

/// One entry of `core/tests/vectors/*.json`.
pub struct Case {
    pub id: String,
    pub kind: String,
    pub scheme: String,
    pub secrets: Vec<Secret>,
    pub options: Options,
    pub request: Request,
    pub now: i64,
    pub valid: bool,
    /// Reasons that are as good as each other.
    pub reasons: Vec<Refusal>,
    pub response: Value,
}

/// All vectors of one provider.
pub fn of(provider: &str) -> Vec<Case> {
    let path = format!("{}/tests/vectors/{provider}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("a vector file");
    let list: Vec<Value> = serde_json::from_str(&text).expect("a list of vectors");
    list.iter().map(Case::read).collect()
}

pub fn scheme(name: &str) -> &'static Scheme {
    catalog::scheme(name).unwrap_or_else(|| panic!("no scheme {name}"))
}

impl Case {
    fn read(value: &Value) -> Case {
        let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
        let expect = text("expect");
        let main = expect.strip_prefix("invalid:");
        let others = value["reason_alternatives"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let reason = |name| Refusal::parse(name).unwrap_or_else(|| panic!("unknown reason {name}"));
        Case {
            id: text("id"),
            kind: text("kind"),
            scheme: text("scheme"),
            secrets: secrets(value),
            options: options(&value["config"]),
            request: request(value),
            now: value["now"].as_i64().expect("a time"),
            valid: expect == "valid",
            reasons: main.into_iter().chain(others).map(reason).collect(),
            response: value["response"].clone(),
        }
    }

    /// All valid vectors of all providers, to derive from.
    pub fn valid() -> Vec<Case> {
        let cases = catalog::all().iter().flat_map(|provider| of(provider.id));
        cases.filter(|case| case.valid && case.kind == "verify").collect()
    }

    pub fn keys(&self) -> Keys {
        Keys::new(scheme(&self.scheme), &self.secrets).expect("keys")
    }

    pub fn verify(&self) -> Result<Verified, Refusal> {
        verify(&self.keys(), &self.request, &self.options, self.now)
    }
}

fn secrets(value: &Value) -> Vec<Secret> {
    let listed = value["secrets"].as_array().into_iter().flatten().filter_map(Value::as_str).enumerate();
    let plain = listed.map(|(at, secret)| Secret::new(format!("secret-{at}"), secret));
    let shared = value["config"]["shared_keys"].as_object().into_iter().flatten().map(|(id, secret)| {
        let secret = Secret::new(format!("shared-{id}"), secret.as_str().expect("a secret"));
        Secret { id: Some(id.as_str().into()), ..secret }
    });
    plain.chain(shared).collect()
}

fn options(config: &Value) -> Options {
    let seconds = config["tolerance"].as_u64().map(|seconds| u32::try_from(seconds).expect("seconds"));
    let origins = config["allowed_origins"].as_array().into_iter().flatten().filter_map(Value::as_str);
    Options { tolerance: seconds, allowed_origins: origins.map(str::to_owned).collect() }
}

fn request(value: &Value) -> Request {
    let url = value["url"].as_str().expect("a url");
    let target = url.splitn(4, '/').nth(3).map_or("/".to_owned(), |path| format!("/{path}"));
    let text = value["body"].as_str().expect("a body");
    let body = match value["body_encoding"].as_str() {
        Some("base64") => Bytes::from(STANDARD.decode(text).expect("base64")),
        _ => Bytes::copy_from_slice(text.as_bytes()),
    };
    let pairs = value["headers"]
        .as_array()
        .expect("headers")
        .iter()
        .map(|pair| (pair[0].as_str().and_then(|n| n.parse().ok()), pair[1].as_str().and_then(|v| v.parse().ok())));
    let headers = pairs.map(|(name, value)| (name.expect("a name"), value.expect("a value"))).collect();
    Request {
        received: 0,
        method: value["method"].as_str().and_then(|m| m.parse().ok()).expect("a method"),
        target,
        url: url.to_owned(),
        headers: Headers(headers),
        decoded: body.clone(),
        body,
    }
}

/// The header with the signature; no provider of the vectors has it anywhere else.
pub fn header(scheme: &Scheme) -> &str {
    match &scheme.carrier {
        Carrier::Header(name) => name,
        Carrier::Query(_) => panic!("{} has no header", scheme.name),
    }
}
