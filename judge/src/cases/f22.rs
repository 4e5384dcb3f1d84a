//! F22: other programs at the files, retention running. Also F23 d in the words of the embedded store: a database
//! that cannot be written is a stopped one.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tokio::task::JoinSet;

use super::{Stage, clean, letter, log_without, outsider, x28};
use crate::dice::Dice;
use crate::dump;
use crate::history::Kind;
use crate::rig::config::Tuning;
use crate::rig::load::{Line, Provider, Told};
use crate::rig::wire;
use crate::trial::Trial;

const SENDERS: u64 = 32;
const EACH: u64 = 200;
/// How long requests go on against the write lock of the inbox file.
const LOCKED: Duration = Duration::from_secs(20);
/// How often the server must have waited for the work file in vain before the lock goes, and what it says then.
const IN_VAIN: usize = 3;
const BUSY: &str = "the store is busy";
/// Longest wait for something that must come.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(50);

/// What came of the sends of one case.
#[derive(Debug, Default)]
struct Came {
    good: u64,
    busy: u64,
    other: Vec<String>,
}

pub async fn readers(stage: Stage) -> Result<()> {
    let mut trial = stage.trial(Tuning { source: x28::SHORT, ..Tuning::default() }).await?;
    let mut child = trial.start(None).await?.context("the server did not start")?;
    let readers = [work_of(&trial), inbox_of(&trial)].map(outsider::reader);
    let came = send(&trial, SENDERS, EACH, &stage.dice()).await?;
    ensure!(came.good == SENDERS * EACH, "{came:?}");
    trial.quiet().await;
    readers.iter().for_each(|r| r.abort());
    child.drain().await?;
    clean(&trial.look(true).await?)?;
    let events = trial.dump().map_or(0, |d| d.inbox.events.len() as u64);
    ensure!(events == SENDERS * EACH, "{events} events of {}", SENDERS * EACH);
    log_without(&trial.place.log(), &["locked", "ERROR"])
}

pub async fn inbox(stage: Stage) -> Result<()> {
    let mut trial = stage.trial(Tuning::default()).await?;
    let mut child = trial.start(None).await?.context("the server did not start")?;
    let lock = outsider::lock(inbox_of(&trial)).await?;
    let until = tokio::time::Instant::now() + LOCKED;
    let mut rounds = 0;
    while tokio::time::Instant::now() < until {
        let came = send(&trial, 4, 1, &stage.dice().fork(rounds)).await?;
        ensure!(came.good == 0 && came.busy == 4, "while the inbox is locked: {came:?}");
        rounds += 1;
    }
    let admin = trial.place.admin();
    ensure!(wire::get(admin, "/livez").await? == 200, "a server that cannot store is still alive");
    ensure!(wire::get(admin, "/readyz").await? == 503, "a server that cannot store is not ready");
    lock.let_go()?;
    ready_again(&trial).await?;
    let came = send(&trial, 8, 10, &stage.dice().fork(rounds)).await?;
    ensure!(came.good == 80, "after the lock: {came:?}");
    trial.provider.settle().await?;
    finish(&mut trial, &mut child).await
}

pub async fn work(stage: Stage) -> Result<()> {
    let mut trial = stage.trial(Tuning::default()).await?;
    let mut child = trial.start(None).await?.context("the server did not start")?;
    let lock = outsider::lock(work_of(&trial)).await?;
    let came = send(&trial, 8, 20, &stage.dice()).await?;
    ensure!(came.good == 160, "acks must go on while the work file is locked: {came:?}");
    ensure!(wire::get(trial.place.admin(), "/readyz").await? == 200, "what can be stored must be let in");
    until("the work file's writer waited in vain", || async { said(&trial, BUSY) >= IN_VAIN }).await?;
    let came = send(&trial, 4, 5, &stage.dice().fork(9)).await?;
    ensure!(came.good == 20, "acks must still go on: {came:?}");
    lock.let_go()?;
    finish(&mut trial, &mut child).await
}

/// All that was admitted is delivered without a restart: no loop has died.
async fn finish(trial: &mut Trial, child: &mut crate::rig::Child) -> Result<()> {
    trial.quiet().await;
    child.drain().await?;
    clean(&trial.look(true).await?)
}

fn inbox_of(trial: &Trial) -> PathBuf {
    dump::inbox_of(&trial.place.database())
}

fn work_of(trial: &Trial) -> PathBuf {
    trial.place.database()
}

/// Recovery without hands, within the time that any caller would wait.
async fn ready_again(trial: &Trial) -> Result<()> {
    let ready = || async { wire::get(trial.place.admin(), "/readyz").await.is_ok_and(|s| s == 200) };
    until("the server is ready again", ready).await
}

/// Looks until it is so.
pub async fn until<F: Future<Output = bool>>(what: &str, so: impl Fn() -> F) -> Result<()> {
    let seen = async {
        let mut looks = tokio::time::interval(LOOK);
        while !so().await {
            looks.tick().await;
        }
    };
    tokio::time::timeout(PATIENCE, seen).await.with_context(|| format!("not within {PATIENCE:?}: {what}"))
}

/// Lines of the server's log that say so.
fn said(trial: &Trial, words: &str) -> usize {
    let text = std::fs::read_to_string(trial.place.log()).unwrap_or_default();
    text.lines().filter(|line| line.contains(words)).count()
}

/// Distinct events from `senders` connections, `each` one after the other.
async fn send(trial: &Trial, senders: u64, each: u64, dice: &Dice) -> Result<Came> {
    let mut tasks = JoinSet::new();
    for n in 0..senders {
        tasks.spawn(sender(trial.provider.clone(), each, dice.fork(n)));
    }
    let mut all = Came::default();
    while let Some(came) = tasks.join_next().await {
        let came = came??;
        all.good += came.good;
        all.busy += came.busy;
        all.other.extend(came.other);
    }
    Ok(all)
}

async fn sender(provider: Arc<Provider>, each: u64, mut dice: Dice) -> Result<Came> {
    let (mut came, mut line) = (Came::default(), Line::default());
    for _ in 0..each {
        let letter = letter(provider.invent(&mut dice), Kind::First);
        match provider.post(&letter, &mut line).await? {
            Told::Answer(a) if a.status()? == 200 => came.good += 1,
            Told::Answer(a) if a.status()? == 503 && a.header("retry-after").is_some() => {
                came.busy += 1;
                provider.remember(&letter);
            }
            other => came.other.push(format!("{other:?}")),
        }
    }
    Ok(came)
}
