//! Every vector of every provider that is built: accept or refuse is binding, and so is the reason, of which a vector
//! may allow several.

use crate::case::{self, Case};

fn judge(case: &Case) -> Result<(), String> {
    match (case.valid, case.verify()) {
        (true, Ok(_)) => Ok(()),
        (false, Err(reason)) if case.reasons.contains(&reason) => Ok(()),
        (_, found) => Err(format!("{}: {found:?}, expected valid = {} or {:?}", case.id, case.valid, case.reasons)),
    }
}

fn all_hold(provider: &str, count: usize) {
    let cases: Vec<Case> = case::of(provider).into_iter().filter(|case| case.kind == "verify").collect();
    assert_eq!(cases.len(), count, "vectors of {provider}");
    let wrong: Vec<String> = cases.iter().filter_map(|case| judge(case).err()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn crmbridge() {
    all_hold("crmbridge", 17);
}

#[test]
fn github() {
    all_hold("github", 22);
}

#[test]
fn slack() {
    all_hold("slack", 11);
}

#[test]
fn standard_webhooks() {
    all_hold("standard-webhooks", 24);
}

#[test]
fn stripe() {
    all_hold("stripe", 15);
}

#[test]
fn twilio() {
    all_hold("twilio", 22);
}
