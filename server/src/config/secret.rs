//! Secrets: where they come from, when they hold, and what is wrong with them. A value never leaves `SecretString`,
//! stands in no message, and comes from a variable or a file; as text in the configuration only with `--dev`.
//! Start at [`read`].

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use hookonce_core::signature::catalog::STANDARD_WEBHOOKS_SCHEME;
use hookonce_core::signature::{self, KeyError, Keys, MAX_SECRETS, Scheme, Use};
use hookonce_core::time::Micros;
use secrecy::SecretString;

use super::code::Code;
use super::mask::like_a_secret;
use super::near::nearest;
use super::place::Place;
use super::problem::{Problem, Severity};
use super::reading::Reading;
use super::section::{Section, Written};
use super::tree::{Node, Value};
use super::units::DayEnd;

/// Keys and certificates included; more is a wrong path.
const MAX_SECRET_BYTES: u64 = 64 * 1024;

#[derive(Clone, Debug, Default)]
pub struct Secrets(pub Vec<Secret>);

#[derive(Clone, Debug)]
pub struct Secret {
    /// Where its value comes from, to point at.
    at: Place,
    pub name: String,
    pub purpose: Use,
    /// Shared keys that the request names.
    pub id: Option<String>,
    /// The secret counts only for bodies in which these paths have these values.
    pub when: Vec<(String, String)>,
    pub not_before: Option<Micros>,
    pub not_after: Option<Micros>,
    /// `None`: missing or blank. Such a source answers 503: to refuse would tell the provider that it is wrong.
    pub value: Option<SecretString>,
}

impl Secrets {
    /// Those that are there, as `signature` takes them.
    pub fn usable(&self) -> Vec<signature::Secret> {
        self.0.iter().filter_map(Secret::usable).collect()
    }
}

impl Secret {
    fn usable(&self) -> Option<signature::Secret> {
        Some(signature::Secret {
            use_: self.purpose,
            id: self.id.as_deref().map(Into::into),
            when: self.when.clone(),
            not_before: self.not_before,
            not_after: self.not_after,
            ..signature::Secret::new(self.name.as_str(), self.value.clone()?)
        })
    }

    fn holds(&self, now: Micros) -> bool {
        self.not_before.is_none_or(|from| from <= now) && !self.expired(now)
    }

    fn expired(&self, now: Micros) -> bool {
        self.not_after.is_some_and(|end| end < now)
    }

    fn plain(at: &Place, name: &str, value: Option<SecretString>) -> Secret {
        Secret {
            at: at.clone(),
            name: name.to_owned(),
            purpose: Use::Sign,
            id: None,
            when: Vec::new(),
            not_before: None,
            not_after: None,
            value,
        }
    }
}

/// Whether a secret is not there, or no key of the scheme; each is said at its own place, the first comes back in words
/// that an operator may read. With one of several missing the source stands still as a whole: what that key signed
/// would be refused as forged, and a provider does not send a refused event again for long.
pub fn unusable(section: &Section<'_>, scheme: &Scheme, secrets: &Secrets, reading: &Reading<'_>) -> Option<String> {
    let mut first = None;
    for secret in secrets.0.iter().filter(|s| s.purpose == Use::Sign) {
        let why = match secret.usable() {
            None => Some(format!("secret `{}` is missing", secret.name)),
            Some(ready) => Keys::new(scheme, &[ready]).err().map(|error| unfit(section, secret, &error, reading)),
        };
        first = first.or(why);
    }
    first
}

fn unfit(section: &Section<'_>, secret: &Secret, error: &KeyError, reading: &Reading<'_>) -> String {
    if matches!(error, KeyError::When { .. }) {
        // Said where the path stands.
        return error.to_string();
    }
    let severity = severity(section, reading);
    let problem = Problem::error(Code::BadSecret, &secret.at, format!("`{}` cannot use it: {error}", owner(section)))
        .hint("copy it again from the provider, whole");
    section.problems().add(Problem { severity, ..problem });
    error.to_string()
}

/// `secret = …` or `secrets = [ … ]` of a section. `None`: neither is written.
pub fn read(section: &Section<'_>, reading: &Reading<'_>) -> Option<Secrets> {
    let (found, at) = written(section, reading)?;
    let signing = || found.iter().filter(|s| s.purpose == Use::Sign);
    if signing().next().is_some() && signing().all(|s| !s.holds(reading.now)) {
        missing(
            section,
            at,
            "none of its secrets is valid now",
            "add the one that the provider signs with now",
            reading,
        );
    }
    // Rotated out and gone: nothing is missing.
    Some(Secrets(found.into_iter().filter(|s| s.value.is_some() || !s.expired(reading.now)).collect()))
}

/// All that is written, whether or not its time is over, and where.
fn written<'a>(section: &Section<'a>, reading: &Reading<'_>) -> Option<(Vec<Secret>, &'a Place)> {
    let (one, many) = (section.entry("secret"), section.entry("secrets"));
    if let (Some(one), Some(many)) = (one, many) {
        section.problems().add(
            Problem::error(Code::Contradiction, &many.key_at, "both `secret` and `secrets` are written")
                .also(&one.key_at, "the other one")
                .hint("move the single one into the list"),
        );
    }
    match (one, many) {
        (None, None) => None,
        (Some(one), _) => Some((single(section, "secret", &one.node, reading).into_iter().collect(), &one.node.at)),
        (None, Some(many)) => Some((list(section, &many.node, reading), &many.node.at)),
    }
}

/// The key that a consumer signs with. `None`: not written, or not usable, and then it has been said.
pub fn signing(section: &Section<'_>, reading: &Reading<'_>) -> Option<Keys> {
    let entry = section.entry("sign")?;
    let secret = single(section, "sign", &entry.node, reading)?;
    if !secret.holds(reading.now) {
        let text = format!("the secret that `{}` signs with is not valid now", section.name);
        section.problems().error(Code::MissingSecret, &entry.node.at, text, "name the one that holds now");
    }
    let secrets = Secrets(vec![secret]);
    match unusable(section, &STANDARD_WEBHOOKS_SCHEME, &secrets, reading) {
        Some(_) => None,
        None => Keys::new(&STANDARD_WEBHOOKS_SCHEME, &secrets.usable()).ok(),
    }
}

fn list(section: &Section<'_>, node: &Node, reading: &Reading<'_>) -> Vec<Secret> {
    let Value::List(entries) = &node.value else {
        section.wrong::<()>("secrets", node, "a list: `[ { name = \"live\", env = \"…\" } ]`", node.value.noun());
        return Vec::new();
    };
    if entries.is_empty() {
        section.bad(&node.at, "`secrets` is empty", "list at least one secret, or write `verify = \"none\"`");
    }
    if entries.len() > MAX_SECRETS {
        section.bad(
            &node.at,
            "too many secrets",
            format!("at most {MAX_SECRETS}; remove the ones that were rotated out"),
        );
    }
    let found: Vec<Secret> =
        entries.iter().take(MAX_SECRETS).filter_map(|entry| single(section, "secrets", entry, reading)).collect();
    for (at, secret) in found.iter().enumerate().skip(1) {
        if found.iter().take(at).any(|other| other.name == secret.name) {
            let text = format!("two secrets are named `{}`", secret.name);
            section.bad(&node.at, text, "the name is how the record says which one matched: give each its own");
        }
    }
    found
}

fn single(section: &Section<'_>, key: &str, node: &Node, reading: &Reading<'_>) -> Option<Secret> {
    match &node.value {
        Value::Text { text, .. } => literal(section, node, text, reading),
        Value::Table(_) => entry(&section.section_of(key, node)?, reading),
        other => section.wrong(key, node, "`{ env = \"NAME\" }` or `{ file = \"path\" }`", other.noun()),
    }
}

fn literal(section: &Section<'_>, node: &Node, text: &str, reading: &Reading<'_>) -> Option<Secret> {
    let severity = if reading.flags.dev { Severity::Warning } else { Severity::Error };
    let problem = Problem::error(Code::LiteralSecret, &node.at, "a secret is written into the configuration")
        .hint("write `{ env = \"NAME\" }` or `{ file = \"path\" }`; literal secrets are taken with `--dev` only");
    section.problems().add(Problem { severity, ..problem });
    let blank = text.trim().is_empty();
    if blank {
        missing(section, &node.at, "the secret is blank", "write one", reading);
    }
    Some(Secret::plain(&node.at, "literal", (!blank).then(|| SecretString::from(text.to_owned()))))
}

fn entry(section: &Section<'_>, reading: &Reading<'_>) -> Option<Secret> {
    let name = section.filled("name");
    let (env, file) = (section.filled("env"), section.filled("file"));
    let uses = [("sign", Use::Sign), ("handshake", Use::Handshake)];
    let purpose = section.choice("use", &uses).map_or(Use::Sign, |p| p.value);
    let id = section.filled("id").map(|id| id.value);
    let when = section.section("when").map_or_else(Vec::new, |s| conditions(&s));
    let (not_before, not_after) = window(section);
    section.finish();
    let expired = not_after.is_some_and(|end| end < reading.now);
    let (at, origin, value) = match (env, file) {
        (Some(env), None) => {
            let (origin, value) = variable(section, &env, expired, reading);
            (env.at, origin, value)
        }
        (None, Some(file)) => {
            let value = from_file(section, &file, expired, reading);
            (file.at, "main", value)
        }
        (Some(env), Some(_)) => {
            let hint = "a secret comes from one place: remove one of them";
            section.problems().error(Code::Contradiction, &env.at, "both `env` and `file` are written", hint);
            return None;
        }
        (None, None) => {
            if !section.perhaps("env") && !section.perhaps("file") {
                let hint = "write `env = \"NAME\"` or `file = \"path\"`";
                section.problems().error(Code::MissingKey, &section.at, "a secret without `env` or `file`", hint);
            }
            return None;
        }
    };
    let name = name.map_or_else(|| origin.to_owned(), |n| n.value);
    Some(Secret { at, name, purpose, id, when, not_before, not_after, value })
}

fn window(section: &Section<'_>) -> (Option<Micros>, Option<Micros>) {
    let (from, to) = (section.instant("not_before", DayEnd::First), section.instant("not_after", DayEnd::Last));
    if let (Some(from), Some(to)) = (from, to)
        && from > to
    {
        section.bad(&section.at, "`not_after` is before `not_before`", "such a secret never holds: exchange the two");
    }
    (from, to)
}

fn conditions(section: &Section<'_>) -> Vec<(String, String)> {
    let pair = |(path, entry): (&str, &super::tree::Entry)| {
        if !path.starts_with("$.") {
            section.bad(
                &entry.key_at,
                format!("`{path}` is no path"),
                "a path begins with `$.`: `\"$.Business\" = \"17\"`",
            );
        }
        section.text_of(path, &entry.node).map(|text| (path.to_owned(), text.value))
    };
    section.entries().filter_map(pair).collect()
}

/// The variable, else with `--dev` the generated secret of that name. The second half of the pair is the value, the
/// first the name that the record shows unless the user chose one.
fn variable(
    section: &Section<'_>,
    name: &Written<String>,
    expired: bool,
    reading: &Reading<'_>,
) -> (&'static str, Option<SecretString>) {
    if like_a_secret(&name.value) {
        let hint = "write the name of the variable that holds it: `{ env = \"STRIPE_WEBHOOK_SECRET\" }`";
        let text = "`env` names a variable, and this looks like a secret itself";
        section.problems().error(Code::BadSecret, &name.at, text, hint);
        return ("main", None);
    }
    let env = &reading.flags.env;
    let (origin, found) = match env.get(&name.value) {
        Some(value) => ("main", Some(value)),
        None => ("dev", reading.dev_secrets.get(&name.value)),
    };
    if let Some(value) = found.filter(|value| !value.trim().is_empty()) {
        if value.trim().len() != value.len() {
            let text = format!("the value of `{}` begins or ends with white space", name.shown);
            let hint = "it is used as it is; remove the space if the secret has none";
            section.problems().add(Problem::warning(Code::BadSecret, &name.at, text).hint(hint));
        }
        return (origin, Some(SecretString::from(value.to_owned())));
    }
    let (text, hint) = match found {
        Some(_) => {
            (format!("the secret in `{}` is blank", name.shown), "set it to the secret of the provider".to_owned())
        }
        None => (format!("variable `{}` is not set", name.shown), unset(&name.value, reading)),
    };
    if !expired {
        missing(section, &name.at, &text, &hint, reading);
    }
    (origin, None)
}

fn unset(name: &str, reading: &Reading<'_>) -> String {
    if let Some(near) = nearest(name, reading.flags.env.names()) {
        return format!("did you mean `{near}`?");
    }
    match reading.flags.dev {
        true => format!("set it, or add `{name}=…` to {}", super::dev::SECRETS_FILE),
        false => format!("set it; for trying things out, `--dev` takes it from {}", super::dev::SECRETS_FILE),
    }
}

/// A missing secret stops one source, not the server; where somebody asks whether all is well it is an error. So it is
/// for a consumer: what it sends would be unsigned, and who reads `sign` in the file believes otherwise.
fn severity(section: &Section<'_>, reading: &Reading<'_>) -> Severity {
    let strict = reading.flags.strict || section.name.starts_with("consumers.");
    if strict { Severity::Error } else { Severity::Warning }
}

fn missing(section: &Section<'_>, at: &Place, text: &str, hint: &str, reading: &Reading<'_>) {
    let severity = if reading.flags.strict { Severity::Error } else { Severity::Warning };
    let text = format!(
        "{text}: `{}` cannot work without it",
        section.name.trim_end_matches(".secret").trim_end_matches(".secrets")
    );
    section.problems().add(Problem { severity, ..Problem::error(Code::MissingSecret, at, text).hint(hint) });
}

/// `sources.billing` of `sources.billing.secrets`.
fn owner<'a>(section: &'a Section<'_>) -> &'a str {
    section.name.trim_end_matches(".secrets").trim_end_matches(".secret").trim_end_matches(".sign")
}

fn from_file(
    section: &Section<'_>,
    name: &Written<String>,
    expired: bool,
    reading: &Reading<'_>,
) -> Option<SecretString> {
    let path = reading.beside(&name.value);
    match contents(&path) {
        Ok(text) => usable(section, name, &path, text, expired, reading),
        Err(_) if expired => None,
        Err(why) => {
            missing(
                section,
                &name.at,
                &format!("cannot read secret file `{}`: {why}", name.shown),
                "create it with mode 0600",
                reading,
            );
            None
        }
    }
}

fn usable(
    section: &Section<'_>,
    name: &Written<String>,
    path: &Path,
    text: String,
    expired: bool,
    reading: &Reading<'_>,
) -> Option<SecretString> {
    if let Some(mode) = loose(path) {
        let text = format!("secret file `{}` can be read by others (mode {mode:04o})", name.shown);
        let problem = Problem::warning(Code::LooseSecretFile, &name.at, text);
        section.problems().add(problem.hint(format!("chmod 600 {}", path.display())));
    }
    let value = text.strip_suffix('\n').map_or(text.as_str(), |t| t.strip_suffix('\r').unwrap_or(t));
    if value.trim().is_empty() {
        if !expired {
            missing(
                section,
                &name.at,
                &format!("secret file `{}` is blank", name.shown),
                "write the secret into it",
                reading,
            );
        }
        return None;
    }
    if value.len() < text.len() {
        let said = format!("one trailing newline of secret file `{}` is not part of the secret", name.shown);
        section.problems().add(Problem::warning(Code::TrimmedSecret, &name.at, said).hint("nothing to do"));
    }
    Some(SecretString::from(value.to_owned()))
}

fn contents(path: &PathBuf) -> Result<String, String> {
    let file = File::open(path).map_err(|e| spoken(&e))?;
    if file.metadata().is_ok_and(|m| !m.is_file()) {
        return Err("it is no regular file".to_owned());
    }
    let mut bytes = Vec::new();
    file.take(MAX_SECRET_BYTES + 1).read_to_end(&mut bytes).map_err(|e| spoken(&e))?;
    if bytes.len() as u64 > MAX_SECRET_BYTES {
        return Err(format!("it is larger than {MAX_SECRET_BYTES} bytes"));
    }
    String::from_utf8(bytes).map_err(|_| "it is no UTF-8 text".to_owned())
}

/// The operating system's words without its error number.
pub fn spoken(error: &std::io::Error) -> String {
    use std::io::ErrorKind::{IsADirectory, NotFound, PermissionDenied};
    match error.kind() {
        NotFound => "it does not exist".to_owned(),
        PermissionDenied => "permission denied".to_owned(),
        IsADirectory => "it is a directory".to_owned(),
        _ => error.to_string(),
    }
}

/// The mode, where anybody but the owner may touch the file.
#[cfg(unix)]
fn loose(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(path).ok()?.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}

#[cfg(not(unix))]
fn loose(_: &Path) -> Option<u32> {
    None
}
