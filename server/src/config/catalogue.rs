//! What the configuration asks of the providers' catalogue.

const BUILT: [(&str, &[&str]); 6] = [
    ("crmbridge", &["crmbridge"]),
    ("github", &["github", "github-sha1"]),
    ("slack", &["slack"]),
    ("standard-webhooks", &["standard-webhooks"]),
    ("stripe", &["stripe"]),
    ("twilio", &["twilio"]),
];

pub fn names() -> impl Iterator<Item = &'static str> {
    BUILT.iter().map(|(name, _)| *name)
}

pub fn schemes(provider: &str) -> Vec<&'static str> {
    BUILT.iter().find(|(name, _)| *name == provider).map_or_else(Vec::new, |(_, schemes)| schemes.to_vec())
}

pub fn uses_secret(provider: &str) -> bool {
    BUILT.iter().any(|(name, _)| *name == provider)
}

pub fn has_id(provider: &str) -> bool {
    provider != "crmbridge"
}
