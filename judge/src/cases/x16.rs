//! X16 on the unbroken server: zombies settle, and nothing comes of it.

use anyhow::{Result, ensure};

use super::{Stage, clean};
use crate::kill::zombie;
use crate::rig::config::Tuning;

pub async fn run(stage: Stage) -> Result<()> {
    let mut trial = stage.trial(Tuning::default()).await?;
    let fenced = zombie(&mut trial, 0, &stage.dice()).await?;
    ensure!(fenced > 0, "void: no settle was fenced");
    clean(&trial.look(false).await?)?;
    clean(&trial.drain().await?)
}
