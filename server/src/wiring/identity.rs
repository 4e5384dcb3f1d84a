//! What was configured → the identity rule of a source, with its provider's profile behind it.

use anyhow::{Result, bail};
use hookonce_core::identify::{Coverage, Fingerprint, Rule, RuleSpec, VersionKind, VersionSpec};
use hookonce_core::signature::{Scheme, catalog};

use crate::config::meant::{self, Version};

/// Compiled; the store numbers it afterwards. `scheme` is `None` where nothing is signed.
pub fn rule(source: &meant::Source, scheme: Option<&Scheme>) -> Result<Rule> {
    let mut spec = written(source);
    spec.coverage = match scheme.map(Scheme::covers) {
        Some((headers, target)) => Coverage { headers, target, nothing: false },
        None => Coverage { nothing: true, ..Coverage::default() },
    };
    if let Some(provider) = source.provider.as_deref().and_then(catalog::provider) {
        spec = spec.with_defaults(provider);
    }
    match Rule::compile(&source.name, &source.namespace, &spec) {
        Ok(rule) => Ok(rule),
        // `check` has said all of this with file and line; here it only must not be passed over.
        Err(errors) => {
            let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
            bail!("identity rule of source `{}`: {}", source.name, texts.join("; "))
        }
    }
}

pub fn written(source: &meant::Source) -> RuleSpec {
    let rule = &source.rule;
    let one = |text: &Option<String>| text.clone().map(|t| vec![t]);
    let some = |list: &Vec<String>| (!list.is_empty()).then(|| list.clone());
    RuleSpec {
        key: one(&rule.key),
        kind: one(&rule.kind),
        aggregate: one(&rule.aggregate),
        time: one(&rule.time),
        version: rule.version.as_ref().map(version),
        schema_version: one(&rule.schema_version),
        schema_versions: some(&rule.schema_versions),
        schema_strict: rule.schema_strict,
        require: some(&rule.require),
        volatile: rule.volatile.clone(),
        items: rule.items.clone(),
        fallback: rule.fallback,
        fingerprint: Some(match rule.fingerprint {
            meant::Fingerprint::Bytes => Fingerprint::Bytes,
            meant::Fingerprint::Canonical => Fingerprint::Canonical,
        }),
        id_guard: source.id_guard,
        ..RuleSpec::default()
    }
}

fn version(written: &Version) -> VersionSpec {
    let (kind, text) = match written {
        Version::Time(text) => (VersionKind::Time, text),
        Version::Number(text) => (VersionKind::Number, text),
    };
    VersionSpec { kind, from: vec![text.clone()] }
}
