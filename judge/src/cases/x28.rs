//! X28: retention as short as it can be while load, lanes and retries go on, and the server dies between its commits.

use anyhow::{Result, ensure};

use super::{Stage, clean, outsider};
use crate::dump;
use crate::kill::{self, Blow};
use crate::rig::config::Tuning;

/// Bytes go as soon as all work on them is done; the keys stay, so that no copy is lost on the checker.
pub const SHORT: &str = r#"retain = { payload = "1s", ledger = "1h", reason = "a fault" }"#;
const POINTS: [&str; 2] = ["purge_said", "purge_deleted"];
const EACH: u64 = 2;

const GONE: &str = "select (select count(*) from hookonce_event) - (select count(*) from hookonce_payload)";

pub async fn run(stage: Stage) -> Result<()> {
    let mut trial = stage.trial(Tuning { source: SHORT, ..Tuning::default() }).await?;
    let mut hits = 0;
    for cycle in 0..EACH * POINTS.len() as u64 {
        let blow = Blow::At { point: POINTS[cycle as usize % POINTS.len()], hit: 1 };
        hits += u64::from(kill::strike(&mut trial, cycle, &blow, &stage.dice().fork(cycle)).await?);
        clean(&trial.look(false).await?)?;
    }
    let verdict = trial.drain().await?;
    let gone = outsider::number(&dump::inbox_of(&trial.place.database()), GONE)?;
    ensure!(hits > 0 && gone > 0, "void: {hits} deaths within retention, {gone} bodies taken");
    clean(&verdict)
}
