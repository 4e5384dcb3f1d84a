//! `[sources.NAME]`: who sends. Start at [`read`]. How it proves itself is in `verify`, what its events are in `rule`.

use std::time::Duration;

use hookonce_core::provider::Provider;
use hookonce_core::retain::Keep;
use hookonce_core::signature::handshake::{self, Handshake};
use hookonce_core::signature::{Keys, Options, Scheme, Use};
use hookonce_core::source::Respond;
use hookonce_core::time::SECOND;

use super::catalogue;
use super::code::Code;
use super::meant::{SignatureOver, Source, Verification};
use super::near;
use super::not_built::{self, OPTIONS, PROVIDERS, SOURCE_KEYS};
use super::place::Place;
use super::problem::Problem;
use super::reading::Reading;
use super::retain;
use super::rule::{self, Fields};
use super::secret::{self, Secrets};
use super::section::Section;
use super::server::std_duration;
use super::verify;

/// The name is part of the URL and a label of metrics.
const MAX_NAME: usize = 64;
pub const NAME_FORM: &str =
    "names have lower-case letters, digits, `-` and `_`, begin with a letter or digit, at most 64";
/// Beyond that an answer is no answer any more.
const MAX_ANSWER_BYTES: usize = 4 * 1024;
/// A sender's body that nobody has limited.
const DEFAULT_BODY: u64 = 1 << 20;
/// The largest body any provider is known to send stays far below.
const MAX_BODY: u64 = 256 << 20;
/// Of the provider's own time-out; the rest is for the way back.
const ACK_PERCENT: u64 = 60;
const MAX_ACK: Duration = Duration::from_secs(5);

pub fn good_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    name.chars().next().is_some_and(plain)
        && name.len() <= MAX_NAME
        && name.chars().all(|c| plain(c) || "-_".contains(c))
}

/// `None`: something about it is wrong, and has been said.
pub fn read(name: &str, key_at: &Place, section: &Section<'_>, reading: &Reading<'_>) -> Option<Source> {
    if !good_name(name) {
        section.problems().error(Code::BadName, key_at, format!("`{name}` cannot name a source"), NAME_FORM);
    }
    let provider = provider(section);
    let scheme = verify::read(section, provider);
    let secrets = secret::read(section, reading);
    let namespace = section.filled("namespace").map_or_else(|| name.to_owned(), |n| n.value);
    let mut fields = Fields::default();
    let spec = rule::spec(section, &mut fields);
    let mut source = Unfinished {
        methods: methods(provider),
        max_body: max_body(section, provider),
        options: options(section),
        signature_over: section.choice("signature_over", &OVER).map_or(SignatureOver::Wire, |o| o.value),
        handshakes: handshakes(section, provider),
        respond: respond(section, provider),
        ack_deadline: ack_deadline(section, provider),
        public_url: public_url(section),
        keep: Keep::default(),
    };
    source.keep = retain::read(section, provider, scheme.as_ref().and_then(Option::as_ref), source.options.tolerance);
    not_built::refuse_keys(section, SOURCE_KEYS);
    section.finish();
    source.options.tolerance = source.options.tolerance.filter(|_| scheme.is_some());
    identified(section);
    let coverage = scheme.as_ref().map(|s| catalogue::coverage(s.as_ref())).unwrap_or_default();
    let names = (name, namespace.as_str());
    let rule = rule::compile(section, names, hookonce_core::identify::RuleSpec { coverage, ..spec }, &fields, provider);
    let verification = verification(section, scheme?, secrets.as_ref(), reading);
    Some(source.finish(name, namespace.clone(), provider, verification, secrets.unwrap_or_default(), rule?))
}

const OVER: [(&str, SignatureOver); 2] = [("wire", SignatureOver::Wire), ("decoded", SignatureOver::Decoded)];

/// The policies of a source, read before it is known whether the rest of it holds.
struct Unfinished {
    methods: Vec<http::Method>,
    max_body: u64,
    options: Options,
    signature_over: SignatureOver,
    handshakes: Vec<&'static Handshake>,
    respond: Respond,
    ack_deadline: Duration,
    public_url: Option<String>,
    keep: Keep,
}

impl Unfinished {
    fn finish(
        self,
        name: &str,
        namespace: String,
        provider: Option<&'static Provider>,
        verification: Verification,
        secrets: Secrets,
        rule: hookonce_core::identify::Rule,
    ) -> Source {
        Source {
            name: name.to_owned(),
            namespace,
            provider,
            methods: self.methods,
            max_body: self.max_body,
            verification,
            secrets,
            options: self.options,
            rule,
            signature_over: self.signature_over,
            handshakes: self.handshakes,
            respond: self.respond,
            ack_deadline: self.ack_deadline,
            public_url: self.public_url,
            keep: self.keep,
        }
    }
}

/// `None`: not written, or not usable, and then it has been said.
fn provider(section: &Section<'_>) -> Option<&'static Provider> {
    let name = section.filled("provider")?;
    let found = hookonce_core::signature::catalog::provider(&name.value);
    if found.is_none() && PROVIDERS.contains(&name.value.as_str()) {
        let hint = format!(
            "built: {}; others can be described with `verify = {{ hmac = … }}`",
            near::list(catalogue::names())
        );
        not_built::refuse(section.problems(), &name.at, &format!("the profile of provider `{}`", name.shown), &hint);
    } else if found.is_none() {
        let all = PROVIDERS.iter().copied().chain(catalogue::names());
        let hint = match near::nearest(&name.value, all) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`hookonce providers` lists them; without one, write `verify = { hmac = … }` and `key`".to_owned(),
        };
        section.problems().error(Code::UnknownProvider, &name.at, format!("unknown provider `{}`", name.shown), hint);
    }
    found
}

/// Without provider, key or signal nothing says what one event is.
fn identified(section: &Section<'_>) {
    if !["provider", "key", "signal"].iter().any(|key| section.perhaps(key)) {
        let text = format!("`[{}]` does not say what makes an event one event", section.name);
        let hint = "name a `provider`, or write a key: `key = \"$.id\"`, `\"header:X-Event-Id\"`, `\"body-sha256\"`";
        section.problems().error(Code::NoIdentity, &section.at, text, hint);
    }
}

fn verification(
    section: &Section<'_>,
    scheme: Option<Scheme>,
    secrets: Option<&Secrets>,
    reading: &Reading<'_>,
) -> Verification {
    let entry = section.entry("secret").or_else(|| section.entry("secrets"));
    let Some(scheme) = scheme else {
        if let Some(entry) = entry {
            let text = "a secret is written, and `verify = \"none\"` never uses it";
            section.problems().error(Code::Contradiction, &entry.key_at, text, "remove one of the two");
        }
        return Verification::None;
    };
    let Some(secrets) = secrets.filter(|s| !s.0.is_empty()) else {
        if !section.perhaps("secret") && !section.perhaps("secrets") {
            let text = format!("`[{}]` has no secret", section.name);
            section.problems().error(
                Code::MissingKey,
                &section.at,
                text,
                "write `secret = { env = \"NAME\" }` or `{ file = \"path\" }`",
            );
        }
        return Verification::Missing { scheme: Box::new(scheme), why: "no secret is there".to_owned() };
    };
    if let Some(entry) = entry.filter(|_| !secrets.0.iter().any(|s| s.purpose == Use::Sign)) {
        let hint = "a token of a handshake is never tried as a key: add the signing secret";
        section.problems().error(Code::Contradiction, &entry.key_at, "no secret has `use = \"sign\"`", hint);
    }
    let why = secret::unusable(section, &scheme, secrets, reading);
    match why.map_or_else(|| Keys::new(&scheme, &secrets.usable()).map_err(|e| e.to_string()), Err) {
        Ok(keys) => Verification::Keys(Box::new(keys)),
        Err(why) => Verification::Missing { scheme: Box::new(scheme), why },
    }
}

fn methods(provider: Option<&Provider>) -> Vec<http::Method> {
    let named = provider.map_or(&["POST"][..], |p| p.methods);
    named.iter().filter_map(|name| name.parse().ok()).collect()
}

/// The provider's own limit counts where it is larger than ours.
fn max_body(section: &Section<'_>, provider: Option<&Provider>) -> u64 {
    let default = provider.and_then(|p| p.max_body).unwrap_or(0).max(DEFAULT_BODY);
    let Some(size) = section.size("max_body") else { return default };
    if size.value == 0 || size.value > MAX_BODY {
        section.bad(&size.at, format!("`max_body` is out of range: `{}`", size.shown), "from `1B` to `256MiB`");
    }
    size.value
}

fn ack_deadline(section: &Section<'_>, provider: Option<&Provider>) -> Duration {
    let timeout = provider.and_then(|p| p.timeout_seconds);
    let part = |seconds: u64| Duration::from_millis(seconds.saturating_mul(1000 * ACK_PERCENT / 100));
    let Some(written) = section.some_time("ack_deadline") else {
        return timeout.map_or(MAX_ACK, part).min(MAX_ACK);
    };
    let deadline = std_duration(written.value);
    if let Some(seconds) = timeout.filter(|seconds| deadline >= Duration::from_secs(*seconds)) {
        let text = format!("`ack_deadline` is `{}`, and the provider gives up after {seconds} s", written.shown);
        section.problems().error(
            Code::Contradiction,
            &written.at,
            text,
            "choose less, or leave it out for 60 % of that",
        );
    }
    deadline
}

fn options(section: &Section<'_>) -> Options {
    let mut options = Options::default();
    if let Some(tolerance) = section.some_time("tolerance") {
        let seconds = u32::try_from(tolerance.value / SECOND).ok().filter(|s| *s > 0);
        if seconds.is_none() {
            section.bad(
                &tolerance.at,
                format!("`tolerance` is out of range: `{}`", tolerance.shown),
                "from `1s` to `100y`",
            );
        }
        options.tolerance = seconds;
    }
    if let Some(inner) = section.section("options") {
        let origins = inner.texts("allowed_origins").unwrap_or_default();
        options.allowed_origins = origins.into_iter().map(|o| o.value).collect();
        not_built::refuse_keys(&inner, OPTIONS);
        inner.finish();
    }
    options
}

/// What the source names, else what its provider does. A kind of the profile that is not built is not asked for here.
fn handshakes(section: &Section<'_>, provider: Option<&Provider>) -> Vec<&'static Handshake> {
    let Some(written) = section.texts("handshakes") else {
        return provider.map_or(&[][..], |p| p.handshakes).iter().filter_map(|name| handshake::find(name)).collect();
    };
    let known = |name: &super::section::Written<String>| {
        let found = handshake::find(&name.value);
        if found.is_none() {
            let names = handshake::ALL.iter().map(|h| h.name);
            section.bad(&name.at, format!("unknown handshake `{}`", name.shown), near::hint(&name.value, names));
        }
        found
    };
    written.iter().filter_map(known).collect()
}

fn respond(section: &Section<'_>, provider: Option<&Provider>) -> Respond {
    let mut respond = Respond { retry_429: provider.is_some_and(|p| p.retry_429), ..Respond::default() };
    if let Some(inner) = section.section("respond") {
        answer(&inner, &mut respond);
        inner.finish();
    }
    if let Some(status) = status(section, "on_conflict", [200, 409]) {
        respond.on_conflict = status;
    }
    if let Some(status) = status(section, "on_unmapped", [200, 400]) {
        respond.on_unmapped = status;
    }
    respond
}

fn answer(section: &Section<'_>, respond: &mut Respond) {
    if let Some(status) = section.integer("status", 200, 299) {
        respond.status = u16::try_from(status.value).unwrap_or(respond.status);
    }
    if let Some(body) = section.text("body") {
        if body.value.len() > MAX_ANSWER_BYTES {
            section.bad(&body.at, "`body` is too long", format!("at most {MAX_ANSWER_BYTES} bytes"));
        }
        respond.body = body.value.into();
    }
    if let Some(kind) = section.filled("content_type") {
        if http::HeaderValue::try_from(kind.value.as_str()).is_err() {
            section.bad(
                &kind.at,
                "`content_type` cannot stand in a header",
                "such as `text/plain` or `application/json`",
            );
        }
        respond.content_type = kind.value.into();
    }
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

fn public_url(section: &Section<'_>) -> Option<String> {
    let url = section.filled("public_url")?;
    let parsed: Option<http::Uri> = url.value.parse().ok();
    let fine = parsed.is_some_and(|u| matches!(u.scheme_str(), Some("http" | "https")) && u.authority().is_some());
    if !fine {
        let hint = "the URL as the provider has it: `https://hooks.example.com/in/crm`";
        section.problems().error(Code::BadUrl, &url.at, format!("`public_url` is no URL: `{}`", url.shown), hint);
    }
    fine.then_some(url.value)
}

/// A source whose key nobody chose prints what it runs with.
pub fn default_key(section: &Section<'_>, source: &Source) {
    let Some(provider) = source.provider.filter(|p| !section.has("key") && !catalogue::has_id(p)) else { return };
    let text = format!("provider `{}` sends no event id: copies are told by the SHA-256 of the body", provider.id);
    let hint =
        "write `key = \"body-sha256\"` to say that this is meant, or a template over fields: `key = \"{Entity}:{Id}\"`";
    section.problems().add(Problem::warning(Code::DefaultKey, &section.at, text).hint(hint));
}
