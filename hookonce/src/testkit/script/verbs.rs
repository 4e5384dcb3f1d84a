//! One function a verb: runs it on the bed and says in words what it came to.

use std::collections::BTreeMap;
use std::sync::Arc;

use hookonce_core::admit::{Submission, Verdict};
use hookonce_core::claim::{Ask, Claimed, Triage, triage};
use hookonce_core::command::{Command, Refused, Who};
use hookonce_core::consumer::{Consumer, From, OnDead, Order, Pattern, Policy};
use hookonce_core::request::Headers;
use hookonce_core::route::Routing;
use hookonce_core::settle::{self, Ending, How, Settled};
use hookonce_core::time::Micros;

use super::bed::{Bed, wait};
use super::words::{self, Line, written};
use super::{item, names};
use crate::clock::Clock as _;
use crate::store::{Refusals, Run, Sample, StoreError};
use crate::testkit::invariant::Configurations;
use crate::testkit::model::rows::Namespace;
use crate::testkit::model::{Rows, state};

/// The dice of every run: the jitter then is half of the rung.
const DICE: u64 = 0;

/// A bed with what a script has said so far.
pub struct Runner<'b> {
    bed: &'b dyn Bed,
    consumers: Vec<Consumer>,
    routing: Option<Routing>,
    configurations: Configurations,
    /// What each worker believes to hold.
    held: Vec<(String, Claimed)>,
    tokens: u64,
}

impl std::fmt::Debug for Runner<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runner").field("bed", &self.bed.name()).finish_non_exhaustive()
    }
}

impl<'b> Runner<'b> {
    pub fn new(bed: &'b dyn Bed) -> Runner<'b> {
        Runner {
            bed,
            consumers: Vec::new(),
            routing: None,
            configurations: BTreeMap::new(),
            held: Vec::new(),
            tokens: 0,
        }
    }

    pub fn rows(&self) -> Rows {
        self.bed.rows()
    }

    /// What each worker believes to hold.
    pub fn held(&self) -> &[(String, Claimed)] {
        &self.held
    }

    pub fn configurations(&self) -> &Configurations {
        &self.configurations
    }

    /// Runs a line; the error says why it makes no sense, the answer what it came to.
    pub fn line(&mut self, line: &Line) -> Result<String, String> {
        match line.verb.as_str() {
            "consumer" => self.consumer(line),
            "without" => self.without(line),
            "configure" => self.configure(),
            "admit" => self.admit(line),
            "route" => self.route(),
            "claim" => self.claim(line),
            "renew" => self.renew(line),
            "release" => self.release(line),
            "crash" => self.crash(line),
            "settle" => self.settle(line),
            "tick" => self.tick(line),
            "show" => self.show(line),
            "history" => self.history(line),
            "floor" => self.floor(line),
            "cancel" => self.cancel(line),
            "sweep" => self.sweep(),
            "restart" => self.restart(),
            "refuse" => self.refuse(line),
            "rule" => self.rule(line),
            "fault" => self.fault(line),
            _ => self.command(line),
        }
    }

    fn now(&self) -> Micros {
        self.bed.clock().now()
    }

    fn tick(&mut self, line: &Line) -> Result<String, String> {
        self.bed.clock().advance(line.time()?);
        Ok(String::new())
    }

    fn consumer(&mut self, line: &Line) -> Result<String, String> {
        let consumer = consumer(line, self.now())?;
        self.consumers.retain(|c| c.name != consumer.name);
        self.consumers.push(consumer);
        Ok(String::new())
    }

    fn without(&mut self, line: &Line) -> Result<String, String> {
        let name = line.word(0)?;
        self.consumers.retain(|c| *c.name != *name);
        Ok(String::new())
    }

    fn configure(&mut self) -> Result<String, String> {
        let routing = wait(self.bed.store().configure(self.consumers.clone())).map_err(said)?;
        self.configurations.insert(routing.config, routing.clone());
        let answer = format!("config {}", routing.config);
        self.routing = Some(routing);
        Ok(answer)
    }

    fn admit(&mut self, line: &Line) -> Result<String, String> {
        let submission: Submission = item::submission(line, self.now())?;
        let asked: Vec<String> = line.words.iter().filter(|w| w.contains('/')).cloned().collect();
        let admission = match wait(self.bed.store().admit(submission)) {
            Ok(admission) => admission,
            Err(error) => return Ok(said(error)),
        };
        let rows = self.rows();
        let verdicts = admission.verdicts.iter().enumerate();
        let texts = verdicts.map(|(at, v)| verdict(&rows, v, asked.get(at).map_or("", String::as_str)));
        Ok(texts.collect::<Vec<_>>().join("; "))
    }

    fn route(&mut self) -> Result<String, String> {
        let routing = self.routing.clone().ok_or("nothing is configured")?;
        let before = self.rows();
        let passed = wait(self.bed.store().route(&routing)).map_err(said)?;
        if passed.config_behind {
            return Ok("config behind".to_owned());
        }
        let rows = self.rows();
        let mut said = self.appended(&before, &rows);
        let held = rows.hold.values().filter(|h| h.released.is_none() && before.hold.get(&h.event) != Some(h));
        said.extend(held.map(|h| format!("held {} {}", names::event(&rows, h.event), h.reason)));
        if said.is_empty() && rows.pass.len() == before.pass.len() {
            return Ok("nothing".to_owned());
        }
        Ok(if said.is_empty() { "passed".to_owned() } else { said.join(", ") })
    }

    fn appended(&self, before: &Rows, rows: &Rows) -> Vec<String> {
        let new = rows.delivery.values().filter(|d| !before.delivery.contains_key(&d.seq));
        let text = |d: &crate::testkit::model::rows::Delivery| {
            let state = state::of_delivery(rows, d, self.now()).name();
            format!("{} {state}", names::delivery(rows, d.event, d.consumer))
        };
        new.map(text).collect()
    }

    fn ask(&mut self, line: &Line) -> Result<Ask, String> {
        let rows = self.rows();
        let named = line.words.iter().skip(1).find_map(|w| names::consumer_id(&rows, w).ok());
        let consumer = named.or_else(|| rows.consumer.values().next().map(|c| c.id)).ok_or("there is no consumer")?;
        let count = line.number("n")?.unwrap_or(1);
        let tokens = (0..count).map(|_| self.token()).collect();
        let quiet = line.words.iter().any(|w| w == "quiet");
        Ok(Ask { consumer, tokens, lease: line.time()?, owner: self.bed.store().identity().instance, quiet })
    }

    fn token(&mut self) -> [u8; 16] {
        self.tokens += 1;
        let mut token = [0; 16];
        token[8..].copy_from_slice(&self.tokens.to_be_bytes());
        token
    }

    fn claim(&mut self, line: &Line) -> Result<String, String> {
        let worker = line.word(0)?.to_owned();
        let ask = self.ask(line)?;
        let runs = wait(self.bed.store().claim(ask)).map_err(said)?;
        Ok(self.claimed(&worker, runs))
    }

    fn claimed(&mut self, worker: &str, runs: Vec<Run>) -> String {
        let rows = self.rows();
        let texts: Vec<String> = runs.iter().map(|run| lease_text(&rows, &run.claimed)).collect();
        self.held.extend(runs.into_iter().map(|run| (worker.to_owned(), run.claimed)));
        if texts.is_empty() { "nothing".to_owned() } else { texts.join(", ") }
    }

    fn leases(&self, worker: &str) -> Vec<hookonce_core::lease::Lease> {
        self.held.iter().filter(|(w, _)| w == worker).map(|(_, c)| c.lease).collect()
    }

    fn renew(&mut self, line: &Line) -> Result<String, String> {
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

    fn release(&mut self, line: &Line) -> Result<String, String> {
        let worker = line.word(0)?;
        wait(self.bed.store().release(self.leases(worker))).map_err(said)?;
        self.crash(line)
    }

    /// A worker forgets what it held; its leases run on.
    fn crash(&mut self, line: &Line) -> Result<String, String> {
        let worker = line.word(0)?;
        self.held.retain(|(w, _)| w != worker);
        Ok(String::new())
    }

    /// What a worker believes to hold: by its delivery's name and its epoch where the line says them.
    fn holding(&self, line: &Line) -> Result<Claimed, String> {
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

    fn settle(&mut self, line: &Line) -> Result<String, String> {
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

    fn ended(&self, ending: &Ending) -> String {
        let rows = self.rows();
        let delivery = rows.delivery.values().find(|d| d.id == ending.id);
        let state = delivery.map_or("gone", |d| state::of_delivery(&rows, d, self.now()).name());
        match &ending.how {
            How::Later { delay, .. } => format!("{state} in {}", written(*delay)),
            How::Halted { holds_lane: true, .. } => format!("{state} holding"),
            _ => state.to_owned(),
        }
    }

    /// All deliveries of an event, else what became of it.
    fn show(&self, line: &Line) -> Result<String, String> {
        let rows = self.rows();
        let event = names::event_id(&rows, line.word(0)?)?;
        let of = rows.delivery.values().filter(|d| d.event == event);
        let text = |d: &crate::testkit::model::rows::Delivery| {
            format!("{} {}", names::consumer(&rows, d.consumer), state::of_delivery(&rows, d, self.now()).name())
        };
        let mut said: Vec<String> = of.map(text).collect();
        said.extend(rows.hold.get(&event).map(|h| match h.released {
            None => format!("held {}", h.reason),
            Some(true) => "released".to_owned(),
            Some(false) => "dropped".to_owned(),
        }));
        Ok(if said.is_empty() { "received".to_owned() } else { said.join(", ") })
    }

    fn history(&self, line: &Line) -> Result<String, String> {
        let rows = self.rows();
        let delivery = names::delivery_of(&rows, line.word(0)?)?.id;
        let of = rows.attempt.values().filter(|a| a.delivery == delivery);
        let text = |a: &crate::testkit::model::rows::Attempt| match a.detail.as_str() {
            "" => a.outcome.clone(),
            detail => format!("{} ({detail})", a.outcome),
        };
        Ok(of.map(text).collect::<Vec<_>>().join(", "))
    }

    fn floor(&mut self, line: &Line) -> Result<String, String> {
        let (name, offset) = (line.word(0)?.to_owned(), line.time()?);
        let floor = Some(self.now().saturating_add(offset));
        self.bed.edit(&|rows| rows.namespace.put(Namespace { name: name.clone(), floor }));
        Ok(String::new())
    }

    fn cancel(&mut self, line: &Line) -> Result<String, String> {
        let seq = names::delivery_of(&self.rows(), line.word(0)?)?.seq;
        self.bed.edit(&|rows| {
            if let Some(delivery) = rows.delivery.get_mut(&seq) {
                delivery.cancel = true;
            }
        });
        Ok(String::new())
    }

    fn sweep(&mut self) -> Result<String, String> {
        let swept = wait(self.bed.store().sweep()).map_err(said)?;
        Ok(if swept.headless.is_empty() { "nothing".to_owned() } else { format!("headless {}", swept.headless.len()) })
    }

    /// `fault 3`: the third statement of the next line fails; `fault 3 behind`: it runs, and its answer is lost.
    fn fault(&mut self, line: &Line) -> Result<String, String> {
        let nth = line.word(0)?.parse().map_err(|_| "no number")?;
        self.bed.arm(nth, line.words.iter().any(|w| w == "behind"));
        Ok(String::new())
    }

    pub fn struck(&self) -> bool {
        self.bed.struck()
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

    /// The process ends and another opens the store: whoever held a lease is gone with it.
    fn restart(&mut self) -> Result<String, String> {
        self.bed.restart();
        self.held.clear();
        Ok(String::new())
    }

    fn refuse(&mut self, line: &Line) -> Result<String, String> {
        let (source, reason): (Arc<str>, String) = (line.word(0)?.into(), line.word(1)?.to_owned());
        let sample = Sample {
            source: source.clone(),
            target: format!("POST /in/{source}"),
            headers: Headers::default(),
            body: line.option("body").unwrap_or("A").as_bytes().to_vec(),
            reason: reason.clone(),
            received: self.now(),
        };
        let count = line.number("n")?.unwrap_or(1).unsigned_abs();
        let refusals = Refusals { samples: vec![sample], counts: vec![(source, reason, count)] };
        wait(self.bed.store().refused(refusals)).map_err(said)?;
        Ok(String::new())
    }

    fn rule(&mut self, line: &Line) -> Result<String, String> {
        let number = wait(self.bed.store().rule(line.word(0)?, line.word(1)?)).map_err(said)?;
        Ok(format!("rule {number}"))
    }

    fn command(&mut self, line: &Line) -> Result<String, String> {
        let rows = self.rows();
        let word = line.word(0)?;
        let command = match line.verb.as_str() {
            "dead.retry" => Command::DeadRetry { delivery: names::delivery_of(&rows, word)?.id },
            "held.release" => Command::HeldRelease { event: names::event_id(&rows, word)? },
            "held.drop" => Command::HeldDrop { event: names::event_id(&rows, word)? },
            "unmapped.drop" => Command::UnmappedDrop { id: word.parse().map_err(|_| "no number")? },
            "consumer.pause" => Command::ConsumerPause { consumer: names::consumer_id(&rows, word)? },
            "consumer.resume" => Command::ConsumerResume { consumer: names::consumer_id(&rows, word)? },
            other => return Err(format!("`{other}` is no verb")),
        };
        let who = Who { actor: "ann".into(), reason: "because".into() };
        let answer = wait(self.bed.store().command(command, who)).map_err(said)?;
        Ok(match answer {
            Ok(_) => "done".to_owned(),
            Err(Refused::NotFound) => "not found".to_owned(),
            Err(Refused::State) => "wrong state".to_owned(),
        })
    }
}

fn said(error: StoreError) -> String {
    error.to_string()
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

fn verdict(rows: &Rows, verdict: &Verdict, asked: &str) -> String {
    let other = |event: i64| {
        let name = names::event(rows, event);
        if name == asked { String::new() } else { format!(" of {name}") }
    };
    match verdict {
        Verdict::Accepted { hold: None, .. } => "accepted".to_owned(),
        Verdict::Accepted { hold: Some(reason), event } => {
            let name = names::event(rows, *event);
            let name = if name == asked { String::new() } else { format!(" as {name}") };
            format!("accepted{name} held {}", reason.name())
        }
        Verdict::Duplicate { of } => format!("duplicate{}", other(*of)),
        Verdict::Conflict { with, differs, kept } => {
            let kept = if *kept { "" } else { " not kept" };
            format!("conflict with {} ({}){kept}", names::event(rows, *with), differs.name())
        }
        Verdict::Unmapped { reason, .. } => format!("unmapped ({reason})"),
    }
}

/// `consumer app on=gh/* order=arrival first=5s max=1h give_up=3d attempts=3 from=beginning`.
fn consumer(line: &Line, now: Micros) -> Result<Consumer, String> {
    let name: Arc<str> = line.word(0)?.into();
    let patterns = line.option("on").unwrap_or("*/*").split(',');
    let on: Option<Vec<Pattern>> = patterns.map(Pattern::parse).collect();
    let policy = Policy::default();
    Ok(Consumer {
        id: 0,
        on: on.ok_or("a pattern is written `source/type`")?,
        order: if line.option("order") == Some("none") { Order::None } else { Order::Arrival },
        on_dead: if line.option("on_dead") == Some("continue") { OnDead::Continue } else { OnDead::Hold },
        retry: Policy {
            first: line.duration("first")?.unwrap_or(policy.first),
            max: line.duration("max")?.unwrap_or(policy.max),
            give_up_after: line.duration("give_up")?.unwrap_or(policy.give_up_after),
            attempts: line.number("attempts")?,
        },
        from: match line.option("from") {
            None | Some("now") => From::Now,
            Some("beginning") => From::Beginning,
            Some(offset) => From::Time(now.saturating_add(words::duration(offset)?)),
        },
        key_name: name.clone(),
        name,
    })
}
