//! How a source proves where requests come from: `provider` and `scheme`, `verify = { hmac = … }`, `verify = "none"`.
//! Nothing is ever unsigned by default.

use super::code::Code;
use super::meant::{Carrier, Encoding, Hmac, HmacHash, TimeUnit, Timestamp, Verify};
use super::near;
use super::not_built::{self, VERIFY_KINDS};
use super::section::{Section, Written};
use super::tree::{Entry, Value};

const HASHES: [(&str, HmacHash); 4] = [
    ("sha1", HmacHash::Sha1),
    ("sha256", HmacHash::Sha256),
    ("sha384", HmacHash::Sha384),
    ("sha512", HmacHash::Sha512),
];
const ENCODINGS: [(&str, Encoding); 3] =
    [("hex", Encoding::Hex), ("base64", Encoding::Base64), ("base64url", Encoding::Base64Url)];
const UNITS: [(&str, TimeUnit); 4] =
    [("s", TimeUnit::Seconds), ("ms", TimeUnit::Millis), ("us", TimeUnit::Micros), ("rfc3339", TimeUnit::Rfc3339)];
/// What `signed` may name, beside `{header:N}`.
const PLACEHOLDERS: [&str; 6] = ["body", "timestamp", "url", "method", "path", "query"];
const SIGNED_FORM: &str =
    "placeholders: `{body}`, `{timestamp}`, `{header:Name}`, `{url}`, `{method}`, `{path}`, `{query}`";

/// `None`: a problem has been reported.
pub fn read(section: &Section<'_>, has_provider: bool) -> Option<Verify> {
    let Some(entry) = section.entry("verify") else {
        return if has_provider { Some(Verify::Provider) } else { unsigned(section) };
    };
    match &entry.node.value {
        Value::Text { text, .. } if text == "none" => Some(Verify::None),
        Value::Text { shown, .. } => {
            let text = format!("`verify` cannot be `{shown}`");
            section.bad(
                &entry.node.at,
                text,
                "`\"none\"`, or a table: `{ hmac = \"sha256\", header = \"X-Signature\" }`",
            );
            None
        }
        Value::Table(_) => generic(&section.section_of("verify", &entry.node)?, entry),
        other => section.wrong("verify", &entry.node, "a table or `\"none\"`", other.noun()),
    }
}

fn unsigned(section: &Section<'_>) -> Option<Verify> {
    let hint = "name a `provider`, write `verify = { hmac = \"sha256\", header = \"…\" }`, or say `verify = \"none\"` if anybody may send";
    section.problems().error(
        Code::NotVerified,
        &section.at,
        format!("`[{}]` does not say how requests are verified", section.name),
        hint,
    );
    None
}

fn generic(section: &Section<'_>, written: &Entry) -> Option<Verify> {
    let hash = section.choice("hmac", &HASHES);
    let (header, query) = (section.filled("header"), section.filled("query"));
    let prefix = section.text("prefix").map_or_else(String::new, |p| p.value);
    let encoding = section.choice("encoding", &ENCODINGS).map_or(Encoding::Hex, |e| e.value);
    let signed = section.filled("signed");
    let timestamp = section.section("timestamp").map(|s| timestamp(&s));
    let list = section.text("list").map(|l| l.value);
    let later: Vec<&&str> = VERIFY_KINDS.iter().filter(|kind| section.entry(kind).is_some()).collect();
    section.finish();
    for kind in &later {
        let hint = "built: `{ hmac = … }` and the providers' own schemes";
        not_built::refuse(section.problems(), &written.node.at, &format!("`verify = {{ {kind} = … }}`"), hint);
    }
    if !section.has("hmac") {
        if later.is_empty() {
            let hint = "write `hmac = \"sha256\"` (or `sha1`, `sha384`, `sha512`)";
            section.problems().error(Code::MissingKey, &written.node.at, "`verify` names no algorithm", hint);
        }
        return None;
    }
    let carrier = carrier(section, header, query);
    let signed = template(section, signed, timestamp.is_some());
    Some(Verify::Hmac(Hmac {
        hash: hash?.value,
        carrier: carrier?,
        prefix,
        encoding,
        signed: signed?,
        timestamp: timestamp.flatten(),
        list,
    }))
}

fn carrier(section: &Section<'_>, header: Option<Written<String>>, query: Option<Written<String>>) -> Option<Carrier> {
    match (header, query) {
        (Some(name), None) => header_name(section, &name).then_some(Carrier::Header(name.value)),
        (None, Some(name)) => Some(Carrier::Query(name.value)),
        (Some(_), Some(query)) => {
            section.problems().error(
                Code::Contradiction,
                &query.at,
                "both `header` and `query` are written",
                "the signature stands in one place",
            );
            None
        }
        (None, None) => {
            if !section.has("header") && !section.has("query") {
                let hint = "write `header = \"X-Signature\"` or `query = \"sig\"`";
                section.problems().error(
                    Code::MissingKey,
                    &section.at,
                    "`verify` does not say where the signature stands",
                    hint,
                );
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
    let unit = section.choice("unit", &UNITS).map_or(TimeUnit::Seconds, |u| u.value);
    section.finish();
    if !section.has("header") {
        section.problems().error(
            Code::MissingKey,
            &section.at,
            "`timestamp` names no header",
            "write `header = \"X-Timestamp\"`",
        );
    }
    let header = header.filter(|name| header_name(section, name))?;
    Some(Timestamp { header: header.value, unit })
}

fn template(section: &Section<'_>, signed: Option<Written<String>>, timed: bool) -> Option<String> {
    let Some(signed) = signed else {
        return (!section.has("signed")).then(|| "{body}".to_owned());
    };
    let mut names = Vec::new();
    let mut rest = signed.value.as_str();
    while let Some((_, inside)) = rest.split_once('{') {
        let Some((name, after)) = inside.split_once('}') else {
            section.bad(&signed.at, format!("`{{` without `}}` in `{}`", signed.shown), SIGNED_FORM);
            return None;
        };
        names.push(name);
        rest = after;
    }
    let unknown = names.iter().find(|n| !PLACEHOLDERS.contains(n) && !n.starts_with("header:"));
    if let Some(name) = unknown {
        section.bad(
            &signed.at,
            format!("unknown placeholder `{{{name}}}` in `signed`"),
            near::nearest(name, PLACEHOLDERS)
                .map_or_else(|| SIGNED_FORM.to_owned(), |n| format!("did you mean `{{{n}}}`?")),
        );
        return None;
    }
    let time = names.contains(&"timestamp");
    if time != timed {
        let (text, hint) = match time {
            true => (
                "`signed` names `{timestamp}`, and `timestamp` is not written",
                "write `timestamp = { header = \"X-Timestamp\" }`",
            ),
            false => (
                "`timestamp` is written, and `signed` does not cover it",
                "a time that is not signed proves nothing: `signed = \"{timestamp}.{body}\"`",
            ),
        };
        section.problems().error(Code::Contradiction, &signed.at, text, hint);
        return None;
    }
    if !names.contains(&"body") {
        let hint = "without `{body}` anybody who has seen one signature can send anything";
        section.bad(&signed.at, format!("`signed` does not cover the body: `{}`", signed.shown), hint);
        return None;
    }
    Some(signed.value)
}
