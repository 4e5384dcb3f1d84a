//! The checker: a pure function over evidence and a dump. It shares nothing with the engine, knows no clock and
//! opens no file, so that every rule can be shown to fail on a history written by hand.
//!
//! One file per family of invariants (numbers as in `docs/INVARIANTS.md`): [`admission`] 1 2 3 13 14 15 22,
//! [`routing`] 4 20, [`lanes`] 5 6, [`endings`] 7 8 9, [`outside`] 3 6 14 16 17, [`pair`] the two files together.

mod admission;
mod endings;
mod lanes;
mod outside;
mod pair;
mod routing;
mod sends;
#[cfg(test)]
mod tests;
mod violation;
mod within;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::dump::Dump;
use crate::history::Evidence;

pub use sends::{Outcome, Sends};
pub use violation::{Rule, Violation};

/// What the run was set up to be; the configuration in the checker's own words.
#[derive(Debug, Clone, Default)]
pub struct Expect {
    pub consumers: Vec<Wants>,
    /// Faults that must have happened at least once, or the run says nothing.
    pub needs: Vec<String>,
    /// The rig holds that everything is done: what is left open then makes the run void.
    pub drained: bool,
}

/// A consumer and what it asks for: `source/type`, where a `*` at the end of either part takes any rest.
#[derive(Debug, Clone, Default)]
pub struct Wants {
    pub name: String,
    pub on: Vec<String>,
    /// One at a time per aggregate, in admission order.
    pub ordered: bool,
}

/// One look at a dead store.
#[derive(Debug)]
pub struct Case<'a> {
    pub evidence: &'a Evidence,
    pub dump: &'a Dump,
    /// The look before this one, and when it was taken.
    pub earlier: Option<(&'a Dump, u64)>,
    pub expect: &'a Expect,
}

/// A run that proves nothing is an outcome of its own: it has not passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Clean(Account),
    Void(Vec<String>, Account),
    Violated(Vec<Violation>, Account),
}

impl Verdict {
    pub fn account(&self) -> &Account {
        match self {
            Self::Clean(a) | Self::Void(_, a) | Self::Violated(_, a) => a,
        }
    }

    /// The invariants that were found broken.
    pub fn broken(&self, rule: Rule) -> bool {
        matches!(self, Self::Violated(found, _) if found.iter().any(|v| v.rule == rule))
    }
}

/// The figures of a look. *lost* = acked − stored, *recovered* = unknown ∩ stored, *unexpected* = stored − validly
/// sent, *doubled* = more than one event or effect for one occurrence.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    pub sent: u64,
    pub acked: u64,
    pub unknown: u64,
    pub refused: u64,
    pub events: u64,
    pub lost: u64,
    pub recovered: u64,
    pub unexpected: u64,
    pub doubled: u64,
    pub arrivals: u64,
    pub effects: u64,
    pub faults: BTreeMap<String, u64>,
}

/// Findings and figures while a case is looked at.
#[derive(Debug, Default)]
struct Findings {
    found: Vec<Violation>,
    account: Account,
}

impl Findings {
    fn add(&mut self, rule: Rule, words: String) {
        self.found.push(Violation { rule, words });
    }

    fn broken(&mut self, invariant: u8, words: String) {
        self.add(Rule::Invariant(invariant), words);
    }
}

pub fn judge(case: &Case<'_>) -> Verdict {
    let sends = Sends::of(&case.evidence.history);
    let mut findings = Findings::default();
    count(case, &sends, &mut findings.account);
    admission::check(case, &sends, &mut findings);
    routing::check(case, &mut findings);
    lanes::check(case, &mut findings);
    endings::check(case, &mut findings);
    outside::check(case, &sends, &mut findings);
    pair::check(case, &mut findings);
    let Findings { found, account } = findings;
    if !found.is_empty() {
        return Verdict::Violated(found, account);
    }
    match void(case, &account) {
        why if why.is_empty() => Verdict::Clean(account),
        why => Verdict::Void(why, account),
    }
}

fn count(case: &Case<'_>, sends: &Sends<'_>, account: &mut Account) {
    let of = |f: fn(&Outcome) -> bool| sends.all.iter().filter(|s| f(&s.outcome)).count() as u64;
    account.sent = sends.all.len() as u64;
    account.acked = of(|o| matches!(o, Outcome::Acked { .. }));
    account.refused = of(|o| matches!(o, Outcome::Refused { .. }));
    account.unknown = account.sent - account.acked - account.refused;
    account.events = case.dump.inbox.events.len() as u64;
    account.arrivals = case.evidence.sink.len() as u64;
    account.effects = case.evidence.effects.len() as u64;
    for fault in case.evidence.faults.iter().filter(|f| f.hit) {
        *account.faults.entry(fault.what.clone()).or_default() += 1;
    }
}

/// A run in which the fault did not happen, nothing was acknowledged, or work was left over.
fn void(case: &Case<'_>, account: &Account) -> Vec<String> {
    let mut why: Vec<String> = case
        .expect
        .needs
        .iter()
        .filter(|f| !account.faults.contains_key(*f))
        .map(|f| format!("the fault `{f}` never happened"))
        .collect();
    if account.acked == 0 {
        why.push("nothing was acknowledged".to_owned());
    }
    if case.expect.drained {
        why.extend(routing::left_over(case.dump));
    }
    why
}
