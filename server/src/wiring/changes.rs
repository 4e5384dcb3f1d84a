//! What a configuration changes, said before it is in force: at a start by what the store knows, at a reload by what runs.

use anyhow::{Result, bail};
use hookonce::change;
use hookonce::store::Store;
use hookonce::view::{Configured, Page, Query};

use super::consumers;
use super::sources::Rules;
use crate::config::Config;

pub async fn at_start(config: &Config, store: &dyn Store) -> Result<Vec<String>> {
    let known = known(store).await?;
    Ok([change::rules(&known.rules, &rules(config)), of_consumers(config, &known)].concat())
}

/// Consumers change at the next start only, and are told so.
pub async fn at_reload(config: &Config, running: &Rules, store: &dyn Store) -> Result<Vec<String>> {
    let (before, after) = (definitions(running), rules(config));
    let later = of_consumers(config, &known(store).await?).into_iter().map(|line| format!("at the next start: {line}"));
    Ok([change::sources(&before, &after), change::rules(&before, &after), later.collect()].concat())
}

fn of_consumers(config: &Config, known: &Configured) -> Vec<String> {
    let wanted: Vec<_> = config.consumers.iter().map(consumers::consumer).collect();
    change::consumers(known, &wanted)
}

async fn known(store: &dyn Store) -> Result<Configured> {
    match store.read(Query::Configured).await? {
        Page::Configured(known) => Ok(known),
        _ => bail!("the store does not say what was configured last"),
    }
}

fn rules(config: &Config) -> change::Rules {
    config.sources.iter().map(|source| (source.name.clone(), source.rule.definition.clone())).collect()
}

fn definitions(running: &Rules) -> change::Rules {
    running.iter().map(|(name, rule)| (name.clone(), rule.definition.clone())).collect()
}
