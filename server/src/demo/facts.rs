//! Promises and whether they held.

use serde::Serialize;

use super::Say;

#[derive(Clone, Debug, Serialize)]
pub struct Fact {
    pub promise: String,
    pub held: bool,
    pub evidence: String,
}

pub struct Facts<'a> {
    say: Say<'a>,
    pub all: Vec<Fact>,
}

impl<'a> Facts<'a> {
    pub fn new(say: Say<'a>) -> Facts<'a> {
        Facts { say, all: Vec::new() }
    }

    /// A heading: what happens now.
    pub fn chapter(&self, text: &str) {
        (self.say)(&format!("\n{text}"));
    }

    pub fn note(&mut self, promise: &str, held: bool, evidence: impl Into<String>) {
        let fact = Fact { promise: promise.to_owned(), held, evidence: evidence.into() };
        let mark = if held { "✓" } else { "✗" };
        (self.say)(&format!("  {mark} {:<52} {}", fact.promise, fact.evidence));
        self.all.push(fact);
    }

    pub fn broken(&self) -> usize {
        self.all.iter().filter(|f| !f.held).count()
    }
}
