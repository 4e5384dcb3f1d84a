//! Claims, leases and settles.

use hookonce_core::claim::{Ask, Claimed, Triage, triage};
use hookonce_core::lease::Lease;
use hookonce_core::settle::{self, Ending, How, Settled};

use super::{DICE, Runner, said};
use crate::store::Run;
use crate::testkit::model::{Rows, state};
use crate::testkit::script::bed::wait;
use crate::testkit::script::names;
use crate::testkit::script::words::{self, Line, written};

impl Runner<'_> {
    pub(super) fn ask(&mut self, line: &Line) -> Result<Ask, String> {
        let rows = self.rows();
        let named = line.words.iter().skip(1).find_map(|w| names::consumer_id(&rows, w).ok());
        let consumer = named.or_else(|| rows.consumer.values().next().map(|c| c.id)).ok_or("there is no consumer")?;
        let count = line.number("n")?.unwrap_or(1);
        let tokens = (0..count).map(|_| self.token()).collect();
        let quiet = line.words.iter().any(|w| w == "quiet");
        Ok(Ask { consumer, tokens, lease: line.time()?, owner: self.bed.store().identity().instance, quiet })
    }

    pub(super) fn token(&mut self) -> [u8; 16] {
        self.tokens += 1;
        let mut token = [0; 16];
        token[8..].copy_from_slice(&self.tokens.to_be_bytes());
        token
    }

    pub(super) fn claim(&mut self, line: &Line) -> Result<String, String> {
        let worker = line.word(0)?.to_owned();
        let ask = self.ask(line)?;
        let runs = wait(self.bed.store().claim(ask)).map_err(said)?;
        Ok(self.claimed(&worker, runs))
    }

    pub(super) fn claimed(&mut self, worker: &str, runs: Vec<Run>) -> String {
        let rows = self.rows();
        let texts: Vec<String> = runs.iter().map(|run| lease_text(&rows, &run.claimed)).collect();
        self.held.extend(runs.into_iter().map(|run| (worker.to_owned(), run.claimed)));
        if texts.is_empty() { "nothing".to_owned() } else { texts.join(", ") }
    }

    pub(super) fn leases(&self, worker: &str) -> Vec<Lease> {
        self.held.iter().filter(|(w, _)| w == worker).map(|(_, c)| c.lease).collect()
    }

    pub(super) fn renew(&mut self, line: &Line) -> Result<String, String> {
        let leases = self.leases(line.word(0)?);
        let lost = wait(self.bed.store().renew(leases, line.time()?)).map_err(said)?;
        let rows = self.rows();
        let name = |seq: i64| {
            self.held
                .iter()
                .find(|(_, c)| c.lease.seq == seq)
                .map_or(String::new(), |(_, c)| names::delivery(&rows, c.event, c.consumer))
        };
        let lost: Vec<String> = lost.iter().map(|l| name(l.seq)).collect();
        Ok(if lost.is_empty() { "kept".to_owned() } else { format!("lost {}", lost.join(", ")) })
    }

    pub(super) fn release(&mut self, line: &Line) -> Result<String, String> {
        let worker = line.word(0)?;
        wait(self.bed.store().release(self.leases(worker))).map_err(said)?;
        self.crash(line)
    }

    /// A worker forgets what it held; its leases run on.
    pub(super) fn crash(&mut self, line: &Line) -> Result<String, String> {
        let worker = line.word(0)?;
        self.held.retain(|(w, _)| w != worker);
        Ok(String::new())
    }

    /// What a worker believes to hold: by its delivery's name and its epoch where the line says them.
    pub(super) fn holding(&self, line: &Line) -> Result<Claimed, String> {
        let (rows, worker) = (self.rows(), line.word(0)?);
        let epoch = line.words.iter().skip_while(|w| *w != "epoch").nth(1).and_then(|n| n.parse::<i64>().ok());
        let named = line.words.iter().skip(1).find(|w| w.contains('/'));
        let is = |c: &Claimed| {
            let name = names::delivery(&rows, c.event, c.consumer);
            named.is_none_or(|n| *n == name) && epoch.is_none_or(|e| e == c.lease.epoch)
        };
        let found = self.held.iter().find(|(w, c)| w == worker && is(c));
        found.map(|(_, c)| c.clone()).ok_or_else(|| format!("`{worker}` never held that"))
    }

    pub(super) fn settle(&mut self, line: &Line) -> Result<String, String> {
        let run = self.holding(line)?;
        let consumer = self.consumers.iter().find(|c| names::consumer(&self.rows(), run.consumer) == *c.name);
        let consumer = consumer.ok_or("its consumer is not defined")?.clone();
        let elapsed = self.now().saturating_sub(run.now);
        let ending = match (triage(&run), words::outcome(line)?) {
            (_, Some(outcome)) => settle::plan(&run, &outcome, &consumer, elapsed, DICE),
            (Triage::Dead, None) => settle::worker_lost(&run, &consumer),
            (Triage::Cancelled, None) => settle::cancelled(&run),
            _ => return Err("an outcome is missing".to_owned()),
        };
        let settled = wait(self.bed.store().settle(vec![ending.clone()], None)).map_err(said)?.0;
        self.held.retain(|(_, c)| c.lease != run.lease);
        Ok(match settled.first() {
            Some(Settled::Kept) => self.ended(&ending),
            _ => "fenced".to_owned(),
        })
    }

    pub(super) fn ended(&self, ending: &Ending) -> String {
        let rows = self.rows();
        let delivery = rows.delivery.values().find(|d| d.id == ending.id);
        let state = delivery.map_or("gone", |d| state::of_delivery(&rows, d, self.now()).name());
        match &ending.how {
            How::Later { delay, .. } => format!("{state} in {}", written(*delay)),
            How::Halted { holds_lane: true, .. } => format!("{state} holding"),
            _ => state.to_owned(),
        }
    }

    /// Forgets every lease that the other does not know of: its answer was lost on the way.
    pub fn forget_what(&mut self, other: &Runner<'_>) {
        let knows = |worker: &str, run: &Claimed| {
            let same = |c: &Claimed| (c.lease.seq, c.lease.epoch) == (run.lease.seq, run.lease.epoch);
            other.held.iter().any(|(w, c)| w == worker && same(c))
        };
        self.held.retain(|(worker, run)| knows(worker, run));
    }

    /// Gives back what was claimed behind the first so many leases.
    pub fn give_back(&mut self, behind: usize) -> Result<(), String> {
        let leases = self.held.split_off(behind.min(self.held.len()));
        let leases = leases.into_iter().map(|(_, run)| run.lease).collect();
        wait(self.bed.store().release(leases)).map_err(said)
    }
}

fn lease_text(rows: &Rows, claimed: &Claimed) -> String {
    let name = names::delivery(rows, claimed.event, claimed.consumer);
    let lost = if claimed.lost > 0 { format!(" lost {}", claimed.lost) } else { String::new() };
    let how = match triage(claimed) {
        Triage::Run => "",
        Triage::Alone => " alone",
        Triage::Quiet => " quiet",
        Triage::Dead => " dead",
        Triage::Cancelled => " cancelled",
    };
    format!("{name} epoch {}{lost}{how}", claimed.lease.epoch)
}
