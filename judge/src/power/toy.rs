//! The rig's own proof, without a server: a bare SQLite writer in a child process says a number once its commit is
//! through; after the cut every number said must be there. Under `FULL` none may be missing, under `OFF` some must be.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rusqlite::Connection;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::time::{Instant, timeout_at};

use super::Image;

/// One writer's life: long enough for hundreds of commits.
const LIFE: Duration = Duration::from_millis(250);
const CUTS: u64 = 3;
/// A cut that finds everything written back by chance loses nothing even under `OFF`; so many in a row do not.
const CONTROL_CUTS: u64 = 10;

/// The child's part (hidden sub-command): commits one row after the other and says each number.
pub fn write(database: &Path, synchronous: &str) -> Result<()> {
    let db = Connection::open(database)?;
    db.pragma_update(None, "journal_mode", "wal")?;
    db.pragma_update(None, "synchronous", synchronous)?;
    db.execute("create table if not exists said (n integer primary key, filler blob not null)", [])?;
    let first: i64 = db.query_row("select coalesce(max(n), 0) + 1 from said", [], |r| r.get(0))?;
    for n in first.. {
        db.execute("insert into said values (?1, randomblob(500))", [n])?;
        println!("{n}");
    }
    Ok(())
}

/// The whole proof. `me`: this program, which has the writer in it.
pub async fn prove(me: &Path, folder: &Path) -> Result<()> {
    let lost = cuts(me, &folder.join("full"), "FULL", CUTS, false).await?;
    if lost > 0 {
        bail!("the power rig is broken: a bare SQLite under FULL lost {lost} commits");
    }
    let lost = cuts(me, &folder.join("off"), "OFF", CONTROL_CUTS, true).await?;
    if lost == 0 {
        bail!("the power rig is broken: SQLite under OFF lost nothing in {CONTROL_CUTS} cuts");
    }
    Ok(())
}

/// Numbers said and missing over all cuts; with `first` it ends at the first cut that loses.
async fn cuts(me: &Path, folder: &Path, synchronous: &str, cuts: u64, first: bool) -> Result<u64> {
    let mut image = Image::make(folder)?;
    let mut lost = 0;
    for _ in 0..cuts {
        let database = image.mount().join("toy.db");
        let said = life(me, &database, synchronous).await?;
        image.cut()?;
        lost += missing(&database, &folder.join("look"), &said)?;
        if first && lost > 0 {
            break;
        }
    }
    Ok(lost)
}

/// A writer from start to SIGKILL; what it said.
async fn life(me: &Path, database: &Path, synchronous: &str) -> Result<Vec<i64>> {
    let mut command = tokio::process::Command::new(me);
    command.arg("toy-writer").arg(database).arg(synchronous).stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn()?;
    let mut lines = BufReader::new(child.stdout.take().context("no pipe")?).lines();
    let (mut said, until) = (Vec::new(), Instant::now() + LIFE);
    while let Ok(Ok(Some(line))) = timeout_at(until, lines.next_line()).await {
        said.push(line.parse()?);
    }
    child.kill().await?;
    while let Ok(Some(line)) = lines.next_line().await {
        // A last line may be cut short by the kill; what cannot be a whole number was not said.
        said.extend(line.parse::<i64>().ok().filter(|n| said.last().is_none_or(|l| *n == l + 1)));
    }
    if said.is_empty() {
        bail!("the toy writer said nothing within {LIFE:?}");
    }
    Ok(said)
}

fn missing(database: &Path, look: &Path, said: &[i64]) -> Result<u64> {
    std::fs::create_dir_all(look)?;
    for end in ["", "-wal"] {
        let name = format!("toy.db{end}");
        let (from, to) = (database.with_file_name(&name), look.join(&name));
        if to.exists() {
            std::fs::remove_file(&to)?;
        }
        if from.exists() {
            std::fs::copy(&from, &to)?;
        }
    }
    let db = Connection::open(look.join("toy.db"))?;
    let there = |n: &i64| db.query_row("select 1 from said where n = ?1", [n], |_| Ok(())).is_ok();
    Ok(said.iter().filter(|n| !there(n)).count() as u64)
}
