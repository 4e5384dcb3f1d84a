//! How a source proves where requests come from: `provider` and `scheme`, `verify = { hmac = … }`, `verify = "none"`.
//! The result is a [`Scheme`] either way. Nothing is ever unsigned by default.

use std::borrow::Cow;

use hookonce_core::provider::Provider;
use hookonce_core::signature::{Carrier, Encoding, Hash, Place, Scheme, SchemeError, Timestamp, Unit};

use super::catalogue::placeholders;
use super::code::Code;
use super::near;
use super::not_built::{self, VERIFY_KINDS};
use super::section::{Section, Written};
use super::tree::{Entry, Value};

const HASHES: [(&str, Hash); 4] =
    [("sha1", Hash::Sha1), ("sha256", Hash::Sha256), ("sha384", Hash::Sha384), ("sha512", Hash::Sha512)];
const ENCODINGS: [(&str, Encoding); 3] =
    [("hex", Encoding::Hex), ("base64", Encoding::Base64), ("base64url", Encoding::Base64Url)];
const UNITS: [(&str, Unit); 4] =
    [("s", Unit::Seconds), ("ms", Unit::Milliseconds), ("us", Unit::Microseconds), ("rfc3339", Unit::Rfc3339)];
/// What `signed` may name, beside `{header:N}`.
const PLACEHOLDERS: [&str; 6] = ["body", "timestamp", "url", "method", "path", "query"];
const SIGNED_FORM: &str =
    "placeholders: `{body}`, `{timestamp}`, `{header:Name}`, `{url}`, `{method}`, `{path}`, `{query}`";
/// Age of a signed time that is still accepted where the source says nothing else, seconds.
const TOLERANCE_SECONDS: u32 = 300;

/// `Some(None)`: `verify = "none"`. `None`: a problem has been reported.
pub fn read(section: &Section<'_>, provider: Option<&'static Provider>) -> Option<Option<Scheme>> {
    let chosen = section.filled("scheme");
    let Some(entry) = section.entry("verify") else {
        return match provider {
            Some(provider) => of_provider(section, provider, chosen),
            None => unsigned(section, chosen),
        };
    };
    if let Some(scheme) = &chosen {
        let hint = "`verify` says it all already: remove one of the two";
        section.problems().error(Code::Contradiction, &scheme.at, "`scheme` beside `verify`", hint);
    }
    match &entry.node.value {
        Value::Text { text, .. } if text == "none" => Some(None),
        Value::Text { shown, .. } => {
            let text = format!("`verify` cannot be `{shown}`");
            section.bad(
                &entry.node.at,
                text,
                "`\"none\"`, or a table: `{ hmac = \"sha256\", header = \"X-Signature\" }`",
            );
            None
        }
        Value::Table(_) => generic(&section.section_of("verify", &entry.node)?, entry).map(Some),
        other => section.wrong("verify", &entry.node, "a table or `\"none\"`", other.noun()),
    }
}

fn of_provider(section: &Section<'_>, provider: &Provider, chosen: Option<Written<String>>) -> Option<Option<Scheme>> {
    let Some(chosen) = chosen else {
        return match provider.schemes.first() {
            Some(scheme) => Some(Some((*scheme).clone())),
            None => unsigned(section, None),
        };
    };
    let found = provider.schemes.iter().find(|scheme| scheme.name == chosen.value);
    if found.is_none() {
        let names = provider.schemes.iter().map(|scheme| &*scheme.name);
        let text = format!("provider `{}` has no scheme `{}`", provider.id, chosen.shown);
        section.problems().error(Code::UnknownScheme, &chosen.at, text, near::hint(&chosen.value, names));
    }
    found.map(|scheme| Some((*scheme).clone()))
}

fn unsigned(section: &Section<'_>, chosen: Option<Written<String>>) -> Option<Option<Scheme>> {
    if let Some(scheme) = chosen.filter(|_| !section.perhaps("provider")) {
        let hint = "it chooses among the schemes of a `provider`; name the provider, or remove it";
        section.problems().error(Code::Misplaced, &scheme.at, "`scheme` without `provider`", hint);
    }
    if !section.perhaps("provider") && !section.perhaps("verify") {
        let text = format!("`[{}]` does not say how requests are verified", section.name);
        let hint = "name a `provider`, write `verify = { hmac = \"sha256\", header = \"…\" }`, or say `verify = \"none\"` if anybody may send";
        section.problems().error(Code::NotVerified, &section.at, text, hint);
    }
    None
}

fn generic(section: &Section<'_>, written: &Entry) -> Option<Scheme> {
    let hash = section.choice("hmac", &HASHES);
    let carrier = carrier(section);
    let prefix = section.text("prefix").map_or_else(String::new, |p| p.value);
    let encoding = section.choice("encoding", &ENCODINGS).map_or(Encoding::Hex, |e| e.value);
    let timestamp = section.section("timestamp").map(|s| timestamp(&s));
    let signed = signed(section, timestamp.is_some());
    let list = section.text("list").map(|l| Cow::Owned(l.value));
    let later: Vec<&&str> = VERIFY_KINDS.iter().filter(|kind| section.entry(kind).is_some()).collect();
    section.finish();
    for kind in &later {
        let hint = "built: `{ hmac = … }` and the providers' own schemes";
        not_built::refuse(section.problems(), &written.node.at, &format!("`verify = {{ {kind} = … }}`"), hint);
    }
    if !section.perhaps("hmac") && later.is_empty() {
        let hint = "write `hmac = \"sha256\"` (or `sha1`, `sha384`, `sha512`)";
        section.problems().error(Code::MissingKey, &written.node.at, "`verify` names no algorithm", hint);
    }
    if !later.is_empty() {
        return None;
    }
    let scheme = Scheme::hmac("hmac".into(), hash?.value, carrier?, prefix.into(), encoding, signed?.into());
    let timestamp = match timestamp {
        Some(written) => Some(written?),
        None => None,
    };
    let scheme = Scheme { list, timestamp, ..scheme };
    let errors = scheme.check();
    for error in &errors {
        section.bad(&written.node.at, format!("`verify`: {error}"), scheme_hint(error));
    }
    errors.is_empty().then_some(scheme)
}

fn scheme_hint(error: &SchemeError) -> &'static str {
    match error {
        SchemeError::Header(_) => "letters, digits and `-`",
        SchemeError::NoList => "write what separates the entries: `list = \" \"`",
        _ => SIGNED_FORM,
    }
}

fn carrier(section: &Section<'_>) -> Option<Carrier> {
    match (section.filled("header"), section.filled("query")) {
        (Some(name), None) => header_name(section, &name).then(|| Carrier::Header(name.value.into())),
        (None, Some(name)) => Some(Carrier::Query(name.value.into())),
        (Some(_), Some(query)) => {
            let hint = "the signature stands in one place: remove one of the two";
            section.problems().error(Code::Contradiction, &query.at, "both `header` and `query` are written", hint);
            None
        }
        (None, None) => {
            if !section.perhaps("header") && !section.perhaps("query") {
                let hint = "write `header = \"X-Signature\"` or `query = \"sig\"`";
                let text = "`verify` does not say where the signature stands";
                section.problems().error(Code::MissingKey, &section.at, text, hint);
            }
            None
        }
    }
}

fn header_name(section: &Section<'_>, name: &Written<String>) -> bool {
    let fine = http::HeaderName::try_from(name.value.as_str()).is_ok();
    if !fine {
        section.bad(&name.at, format!("`{}` is no name of a header", name.shown), "letters, digits and `-`");
    }
    fine
}

fn timestamp(section: &Section<'_>) -> Option<Timestamp> {
    let header = section.filled("header");
    let unit = section.choice("unit", &UNITS).map_or(Unit::Seconds, |u| u.value);
    section.finish();
    if !section.perhaps("header") {
        let hint = "write `header = \"X-Timestamp\"`";
        section.problems().error(Code::MissingKey, &section.at, "`timestamp` names no header", hint);
    }
    let header = header.filter(|name| header_name(section, name))?;
    Some(Timestamp { place: Place::Header(header.value.into()), unit, past: Some(TOLERANCE_SECONDS), future: None })
}

fn signed(section: &Section<'_>, timed: bool) -> Option<String> {
    let Some(signed) = section.filled("signed") else {
        return (!section.perhaps("signed")).then(|| "{body}".to_owned());
    };
    let Ok(names) = placeholders(&signed.value) else {
        section.bad(&signed.at, format!("`{{` without `}}` in `{}`", signed.shown), SIGNED_FORM);
        return None;
    };
    if let Some(name) = names.iter().find(|n| !PLACEHOLDERS.contains(n) && !n.starts_with("header:")) {
        let near = near::nearest(name, PLACEHOLDERS);
        let hint = near.map_or_else(|| SIGNED_FORM.to_owned(), |near| format!("did you mean `{{{near}}}`?"));
        section.bad(&signed.at, format!("unknown placeholder `{{{name}}}` in `signed`"), hint);
        return None;
    }
    let refuse = |code, text: &str, hint: &str| {
        section.problems().error(code, &signed.at, text, hint);
        None
    };
    match (names.contains(&"timestamp"), timed) {
        (true, false) => refuse(
            Code::Contradiction,
            "`signed` names `{timestamp}`, and `timestamp` is not written",
            "write `timestamp = { header = \"X-Timestamp\" }`",
        ),
        (false, true) => refuse(
            Code::Contradiction,
            "`timestamp` is written, and `signed` does not cover it",
            "a time that is not signed proves nothing: `signed = \"{timestamp}.{body}\"`",
        ),
        _ if !names.contains(&"body") => refuse(
            Code::BadValue,
            "`signed` does not cover the body",
            "without `{body}` anybody who has seen one signature can send anything",
        ),
        _ => Some(signed.value),
    }
}
