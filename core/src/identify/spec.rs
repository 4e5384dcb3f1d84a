//! An identity rule as text: what the configuration says, what a provider's profile fills in, and the normal form that
//! is stored so that a rule of last month can still be asked.

use serde::{Deserialize, Serialize};

use crate::provider::{Fallback, IdGuard, Provider};

/// Every field in the words of the configuration; `None`: not written there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleSpec {
    pub key: Option<Vec<String>>,
    pub kind: Option<Vec<String>>,
    pub aggregate: Option<Vec<String>>,
    pub time: Option<Vec<String>>,
    pub version: Option<VersionSpec>,
    pub delivery_id: Option<Vec<String>>,
    pub attempt_mark: Option<Vec<String>>,
    pub schema_version: Option<Vec<String>>,
    /// Others are held if `schema_strict`.
    pub schema_versions: Option<Vec<String>>,
    pub schema_strict: bool,
    pub require: Option<Vec<String>>,
    pub volatile: Option<Vec<String>>,
    pub items: Option<Vec<String>>,
    pub fallback: Option<Fallback>,
    pub fingerprint: Option<Fingerprint>,
    pub id_guard: Option<IdGuard>,
    pub coverage: Coverage,
}

/// `version = { number = … }` or `{ time = … }`; a profile does not say which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionSpec {
    pub kind: VersionKind,
    pub from: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VersionKind {
    #[default]
    Any,
    Number,
    Time,
}

/// How the fingerprint is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fingerprint {
    #[default]
    Bytes,
    Canonical,
}

/// What the signature of the source covers beside the body. What it does not cover anybody may change, so values read
/// from there are part of the fingerprint, and ids read from there are guarded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    pub headers: Vec<String>,
    /// The URL with its query.
    pub target: bool,
    /// `verify = "none"`: a guard over unsigned bytes would guard nothing.
    pub nothing: bool,
}

impl RuleSpec {
    /// Fills what is not written from the provider's profile. What belongs to the profile's key (its fallback and its
    /// guard) comes with that key only.
    pub fn with_defaults(mut self, provider: &Provider) -> RuleSpec {
        let identity = &provider.identity;
        if self.key.is_none() {
            // A provider whose events carry no id: the hash of the body stands for one.
            self.key = list(identity.key).or_else(|| Some(vec!["body-sha256".into()]));
            self.fallback = self.fallback.or(Some(provider.fallback));
            self.id_guard = self.id_guard.or(provider.id_guard).or(Some(IdGuard::Accept));
        }
        let fill = |field: &mut Option<Vec<String>>, default| {
            if field.is_none() {
                *field = list(default);
            }
        };
        fill(&mut self.kind, identity.kind);
        fill(&mut self.aggregate, identity.aggregate);
        fill(&mut self.time, identity.time);
        fill(&mut self.delivery_id, identity.delivery_id);
        fill(&mut self.attempt_mark, identity.attempt_mark);
        fill(&mut self.volatile, identity.volatile);
        fill(&mut self.items, identity.items);
        if self.version.is_none() {
            self.version = list(identity.version).map(|from| VersionSpec { kind: VersionKind::Any, from });
        }
        self
    }
}

fn list(texts: &[&str]) -> Option<Vec<String>> {
    (!texts.is_empty()).then(|| texts.iter().map(|t| (*t).to_owned()).collect())
}

/// What decides digest and fingerprint, in one spelling: equal definitions are one rule and share its number. Stored,
/// and read again when a key is looked up under an older rule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    pub key: Vec<String>,
    #[serde(rename = "type")]
    pub kind: Vec<String>,
    pub aggregate: Vec<String>,
    pub items: Vec<String>,
    pub volatile: Vec<String>,
    pub fingerprint: Fingerprint,
    /// `body` or `unmapped`.
    pub fallback: String,
    /// Places outside the signature that the fingerprint covers.
    pub unsigned: Vec<String>,
}

/// A stored definition that this version cannot read.
#[derive(Debug, thiserror::Error)]
#[error("stored identity rule is unreadable: {0}")]
pub struct Unreadable(#[from] serde_json::Error);

impl Definition {
    pub fn text(&self) -> String {
        // Strings and lists of strings always have a JSON form.
        serde_json::to_string(self).unwrap_or_default()
    }

    pub fn parse(text: &str) -> Result<Definition, Unreadable> {
        Ok(serde_json::from_str(text)?)
    }

    /// The rule again, as far as identity goes: without time, version, requirements and guard.
    pub fn spec(&self) -> RuleSpec {
        let headers = [&self.key, &self.kind, &self.aggregate].into_iter().flatten();
        let headers = headers.flat_map(|text| super::expr::headers(text));
        RuleSpec {
            key: Some(self.key.clone()),
            kind: Some(self.kind.clone()),
            aggregate: Some(self.aggregate.clone()),
            items: Some(self.items.clone()),
            volatile: Some(self.volatile.clone()),
            fingerprint: Some(self.fingerprint),
            fallback: Some(if self.fallback == "body" { Fallback::Body } else { Fallback::Unmapped }),
            id_guard: Some(IdGuard::Accept),
            coverage: Coverage {
                headers: headers.filter(|h| !self.unsigned.contains(&format!("header:{h}"))).collect(),
                target: !self.unsigned.iter().any(|place| place.starts_with("query:")),
                nothing: false,
            },
            ..RuleSpec::default()
        }
    }
}
