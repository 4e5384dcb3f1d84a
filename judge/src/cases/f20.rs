//! F20: runs that do not come back. The receiver cannot abort the process, so the abort is a kill point in the run.

use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::{Stage, clean, letter};
use crate::dump::Halted;
use crate::history::{Kind, Reply};
use crate::rig::config::Tuning;
use crate::rig::load::{Line, Told};
use crate::rig::traffic::{Occurrence, Source};
use crate::trial::Trial;

/// Leases without an outcome after which a delivery is dead: three, then five alone.
const LOSSES: i64 = 8;
const TUNING: Tuning =
    Tuning { retry: r#"{ first = "50ms", max = "100ms", attempts = 3 }"#, more: r#"on_dead = "continue""#, source: "" };
/// A run starts within this after the server is ready; far above what it takes.
const SOON: Duration = Duration::from_secs(10);
/// As long as a held attempt may last: longer than it takes to kill the server.
const HOLD: Duration = Duration::from_secs(2);

/// Two events of one lane and one of another.
fn events(trial: &Trial, stage: &Stage) -> [Occurrence; 3] {
    let mut dice = stage.dice();
    let mut next = || loop {
        let what = trial.provider.invent(&mut dice);
        if what.source == Source::Registry && what.event_type.starts_with("filing") {
            return what;
        }
    };
    let first = next();
    let mut same = next();
    while same.aggregate != first.aggregate {
        same = next();
    }
    let mut other = next();
    while other.aggregate == first.aggregate {
        other = next();
    }
    [first, same, other]
}

async fn accepted(trial: &Trial, what: &Occurrence) -> Result<()> {
    match trial.provider.post(&letter(what.clone(), Kind::First), &mut Line::default()).await? {
        Told::Answer(answer) if answer.status()? == 200 => Ok(()),
        other => bail!("the event came to {other:?}"),
    }
}

/// (a) The run ends its process, a supervisor starts it again, and so on: dead at last, reason `worker lost`.
pub async fn poison(stage: Stage) -> Result<()> {
    let mut trial = stage.trial(TUNING).await?;
    let [poison, behind, beside] = events(&trial, &stage);
    let mut deaths = 0;
    let mut posted = false;
    while deaths <= LOSSES {
        let Some(mut child) = trial.start(Some("sent:1".to_owned())).await? else {
            deaths += 1;
            continue;
        };
        if !posted {
            posted = true;
            accepted(&trial, &poison).await?;
        }
        // Lives on: nothing is left that would run.
        let Some(end) = child.ended(SOON).await? else { break };
        trial.must_be_killed(end);
        deaths += 1;
    }
    if deaths != LOSSES {
        bail!("the poison ended its process {deaths} times instead of {LOSSES}");
    }
    let mut child = trial.start(None).await?.context("the server did not start")?;
    accepted(&trial, &behind).await?;
    accepted(&trial, &beside).await?;
    trial.quiet().await;
    child.drain().await?;
    clean(&trial.look(true).await?)?;
    let dead = only_dead(&trial)?;
    if dead.lost != LOSSES || !dead.reason.contains("worker lost") {
        bail!("the poison ended as {dead:?}");
    }
    succeeded(&trial, 2)
}

/// (d) Failed twice, killed in the third attempt: it runs again, and its third outcome decides.
pub async fn third(stage: Stage) -> Result<()> {
    let mut trial = stage.trial(TUNING).await?;
    let [failing, behind, beside] = events(&trial, &stage);
    let mut child = trial.start(None).await?.context("the server did not start")?;
    trial.receiver.hold(HOLD);
    trial.receiver.script([Reply::Failed, Reply::Failed, Reply::Silence, Reply::Failed]);
    accepted(&trial, &failing).await?;
    trial.receiver.arrivals(3, SOON).await?;
    child.kill().await?;
    trial.receiver.hold(Duration::ZERO);
    let mut child = trial.start(None).await?.context("the server did not start")?;
    trial.receiver.arrivals(4, SOON).await?;
    accepted(&trial, &behind).await?;
    accepted(&trial, &beside).await?;
    trial.quiet().await;
    child.drain().await?;
    clean(&trial.look(true).await?)?;
    let dead = only_dead(&trial)?;
    if (dead.attempts, dead.lost) != (3, 1) {
        bail!("three outcomes and one lost run ended as {dead:?}");
    }
    succeeded(&trial, 2)
}

fn only_dead(trial: &Trial) -> Result<Halted> {
    let work = &trial.dump().context("nothing was looked at")?.work;
    match work.halted.as_slice() {
        [one] if one.kind == "dead" => Ok(one.clone()),
        other => bail!("one dead letter was due: {other:?}"),
    }
}

/// Lane and neighbours went on, each in one attempt.
fn succeeded(trial: &Trial, count: usize) -> Result<()> {
    let work = &trial.dump().context("nothing was looked at")?.work;
    let done = work.deliveries.iter().filter(|d| d.state == "succeeded" && d.attempts == 1).count();
    if done == count { Ok(()) } else { bail!("{done} deliveries of {count} succeeded at once: {:?}", work.deliveries) }
}
