//! Several servers on one database, each with a line of its own to it that can be cut.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::process::Signal;

use super::{LEASE, NODES};
use crate::checker::Verdict;
use crate::dice::Dice;
use crate::history::{Kind, Validity};
use crate::rig::config::Tuning;
use crate::rig::line::{Cut, Line};
use crate::rig::load::{Habits, Line as Wire, Told};
use crate::rig::traffic::Letter;
use crate::rig::{Child, Database, Launch, Place, database};
use crate::trial::Trial;

/// A provider that does not wait for a server that sleeps, and leaves the machine some room.
const HABITS: Habits = Habits { patience: Duration::from_secs(2), pause: Duration::from_millis(40) };
/// What a server says of an ending that the store did not take from it.
const FENCED: &str = "lease lost: its ending changes nothing";
/// Nothing arrives for so long when all is done: longer than a lease that somebody left behind.
const QUIET: Duration = Duration::from_millis(2_500);

#[derive(Debug)]
pub struct Fleet {
    pub trial: Trial,
    database: Database,
    nodes: Vec<Node>,
}

#[derive(Debug)]
struct Node {
    place: Place,
    line: Line,
    /// To the receiver.
    out: Line,
    child: Option<Child>,
}

impl Fleet {
    pub async fn open(folder: &Path, launch: Launch, needs: Vec<String>, seed: u64) -> Result<Self> {
        let (server, database) = (database::server(), Database::new().await?);
        // What one alone does goes straight to the database.
        let first = Place::fresh(folder)?.on(database.url());
        let mut nodes = Vec::new();
        for n in 0..NODES {
            let line = Line::open(&server).await?;
            let out = Line::open(&first.receiver.to_string()).await?;
            let mut place = first.node(&format!("node-{n}"))?.on(line.url(&server, &database.name));
            place.receiver = out.listen;
            nodes.push(Node { place, line, out, child: None });
        }
        let places: Vec<Place> = [first].into_iter().chain(nodes.iter().map(|n| n.place.clone())).collect();
        let launch = Launch { lease: Some(LEASE), ..launch };
        let mut trial = Trial::among(&places, launch, needs, seed, Tuning::default(), HABITS).await?;
        trial.silence = QUIET;
        Ok(Self { trial, database, nodes })
    }

    /// Whoever is down is started; who went down by himself is a finding.
    pub async fn up(&mut self) -> Result<()> {
        for n in 0..self.nodes.len() {
            let ended = match &mut self.nodes[n].child {
                Some(child) => child.ended(Duration::ZERO).await?,
                None => None,
            };
            if let Some(end) = ended {
                self.trial.must_be_killed(end);
                self.nodes[n].child = None;
            }
            if self.nodes[n].child.is_none() {
                self.start(n, None).await?;
            }
        }
        Ok(())
    }

    /// Not killed by us meanwhile, it must become ready. One that is to stop itself may do so before.
    pub async fn start(&mut self, n: usize, stop_at: Option<String>) -> Result<()> {
        let launch = Launch { stop_at: stop_at.clone(), ..self.trial.launch.clone() };
        let place = self.nodes[n].place.clone();
        self.nodes[n].child = match stop_at {
            Some(_) => Some(Child::spawn(&place, &launch)?),
            None => self.trial.start_at(&place, &launch).await?,
        };
        if self.nodes[n].child.is_none() {
            self.trial.complain(format!("a node did not start; see `{}`", place.log().display()));
        }
        Ok(())
    }

    fn child(&mut self, n: usize) -> Result<&mut Child> {
        self.nodes[n].child.as_mut().context("the node is down")
    }

    pub async fn kill(&mut self, n: usize) -> Result<()> {
        if let Some(mut child) = self.nodes[n].child.take() {
            let end = child.kill().await?;
            self.trial.must_be_killed(end);
        }
        Ok(())
    }

    /// A graceful end, and one that works under load.
    pub async fn drain(&mut self, n: usize) -> Result<()> {
        if let Some(mut child) = self.nodes[n].child.take()
            && !child.drain().await?
        {
            self.trial.complain("a node did not end with 0 after SIGTERM".to_owned());
        }
        Ok(())
    }

    pub fn signal(&mut self, n: usize, signal: Signal) -> Result<()> {
        self.child(n)?.signal(signal)
    }

    pub async fn stopped(&mut self, n: usize, limit: Duration) -> Result<bool> {
        self.child(n)?.stopped(limit).await
    }

    pub fn cut(&self, n: usize, how: Cut) {
        self.nodes[n].line.cut(how);
    }

    pub fn cut_out(&self, n: usize, how: Cut) {
        self.nodes[n].out.cut(how);
    }

    /// Bytes that it has sent to the receiver.
    pub fn sent(&self, n: usize) -> u64 {
        self.nodes[n].out.carried()
    }

    /// A webhook for that one, whose database is away: not now, and when to ask again.
    pub async fn asked_in_vain(&mut self, n: usize, dice: &mut Dice) -> Result<()> {
        let what = self.trial.provider.invent(dice);
        let letter = Letter { what, kind: Kind::First, validity: Validity::Valid };
        let mut line = Wire::default();
        line.open(self.nodes[n].place.ingest()).await;
        let told = self.trial.provider.post(&letter, &mut line).await?;
        self.trial.provider.remember(&letter);
        match told {
            Told::Answer(answer) if answer.status()? == 503 && answer.header("retry-after").is_some() => {}
            other => self.trial.complain(format!("a node without its database answered {other:?}")),
        }
        Ok(())
    }

    /// Kills all, and looks at what they leave.
    pub async fn look(&mut self) -> Result<Verdict> {
        for n in 0..self.nodes.len() {
            self.kill(n).await?;
        }
        self.database.alone().await?;
        self.trial.look(false).await
    }

    /// Ends all politely, lets everything come to its end by one alone, and looks for the last time.
    pub async fn finish(&mut self, cycle: u64) -> Result<Verdict> {
        for n in 0..self.nodes.len() {
            self.drain(n).await?;
        }
        let fenced = std::fs::read_to_string(self.trial.place.log())?.matches(FENCED).count();
        for _ in 0..fenced {
            self.trial.fault("fenced", cycle, true)?;
        }
        self.trial.drain().await
    }

    /// The rows stand in the copies of the last look.
    pub async fn close(self) -> Result<()> {
        let Self { trial, database, nodes } = self;
        drop((trial, nodes));
        database.drop().await
    }
}
