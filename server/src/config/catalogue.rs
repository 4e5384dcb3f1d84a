//! What the configuration asks of the providers' catalogue and of a scheme.

use hookonce_core::identify::Coverage;
use hookonce_core::provider::Provider;
use hookonce_core::signature::{Scheme, Signed, catalog};

pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    catalog::all().iter().map(|provider| provider.id)
}

/// Names of the placeholders of a template: of `{timestamp}.{body}` `timestamp` and `body`. The error is the text
/// from a `{` that is not closed.
pub fn placeholders(template: &str) -> Result<Vec<&str>, &str> {
    let mut names = Vec::new();
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let inside = &rest[open + 1..];
        let (name, after) = inside.split_once('}').ok_or(&rest[open..])?;
        names.push(name);
        rest = after;
    }
    Ok(names)
}

/// What the signature covers beside the body. Of a scheme that no template describes: nothing that could be relied on.
pub fn coverage(scheme: Option<&Scheme>) -> Coverage {
    let Some(scheme) = scheme else { return Coverage { nothing: true, ..Coverage::default() } };
    let Signed::Template(template) = &scheme.signed else { return Coverage::default() };
    let names = placeholders(template).unwrap_or_default();
    Coverage {
        headers: names.iter().filter_map(|n| n.strip_prefix("header:")).map(str::to_owned).collect(),
        target: names.contains(&"url") || names.contains(&"query"),
        nothing: false,
    }
}

/// Whether events of the provider carry an id.
pub fn has_id(provider: &Provider) -> bool {
    provider.identity.key.iter().any(|key| *key != "body-sha256")
}
