//! Scripts drawn at random and run on a bed and on the model side by side. The seed alone decides the script; it is
//! in every failure, with the script shortened to the lines that matter.

use super::bed::{Bed, ModelBed};
use super::verbs::Runner;
use super::words::Line;
use super::{judge, names, words};
use crate::testkit::model::Rows;
use crate::testkit::{dump, faulty};

/// Lines of one random script.
const LINES: usize = 60;

/// A small generator of its own, so that a seed means the same script for ever.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % (n.max(1) as u64)) as usize
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn pick<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of.get(self.below(of.len())).copied().unwrap_or_default()
    }
}

/// Whether statements of the bed fail now and then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Faults {
    None,
    Some,
}

/// Statements within which a fault strikes; few verbs have more.
const FAULT_AT: usize = 14;

/// Runs the script of a seed on a bed; panics with the shortest script that still fails.
pub fn check(seed: u64, faults: Faults, make: &dyn Fn() -> Box<dyn Bed>) -> Ran {
    let ran = run(seed, faults, make().as_ref());
    if let Some(problem) = &ran.problem {
        let short = shortened(ran.script, make);
        panic!("seed {seed}: {problem}\nthe script comes down to:\n{}", short.join("\n"));
    }
    ran
}

/// What came of a script.
#[derive(Debug, Default)]
pub struct Ran {
    /// The lines that were drawn.
    pub script: Vec<String>,
    /// What was wrong behind the last of them.
    pub problem: Option<String>,
    /// Verbs that a fault kept from doing anything.
    pub nothing: usize,
    /// Verbs that were done, and whose answer a fault lost.
    pub whole: usize,
}

/// Draws a script line by line and runs it until something is wrong.
pub fn run(seed: u64, faults: Faults, bed: &dyn Bed) -> Ran {
    let model = ModelBed::default();
    let mut pair = Pair { here: Runner::new(bed), there: Runner::new(&model), nothing: 0, whole: 0 };
    let mut dice = Dice::new(seed);
    let mut ran = Ran::default();
    let mut waiting: Vec<String> = BEGIN.iter().rev().map(|line| (*line).to_owned()).collect();
    for _ in 0..LINES {
        let line = waiting.pop().unwrap_or_else(|| {
            let mut drawn = draw(&mut dice, &pair.there);
            if faults == Faults::Some && dice.one_in(3) && may_fail(&drawn[0]) {
                let behind = if dice.one_in(3) { " behind" } else { "" };
                drawn.insert(0, format!("fault {}{behind}", 1 + dice.below(FAULT_AT)));
            }
            let first = drawn.remove(0);
            waiting.extend(drawn.into_iter().rev());
            first
        });
        ran.problem = pair.step(&line);
        ran.script.push(line);
        if ran.problem.is_some() {
            break;
        }
    }
    Ran { nothing: pair.nothing, whole: pair.whole, ..ran }
}

const BEGIN: [&str; 3] = [CONSUMERS[0], CONSUMERS[1], "configure"];

/// Definitions that come and go.
const CONSUMERS: [&str; 7] = [
    "consumer app on=gh/*,crm/push first=2s attempts=3",
    "consumer audit on=crm/* on_dead=continue give_up=1m",
    "consumer late on=*/* from=beginning order=none",
    "consumer app on=*/* first=2s give_up=10s",
    "consumer since on=gh/push from=-30s",
    "without app",
    "without late",
];

struct Pair<'b> {
    here: Runner<'b>,
    there: Runner<'b>,
    nothing: usize,
    whole: usize,
}

impl Pair<'_> {
    /// Runs a line on both. A line that makes no sense on one makes none on the other.
    fn step(&mut self, line: &str) -> Option<String> {
        let line = words::line(0, line);
        let before = self.here.rows();
        let mut here = self.here.line(&line);
        // Between arming and striking lies the next line.
        if line.verb != "fault" && self.here.struck() && failed(&here) {
            match self.faulted(&line, &before) {
                Ok(Fate::Nothing) => {
                    self.nothing += 1;
                    here = self.here.line(&line);
                }
                Ok(Fate::Whole) => {
                    self.whole += 1;
                    return None;
                }
                Err(problem) => return Some(format!("{}: {problem}", line.text)),
            }
        }
        let there = self.there.line(&line);
        if here != there {
            return Some(format!("{}: {here:?}, in the model {there:?}", line.text));
        }
        judge(&before, &self.here, &self.there).err().map(|problem| format!("{}:\n{problem}", line.text))
    }

    /// A verb that failed has done all of it (its answer was lost) or nothing.
    fn faulted(&mut self, line: &Line, before: &Rows) -> Result<Fate, String> {
        let rows = self.here.rows();
        if line.verb == "purge" {
            return self.ended(line, before);
        }
        if dump::differences(&dump::dump(before), &dump::dump(&rows)).is_empty() {
            return Ok(Fate::Nothing);
        }
        let held = self.there.held().len();
        // Its answer is lost: nobody hears what it was.
        drop(self.there.line(line));
        if judge(before, &self.here, &self.there).is_err() && line.verb == "claim" {
            // What was claimed and cannot be read is given back.
            self.there.give_back(held)?;
        }
        judge(before, &self.here, &self.there).map_err(|problem| format!("a fault left half of it:\n{problem}"))?;
        self.here.forget_what(&self.there);
        self.there.forget_what(&self.here);
        if line.verb == "configure" { self.here.line(line).map(|_| Fate::Whole) } else { Ok(Fate::Whole) }
    }
}

/// Cleaning is more than one commit: what it has said is ended by the next step.
impl Pair<'_> {
    fn ended(&mut self, line: &Line, before: &Rows) -> Result<Fate, String> {
        self.here.line(line)?;
        drop(self.there.line(line));
        judge(before, &self.here, &self.there).map_err(|problem| format!("cleaning was not ended:\n{problem}"))?;
        Ok(Fate::Whole)
    }
}

/// What became of a verb in which a fault struck.
enum Fate {
    Nothing,
    Whole,
}

fn failed(answer: &Result<String, String>) -> bool {
    let (Ok(text) | Err(text)) = answer;
    text.contains(faulty::SAYS)
}

/// Verbs of the store; a restart is none, and what a test edits by hand does not go through it.
fn may_fail(line: &str) -> bool {
    !["restart", "tick", "crash", "floor", "cancel", "consumer ", "without"].iter().any(|verb| line.starts_with(verb))
}

/// Leaves out lines as long as something still goes wrong.
fn shortened(mut script: Vec<String>, make: &dyn Fn() -> Box<dyn Bed>) -> Vec<String> {
    let mut at = script.len();
    while at > 0 {
        at -= 1;
        let mut shorter = script.clone();
        shorter.remove(at);
        if fails(&shorter, make) {
            script = shorter;
        }
    }
    script
}

fn fails(script: &[String], make: &dyn Fn() -> Box<dyn Bed>) -> bool {
    let (bed, model) = (make(), ModelBed::default());
    let mut pair = Pair { here: Runner::new(bed.as_ref()), there: Runner::new(&model), nothing: 0, whole: 0 };
    script.iter().any(|line| pair.step(line).is_some())
}

/// The next line, or a few that belong together.
fn draw(dice: &mut Dice, runner: &Runner<'_>) -> Vec<String> {
    let rows = runner.rows();
    match dice.below(100) {
        0..=27 => vec![admit(dice)],
        28..=41 => vec!["route".to_owned()],
        42..=56 => vec![claim(dice, &rows)],
        57..=76 => vec![settle(dice, runner, &rows)],
        77..=84 => vec![format!("tick {}", dice.pick(&["1s", "2s", "5s", "10s", "11s", "1m", "2h", "4d"]))],
        85..=92 => vec![decision(dice, &rows)],
        93..=95 => vec![CONSUMERS[dice.below(CONSUMERS.len())].to_owned(), "configure".to_owned()],
        96 => vec!["restart".to_owned()],
        97 => vec![format!("crash {}", worker(dice))],
        98 if dice.one_in(2) => vec![format!("renew {} 10s", worker(dice))],
        98 => vec![purge(dice)],
        _ => vec![dice.pick(&["sweep", "configure", "refuse gh stale", "rule gh v1"]).to_owned()],
    }
}

fn worker(dice: &mut Dice) -> &'static str {
    dice.pick(&["alice", "bob"])
}

fn admit(dice: &mut Dice) -> String {
    let mut line = format!("admit {}", item(dice));
    if dice.one_in(8) {
        line = format!("{line} + {}", item(dice));
    }
    line
}

/// Type and aggregate mostly follow from the key, so that most copies are copies.
fn item(dice: &mut Dice) -> String {
    let key = dice.below(10);
    let (mut kind, mut aggregate) = (["push", "issue"][key % 2], ["a", "b", "a", ""][key % 4]);
    if dice.one_in(12) {
        (kind, aggregate) = ("other", "c");
    }
    let mut item = format!("{}/{key} type={kind}", dice.pick(&["gh", "crm"]));
    if !aggregate.is_empty() {
        item = format!("{item} agg={aggregate}");
    }
    let mut option = |dice: &mut Dice, often: usize, of: &[&'static str]| {
        if dice.one_in(often) {
            item = format!("{item} {}", dice.pick(of));
        }
    };
    option(dice, 3, &["body=A~1", "body=A~2", "body=B", "body=C"]);
    option(dice, 8, &["rule=2", "rule=3"]);
    option(dice, 6, &["guard=hold:S", "guard=duplicate:S", "guard=accept:S", "guard=hold:T"]);
    option(dice, 6, &["time=-2h", "time=1h", "time=2d"]);
    option(dice, 20, &["unmapped=why"]);
    option(dice, 20, &["hold=schema_version"]);
    item
}

/// Mostly so short that something goes.
fn purge(dice: &mut Dice) -> String {
    let gh = dice.pick(&["gh=1s/1m", "gh=1s/2h", "gh=2h/4d", "gh=10s/10s"]);
    format!("purge {gh} {}", dice.pick(&["crm=5s/2m", "crm=1s/1s", "crm=1d/4d"]))
}

/// Mostly of a consumer that is owed something.
fn claim(dice: &mut Dice, rows: &Rows) -> String {
    let owed: Vec<String> = rows.work.values().map(|w| names::consumer(rows, w.consumer)).collect();
    let consumer = match owed.get(dice.below(owed.len())) {
        Some(consumer) if !dice.one_in(6) => consumer.as_str(),
        _ => dice.pick(&["app", "audit", "late", "since"]),
    };
    let quiet = if dice.one_in(6) { " quiet" } else { "" };
    format!("claim {} {consumer} 10s n={}{quiet}", worker(dice), 1 + dice.below(3))
}

/// Somebody who holds something, or held it, ends it.
fn settle(dice: &mut Dice, runner: &Runner<'_>, rows: &Rows) -> String {
    let held = runner.held();
    let Some((worker, run)) = held.get(dice.below(held.len())) else { return claim(dice, rows) };
    let outcomes = [
        "succeeded",
        "succeeded",
        "failed",
        "failed after=30s",
        "dead",
        "parked",
        "discarded",
        "snoozed 5s",
        "untried 1s",
        "deferred 30s",
        "",
    ];
    let name = names::delivery(rows, run.event, run.consumer);
    format!("settle {worker} {name} epoch {} {}", run.lease.epoch, dice.pick(&outcomes))
}

/// What a person may do: mostly about something that is there.
fn decision(dice: &mut Dice, rows: &Rows) -> String {
    let delivery = |event: i64, consumer: i64| names::delivery(rows, event, consumer);
    let halted: Vec<String> = rows.halted.values().map(|h| delivery(h.event, h.consumer)).collect();
    let held: Vec<String> = rows.hold.keys().map(|event| names::event(rows, *event)).collect();
    let owed: Vec<String> = rows.work.values().map(|w| delivery(w.event, w.consumer)).collect();
    let said = match dice.below(12) {
        0..=3 => about(dice, "dead.retry", &halted),
        4..=6 => about(dice, "held.release", &held),
        7 => about(dice, "held.drop", &held),
        8 => about(dice, "cancel", &owed),
        9 => Some(format!("unmapped.drop {}", 1 + dice.below(4))),
        _ => None,
    };
    said.unwrap_or_else(|| match dice.below(5) {
        0 => format!("floor {} {}", dice.pick(&["gh", "crm"]), dice.pick(&["-1h", "-1m", "0s"])),
        1 => format!("consumer.pause {}", dice.pick(&["app", "audit", "late"])),
        _ => format!("consumer.resume {}", dice.pick(&["app", "audit", "late"])),
    })
}

fn about(dice: &mut Dice, verb: &str, of: &[String]) -> Option<String> {
    of.get(dice.below(of.len())).map(|name| format!("{verb} {name}"))
}
