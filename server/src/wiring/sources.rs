//! Configured sources → sources at the door. Everything was made ready by `config`; only the rule's number is the store's.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use hookonce::alarm;
use hookonce::store::Store;
use hookonce_core::identify::Rule;
use hookonce_core::time::Micros;
use hookonce_http::{SignatureOver, Source, Verification};

use crate::config::meant;

/// The rules by source name, for what is mapped again later.
pub type Rules = HashMap<String, Arc<Rule>>;

/// All sources, each rule under the number that the store gives its definition.
pub async fn sources(written: Vec<meant::Source>, store: &dyn Store) -> Result<(Vec<Source>, Rules)> {
    let mut sources = Vec::with_capacity(written.len());
    let mut rules = Rules::new();
    for one in written {
        let number = store.rule(&one.name, &one.rule.definition).await.context("cannot number an identity rule")?;
        let source = source(one, number);
        rules.insert(source.name.to_string(), source.rule.clone());
        sources.push(source);
    }
    Ok((sources, rules))
}

/// A source that cannot verify answers 503. Said when that begins and not with the first event that is turned away.
pub fn alarm_troubles(sources: &[Source], now: Micros) {
    for source in sources {
        if let Some(why) = source.verification.trouble(now) {
            alarm::raise("source_without_secret", &format!("source `{}` answers 503: {why}", source.name));
        }
    }
}

fn source(written: meant::Source, number: i64) -> Source {
    Source {
        name: written.name.into(),
        namespace: written.namespace.into(),
        methods: written.methods,
        max_body: usize::try_from(written.max_body).unwrap_or(usize::MAX),
        verification: match written.verification {
            meant::Verification::Keys(keys) => Verification::Keys(keys),
            meant::Verification::None => Verification::None,
            meant::Verification::Missing { why, .. } => Verification::Missing(why),
        },
        options: written.options,
        rule: Arc::new(written.rule.numbered(number)),
        signature_over: match written.signature_over {
            meant::SignatureOver::Wire => SignatureOver::Wire,
            meant::SignatureOver::Decoded => SignatureOver::Decoded,
        },
        handshakes: written.handshakes,
        respond: written.respond,
        ack_deadline: written.ack_deadline,
        public_url: written.public_url,
        secret_headers: Vec::new(),
    }
}
