//! F27 a and b, and the late copies of F01 and F24: what retention forgets is never delivered as new.

use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::f22::until;
use super::{Stage, letter, log_without, outsider};
use crate::dump;
use crate::history::{Evidence, Kind};
use crate::rig::config::Tuning;
use crate::rig::load::Line;
use crate::rig::traffic::{Occurrence, Source};
use crate::trial::Trial;

/// Bytes for a second, keys long enough that a copy can come in between. A sender that retries longer would be refused.
const RETAIN: &str = r#"retry_window = "10s"
retain = { payload = "1s", ledger = "12s", reason = "a field case" }"#;
const EVENTS: usize = 30;

const BYTES: &str = "select count(*) from hookonce_payload";
const KEYS: &str = "select count(*) from hookonce_ledger";
const COPIES: &str = "select count(*) from hookonce_request where verdict = 'duplicate'";
const CONFLICTS: &str = "select count(*) from hookonce_request where verdict = 'conflict'";
const HELD: &str = "select count(*) from hookonce_hold where reason = 'beyond_retention' and released is null";
const DELIVERIES: &str = "select count(*) from hookonce_delivery";

pub async fn run(stage: Stage) -> Result<()> {
    let mut trial = stage.trial(Tuning { source: RETAIN, ..Tuning::default() }).await?;
    let mut child = trial.start(None).await?.context("the server did not start")?;
    let mut dice = stage.dice();
    let invented = std::iter::repeat_with(|| trial.provider.invent(&mut dice)).filter(|o| o.source == Source::Crm);
    let all: Vec<Occurrence> = invented.take(EVENTS).collect();
    send(&trial, &all, Kind::First).await?;
    trial.quiet().await;
    let sent = arrivals(&trial)?;
    ensure!(sent >= EVENTS, "{sent} of {EVENTS} events arrived");
    let (inbox, work) = (dump::inbox_of(&trial.place.database()), trial.place.database());
    zero(&inbox, BYTES).await?;
    // The bytes are gone, the keys are not: a copy is a copy, other content a conflict.
    send(&trial, &all[..1], Kind::Duplicate).await?;
    send(&trial, &[all[1].contradict()], Kind::Conflict).await?;
    let met = (outsider::number(&inbox, COPIES)?, outsider::number(&inbox, CONFLICTS)?);
    ensure!(met == (1, 1), "a copy and other content, after the bytes: {met:?} copies and conflicts");
    zero(&inbox, KEYS).await?;
    ensure!(outsider::number(&work, DELIVERIES)? == 0, "deliveries outlive their events");
    send(&trial, &all, Kind::Duplicate).await?;
    until("every late copy is held", || async { outsider::number(&work, HELD).is_ok_and(|n| n == EVENTS as i64) })
        .await?;
    trial.quiet().await;
    ensure!(arrivals(&trial)? == sent, "a late copy was delivered as new");
    child.drain().await?;
    log_without(&trial.place.log(), &["ERROR"])
}

async fn send(trial: &Trial, all: &[Occurrence], kind: Kind) -> Result<()> {
    let mut line = Line::default();
    for what in all {
        trial.provider.post(&letter(what.clone(), kind), &mut line).await?;
    }
    Ok(())
}

fn arrivals(trial: &Trial) -> Result<usize> {
    Ok(Evidence::read(&trial.place.evidence())?.sink.len())
}

async fn zero(inbox: &Path, sql: &'static str) -> Result<()> {
    until("retention has come to it", || async { outsider::number(inbox, sql).is_ok_and(|n| n == 0) }).await
}
