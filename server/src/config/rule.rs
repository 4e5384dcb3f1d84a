//! Identity of a source: the rule as written, over the profile of its provider, compiled by core. What core finds wrong
//! is pointed at in the file, to the character.

use hookonce_core::identify::{Coverage, Fingerprint, Rule, RuleError, RuleSpec, VersionKind, VersionSpec};
use hookonce_core::provider::{Fallback, IdGuard, Provider};

use super::code::Code;
use super::section::{Section, Written};
use super::tree::Value;

const GUARDS: [(&str, IdGuard); 3] =
    [("hold", IdGuard::Hold), ("duplicate", IdGuard::Duplicate), ("accept", IdGuard::Accept)];
const FALLBACKS: [(&str, Fallback); 2] = [("body", Fallback::Body), ("unmapped", Fallback::Unmapped)];
const FINGERPRINTS: [(&str, Fingerprint); 2] = [("bytes", Fingerprint::Bytes), ("canonical", Fingerprint::Canonical)];

/// What was written, by field: core names field and entry, this has the place.
#[derive(Default)]
pub struct Fields(Vec<(&'static str, Vec<Written<String>>)>);

impl Fields {
    fn note(&mut self, name: &'static str, texts: Option<Vec<Written<String>>>) -> Option<Vec<String>> {
        let texts = texts?;
        let values = texts.iter().map(|text| text.value.clone()).collect();
        self.0.push((name, texts));
        Some(values)
    }

    fn written(&self, error: &RuleError) -> Option<&Written<String>> {
        self.0.iter().find(|(name, _)| *name == error.field)?.1.get(error.entry)
    }
}

/// The rule as the configuration says it.
pub fn spec(section: &Section<'_>, fields: &mut Fields) -> RuleSpec {
    RuleSpec {
        key: fields.note("key", one_or_more(section, "key")),
        kind: fields.note("type", one_or_more(section, "type")),
        aggregate: fields.note("aggregate", one_or_more(section, "aggregate")),
        time: fields.note("time", one_or_more(section, "time")),
        version: section.section("version").and_then(|s| version(&s, fields)),
        delivery_id: None,
        attempt_mark: None,
        schema_version: fields.note("schema_version", one_or_more(section, "schema_version")),
        schema_versions: fields.note("schema_versions", section.texts("schema_versions")),
        schema_strict: section.flag("schema_strict").unwrap_or(false),
        require: fields.note("require", section.texts("require")),
        volatile: fields.note("volatile", section.texts("volatile")),
        items: fields.note("items", one_or_more(section, "items")),
        fallback: section.choice("fallback", &FALLBACKS).map(|f| f.value),
        fingerprint: section.choice("fingerprint", &FINGERPRINTS).map(|f| f.value),
        id_guard: section.choice("id_guard", &GUARDS).map(|g| g.value),
        coverage: Coverage::default(),
    }
}

/// A text, or a list of alternatives of which the first that holds counts.
fn one_or_more(section: &Section<'_>, key: &'static str) -> Option<Vec<Written<String>>> {
    match &section.entry(key)?.node.value {
        Value::List(_) => section.texts(key),
        _ => section.filled(key).map(|text| vec![text]),
    }
}

fn version(section: &Section<'_>, fields: &mut Fields) -> Option<VersionSpec> {
    let (time, number) = (one_or_more(section, "time"), one_or_more(section, "number"));
    section.finish();
    let (kind, from) = match (time, number) {
        (Some(from), None) => (VersionKind::Time, from),
        (None, Some(from)) => (VersionKind::Number, from),
        (Some(_), Some(second)) => {
            let at = second.first().map_or(&section.at, |text| &text.at);
            let hint = "a version is one or the other: times and numbers do not compare";
            section.problems().error(Code::Contradiction, at, "both `time` and `number` are written", hint);
            return None;
        }
        (None, None) => {
            if !section.perhaps("time") && !section.perhaps("number") {
                let hint = "`version = { time = \"$.updated\" }` or `{ number = \"$.seq\" }`";
                let text = "`version` says neither `time` nor `number`";
                section.problems().error(Code::MissingKey, &section.at, text, hint);
            }
            return None;
        }
    };
    let from = fields.note("version", Some(from))?;
    Some(VersionSpec { kind, from })
}

/// `None`: something about it is wrong, and has been said.
pub fn compile(
    section: &Section<'_>,
    names: (&str, &str),
    spec: RuleSpec,
    fields: &Fields,
    provider: Option<&Provider>,
) -> Option<Rule> {
    let spec = match provider {
        Some(provider) => spec.with_defaults(provider),
        None => spec,
    };
    let (source, namespace) = names;
    match Rule::compile(source, namespace, &spec) {
        Ok(rule) => Some(rule),
        Err(errors) => {
            // A key that is not there at all has its own complaint, with the other ways to give a source an identity.
            let told = |e: &RuleError| e.field == "key" && spec.key.is_none();
            errors.iter().filter(|e| !told(e)).for_each(|error| complain(section, error, fields));
            None
        }
    }
}

fn complain(section: &Section<'_>, error: &RuleError, fields: &Fields) {
    let (message, hint) = error.message.split_once("hint: ").unwrap_or((&error.message, RULE_FORM));
    let message = message.trim_end_matches([' ', '.']);
    let (at, text) = match fields.written(error) {
        Some(text) => {
            let said = format!("`{}` cannot be `{}`: {message}", error.field, text.shown);
            (text.at.within(&text.value, error.offset), said)
        }
        None => (section.at.clone(), format!("`{}`: {message}", error.field)),
    };
    section.problems().error(Code::BadRule, &at, text, hint);
}

const RULE_FORM: &str =
    "a path `$.id`, a template `{Entity}:{$.id}`, `header:Name`, `query:NAME`, `form:NAME`, or `body-sha256`";
