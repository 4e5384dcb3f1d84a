//! `[sources.NAME]`: who sends. Identity is kept as written (`meant::Rule`); `identify` compiles it. Start at [`read`].

use std::collections::BTreeSet;

use hookonce_core::provider::{Fallback, IdGuard};
use hookonce_core::source::Respond;

use super::catalogue;
use super::code::Code;
use super::meant::{Fingerprint, NoTime, Opt, Rule, SignatureOver, Source, Verify, Version};
use super::near;
use super::not_built::{self, PROVIDERS, SOURCE_KEYS};
use super::place::Place;
use super::problem::Problem;
use super::reading::Reading;
use super::secret::{self, Secrets};
use super::section::{Section, Written};
use super::server::std_duration;
use super::tree::{Node, Value};
use super::verify;

/// The name is part of the URL and a label of metrics.
pub const MAX_NAME: usize = 64;
pub const NAME_FORM: &str =
    "names have lower-case letters, digits, `-` and `_`, begin with a letter or digit, at most 64";
/// Beyond that an answer is no answer any more.
const MAX_ANSWER_BYTES: usize = 4 * 1024;
/// The largest body any provider is known to send stays far below.
const MAX_BODY: u64 = 256 << 20;

pub fn good_name(name: &str) -> bool {
    let first = name.chars().next().is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    first
        && name.len() <= MAX_NAME
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c))
}

/// `None`: something about it is wrong, and has been said.
pub fn read(name: &str, key_at: &Place, section: &Section<'_>, reading: &Reading<'_>) -> Option<Source> {
    if !good_name(name) {
        section.problems().error(Code::BadName, key_at, format!("`{name}` cannot name a source"), NAME_FORM);
    }
    let provider = provider(section);
    let scheme = scheme(section, provider.as_ref());
    let verify = verify::read(section, section.has("provider"));
    let secrets = secret::read(section, reading);
    let rule = rule(section);
    let source = Source {
        name: name.to_owned(),
        namespace: section.filled("namespace").map_or_else(|| name.to_owned(), |n| n.value),
        respond: respond(section),
        types: texts(section, "types"),
        id_guard: choice(
            section,
            "id_guard",
            &[("hold", IdGuard::Hold), ("duplicate", IdGuard::Duplicate), ("accept", IdGuard::Accept)],
        ),
        no_time: choice(section, "no_time", &[("accept", NoTime::Accept), ("hold", NoTime::Hold)])
            .unwrap_or(NoTime::Accept),
        tolerance: section.some_time("tolerance").map(|t| t.value),
        retry_window: section.some_time("retry_window").map(|t| t.value),
        max_body: max_body(section),
        signature_over: choice(
            section,
            "signature_over",
            &[("wire", SignatureOver::Wire), ("decoded", SignatureOver::Decoded)],
        ),
        public_url: public_url(section),
        ack_deadline: section.some_time("ack_deadline").map(|t| std_duration(t.value)),
        options: section.section("options").map_or_else(Vec::new, |s| options(&s)),
        secrets: secrets.clone().unwrap_or_default(),
        provider: provider.clone().flatten().map(|p| p.value),
        scheme,
        verify: verify.clone().unwrap_or(Verify::None),
        rule,
    };
    not_built::refuse_keys(section, SOURCE_KEYS);
    section.finish();
    identified(section);
    secrets_fit(section, verify.as_ref(), secrets.as_ref(), &source);
    verify.map(|_| source)
}

/// `None`: not written. `Some(None)`: written, and not usable.
fn provider(section: &Section<'_>) -> Option<Option<Written<String>>> {
    section.entry("provider")?;
    let Some(name) = section.filled("provider") else { return Some(None) };
    let built: BTreeSet<&str> = catalogue::names().collect();
    if built.contains(name.value.as_str()) {
        return Some(Some(name));
    }
    if PROVIDERS.contains(&name.value.as_str()) {
        let hint = format!("built: {}; others can be described with `verify = {{ hmac = … }}`", near::list(built));
        not_built::refuse(section.problems(), &name.at, &format!("the profile of provider `{}`", name.shown), &hint);
    } else {
        let all = PROVIDERS.iter().copied().chain(built);
        let hint = match near::nearest(&name.value, all) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`hookonce providers` lists them; without one, write `verify = { hmac = … }` and `key`".to_owned(),
        };
        section.problems().error(Code::UnknownProvider, &name.at, format!("unknown provider `{}`", name.shown), hint);
    }
    Some(None)
}

fn scheme(section: &Section<'_>, provider: Option<&Option<Written<String>>>) -> Option<String> {
    let scheme = section.filled("scheme")?;
    match provider {
        None => {
            let hint = "it chooses among the schemes of a `provider`; remove it, or name the provider";
            section.problems().error(Code::Misplaced, &scheme.at, "`scheme` without `provider`", hint);
        }
        Some(None) => {}
        Some(Some(provider)) => {
            let schemes = catalogue::schemes(&provider.value);
            if schemes.contains(&scheme.value.as_str()) {
                return Some(scheme.value);
            }
            let text = format!("provider `{}` has no scheme `{}`", provider.value, scheme.shown);
            section.problems().error(Code::UnknownScheme, &scheme.at, text, near::hint(&scheme.value, schemes));
        }
    }
    None
}

/// Without provider, key or signal nothing says what one event is.
fn identified(section: &Section<'_>) {
    if !["provider", "key", "signal"].iter().any(|key| section.has(key)) {
        let text = format!("`[{}]` does not say what makes an event one event", section.name);
        let hint = "name a `provider`, or write a key: `key = \"$.id\"`, `\"header:X-Event-Id\"`, `\"body-sha256\"`";
        section.problems().error(Code::NoIdentity, &section.at, text, hint);
    }
}

fn secrets_fit(section: &Section<'_>, verify: Option<&Verify>, secrets: Option<&Secrets>, source: &Source) {
    let entry = section.entry("secret").or_else(|| section.entry("secrets"));
    match (verify, secrets, entry) {
        (Some(Verify::None), Some(_), Some(entry)) => {
            let text = "a secret is written, and `verify = \"none\"` never uses it";
            section.problems().error(Code::Contradiction, &entry.key_at, text, "remove one of the two");
        }
        (Some(Verify::Provider), None, None) if source.provider.as_deref().is_some_and(catalogue::uses_secret) => {
            no_secret(section)
        }
        (Some(Verify::Hmac(_)), None, None) => no_secret(section),
        (Some(Verify::Provider | Verify::Hmac(_)), Some(secrets), Some(entry)) if !signs(secrets) => {
            let text = "no secret has `use = \"sign\"`";
            section.problems().error(
                Code::Contradiction,
                &entry.key_at,
                text,
                "a token of a handshake is never tried as a key: add the signing secret",
            );
        }
        _ => {}
    }
}

fn signs(secrets: &Secrets) -> bool {
    secrets.0.is_empty() || secrets.0.iter().any(|s| s.purpose == secret::Purpose::Sign)
}

fn no_secret(section: &Section<'_>) {
    let text = format!("`[{}]` has no secret", section.name);
    let hint = "write `secret = { env = \"NAME\" }` or `{ file = \"path\" }`";
    section.problems().error(Code::MissingKey, &section.at, text, hint);
}

fn rule(section: &Section<'_>) -> Rule {
    Rule {
        key: filled(section, "key"),
        kind: filled(section, "type"),
        aggregate: filled(section, "aggregate"),
        time: filled(section, "time"),
        version: section.section("version").and_then(|s| version(&s)),
        schema_version: filled(section, "schema_version"),
        schema_versions: texts(section, "schema_versions"),
        schema_strict: section.flag("schema_strict").unwrap_or(false),
        require: texts(section, "require"),
        volatile: some_texts(section, "volatile"),
        items: items(section),
        fallback: choice(section, "fallback", &[("body", Fallback::Body), ("unmapped", Fallback::Unmapped)]),
        fingerprint: choice(
            section,
            "fingerprint",
            &[("bytes", Fingerprint::Bytes), ("canonical", Fingerprint::Canonical)],
        )
        .unwrap_or_default(),
    }
}

fn version(section: &Section<'_>) -> Option<Version> {
    let (time, number) = (section.filled("time"), section.filled("number"));
    section.finish();
    match (time, number) {
        (Some(path), None) => Some(Version::Time(path.value)),
        (None, Some(path)) => Some(Version::Number(path.value)),
        (Some(_), Some(second)) => {
            let hint = "a version is one or the other: times and numbers do not compare";
            section.problems().error(Code::Contradiction, &second.at, "both `time` and `number` are written", hint);
            None
        }
        (None, None) => {
            if !section.has("time") && !section.has("number") {
                let hint = "`version = { time = \"$.updated\" }` or `{ number = \"$.seq\" }`";
                section.problems().error(
                    Code::MissingKey,
                    &section.at,
                    "`version` says neither `time` nor `number`",
                    hint,
                );
            }
            None
        }
    }
}

/// A path, or several.
fn items(section: &Section<'_>) -> Option<Vec<String>> {
    match &section.entry("items")?.node.value {
        Value::List(_) => some_texts(section, "items"),
        _ => section.filled("items").map(|path| vec![path.value]),
    }
}

fn respond(section: &Section<'_>) -> Respond {
    let mut respond = Respond::default();
    if let Some(s) = section.section("respond") {
        if let Some(status) = s.integer("status", 200, 299) {
            respond.status = u16::try_from(status.value).unwrap_or(respond.status);
        }
        if let Some(body) = s.text("body") {
            if body.value.len() > MAX_ANSWER_BYTES {
                s.bad(&body.at, "`body` is too long", format!("at most {MAX_ANSWER_BYTES} bytes"));
            }
            respond.body = body.value.into();
        }
        if let Some(kind) = s.filled("content_type") {
            if http::HeaderValue::try_from(kind.value.as_str()).is_err() {
                s.bad(
                    &kind.at,
                    "`content_type` cannot stand in a header",
                    "such as `text/plain` or `application/json`",
                );
            }
            respond.content_type = kind.value.into();
        }
        s.finish();
    }
    if let Some(status) = status(section, "on_conflict", [200, 409]) {
        respond.on_conflict = status;
    }
    if let Some(status) = status(section, "on_unmapped", [200, 400]) {
        respond.on_unmapped = status;
    }
    respond
}

/// One of two statuses: the event is stored either way, so others would only make the provider do the wrong thing.
fn status(section: &Section<'_>, key: &'static str, allowed: [u16; 2]) -> Option<u16> {
    let written = section.integer(key, 0, 999)?;
    let found = allowed.into_iter().find(|status| i64::from(*status) == written.value);
    if found.is_none() {
        let [one, other] = allowed;
        section.bad(&written.at, format!("`{key}` cannot be `{}`", written.value), format!("{one} or {other}"));
    }
    found
}

fn max_body(section: &Section<'_>) -> Option<u64> {
    let size = section.size("max_body")?;
    if size.value == 0 || size.value > MAX_BODY {
        section.bad(&size.at, format!("`max_body` is out of range: `{}`", size.shown), "from `1B` to `256MiB`");
        return None;
    }
    Some(size.value)
}

fn public_url(section: &Section<'_>) -> Option<String> {
    let url = section.filled("public_url")?;
    let parsed: Option<http::Uri> = url.value.parse().ok();
    let fine = parsed.is_some_and(|u| matches!(u.scheme_str(), Some("http" | "https")) && u.authority().is_some());
    if !fine {
        let hint = "the URL as the provider has it: `https://hooks.example.com/in/crm`";
        section.problems().error(Code::BadUrl, &url.at, format!("`public_url` is no URL: `{}`", url.shown), hint);
        return None;
    }
    Some(url.value)
}

fn options(section: &Section<'_>) -> Vec<(String, Opt)> {
    section.entries().filter_map(|(name, entry)| Some((name.to_owned(), option(section, name, &entry.node)?))).collect()
}

fn option(section: &Section<'_>, name: &str, node: &Node) -> Option<Opt> {
    match &node.value {
        Value::Text { text, .. } => Some(Opt::Text(text.clone())),
        Value::Integer(Some(number)) => Some(Opt::Number(*number)),
        Value::Flag(flag) => Some(Opt::Flag(*flag)),
        Value::List(list) => {
            Some(Opt::List(list.iter().filter_map(|n| section.text_of(name, n)).map(|t| t.value).collect()))
        }
        other => section.wrong(name, node, "a text, a whole number, true or false, or a list of texts", other.noun()),
    }
}

fn filled(section: &Section<'_>, key: &'static str) -> Option<String> {
    section.filled(key).map(|text| text.value)
}

fn some_texts(section: &Section<'_>, key: &'static str) -> Option<Vec<String>> {
    section.texts(key).map(|list| list.into_iter().map(|text| text.value).collect())
}

fn texts(section: &Section<'_>, key: &'static str) -> Vec<String> {
    some_texts(section, key).unwrap_or_default()
}

fn choice<T: Copy>(section: &Section<'_>, key: &'static str, choices: &[(&'static str, T)]) -> Option<T> {
    section.choice(key, choices).map(|word| word.value)
}

/// A source whose key nobody chose prints what it runs with.
pub fn default_key(section: &Section<'_>, source: &Source) {
    let Some(provider) = source.provider.as_deref().filter(|_| source.rule.key.is_none()) else { return };
    if catalogue::has_id(provider) {
        return;
    }
    let text = format!("provider `{provider}` sends no event id: copies are told by the SHA-256 of the body");
    let hint =
        "write `key = \"body-sha256\"` to say that this is meant, or a template over fields: `key = \"{Entity}:{Id}\"`";
    section.problems().add(Problem::warning(Code::DefaultKey, &section.at, text).hint(hint));
}
