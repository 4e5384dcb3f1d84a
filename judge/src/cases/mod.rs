//! Field cases that need a whole server, its death or its disk: F11, F20 (a, d), F22, F23 (c, d), F27 (a, b), X9, X10, X16,
//! X28, and the one of
//! `design.md` section 4 that a lost ledger does not change a message id. One file a case, named after it.

mod f11;
mod f20;
mod f22;
mod f23;
mod f27;
mod outsider;
mod shared;
mod wiped;
mod x10;
mod x16;
mod x28;
mod x9;

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;

use anyhow::{Context, Result, bail};

use crate::binary;
use crate::checker::Verdict;
use crate::dice::Dice;
use crate::history::{Kind, Validity};
use crate::rig::config::Tuning;
use crate::rig::traffic::{Letter, Occurrence};
use crate::rig::{Launch, Place};
use crate::trial::Trial;

type Running = Pin<Box<dyn Future<Output = Result<()>> + Send>>;

struct Case {
    name: &'static str,
    promise: &'static str,
    run: fn(Stage) -> Running,
}

const fn case(name: &'static str, promise: &'static str, run: fn(Stage) -> Running) -> Case {
    Case { name, promise, run }
}

const CASES: &[Case] = &[
    case("f11", "sixty-four copies at once: one event, sixty-three duplicates, one effect", |s| Box::pin(f11::run(s))),
    case("f20a", "a run that kills its process is dead after its losses, and the lane goes on", |s| {
        Box::pin(f20::poison(s))
    }),
    case("f20d", "a kill in the third attempt: the third outcome decides", |s| Box::pin(f20::third(s))),
    case("f22-readers", "long readers outside: nothing fails, nothing is said to be locked", |s| {
        Box::pin(f22::readers(s))
    }),
    case("f22-inbox", "inbox file locked: 503 with retry-after, then all well (f23d)", |s| Box::pin(f22::inbox(s))),
    case("f22-work", "work file locked: acks go on", |s| Box::pin(f22::work(s))),
    case("f23c", "senders that hang up: each event once", |s| Box::pin(f23::run(s))),
    case("f27", "a copy after its bytes is a copy, after its key it is held: never delivered as new", |s| {
        Box::pin(f27::run(s))
    }),
    case("wiped", "a wiped store forwards a known webhook under its old id", |s| Box::pin(wiped::run(s))),
    case("x9", "the database restarts under load: nothing lost, 503 meanwhile, nobody restarts us", |s| {
        Box::pin(x9::run(s))
    }),
    case("x10", "fail-over to a synchronous standby: nothing that was answered is lost", |s| {
        Box::pin(x10::synchronous(s))
    }),
    case("x10-local", "fail-over to an asynchronous standby loses, and says so (control)", |s| {
        Box::pin(x10::asynchronous(s))
    }),
    case("x16", "a server taken for dead settles after its leases are another's: fenced", |s| Box::pin(x16::run(s))),
    case("x28", "retention under load, killed between its commits: nothing unfinished goes", |s| Box::pin(x28::run(s))),
];

/// Where and with what a case is run.
#[derive(Debug, Clone)]
pub struct Stage {
    binary: PathBuf,
    folder: PathBuf,
    seed: u64,
}

impl Stage {
    async fn trial(&self, tuning: Tuning) -> Result<Trial> {
        let launch = Launch { binary: self.binary.clone(), ..Launch::default() };
        Trial::tuned(Place::fresh(&self.folder)?, launch, Vec::new(), self.seed, tuning).await
    }

    fn dice(&self) -> Dice {
        Dice::new(self.seed)
    }
}

/// Runs the named cases, or all, beside each other.
pub async fn all(seed: u64, only: &[String]) -> Result<()> {
    let binary = binary::locate()?;
    let mut running = tokio::task::JoinSet::new();
    for case in CASES.iter().filter(|c| only.is_empty() || only.iter().any(|o| o == c.name)) {
        let stage = Stage { binary: binary.clone(), folder: binary::runs().join("cases").join(case.name), seed };
        running.spawn(async move { (case.name, case.promise, (case.run)(stage).await) });
    }
    let mut failed = Vec::new();
    while let Some(ended) = running.join_next().await {
        match ended? {
            (name, promise, Ok(())) => println!("{name}: {promise}"),
            (name, promise, Err(why)) => failed.push(format!("{name} ({promise}), seed {seed}: {why:#}")),
        }
    }
    if failed.is_empty() { Ok(()) } else { bail!("{}", failed.join("\n")) }
}

/// Anything but clean is an error.
fn clean(verdict: &Verdict) -> Result<()> {
    match verdict {
        Verdict::Clean(_) => Ok(()),
        Verdict::Void(why, _) => bail!("void: {}", why.join("; ")),
        Verdict::Violated(found, _) => {
            bail!("{}", found.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
        }
    }
}

fn letter(what: Occurrence, kind: Kind) -> Letter {
    Letter { what, kind, validity: Validity::Valid }
}

/// The rig sends types that no consumer of it takes, and the server is right to ring for them.
const MEANT: &str = "alarm=\"unmatched\"";

/// No line of the server's log may hold one of these.
fn log_without(log: &Path, words: &[&str]) -> Result<()> {
    let text = std::fs::read_to_string(log).with_context(|| format!("cannot read `{}`", log.display()))?;
    let mut told = text.lines().filter(|line| !line.contains(MEANT));
    match told.find(|line| words.iter().any(|w| line.contains(w))) {
        Some(line) => bail!("the log says: {line}"),
        None => Ok(()),
    }
}
