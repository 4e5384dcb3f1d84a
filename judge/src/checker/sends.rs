//! The sends and what became of them: A (answered 2xx), N (answered 4xx), U (everything else).

use std::collections::HashMap;

use super::within::Within;
use crate::history::{Entry, Sent, Validity};

/// What the sender knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Acked {
        at: u64,
    },
    Refused {
        status: u16,
    },
    /// Reset, time-out, 5xx, or no outcome on record at all: it may or may not have happened.
    Unknown,
}

#[derive(Debug, Clone, Copy)]
pub struct Told<'a> {
    pub sent: &'a Sent,
    pub outcome: Outcome,
}

impl Told<'_> {
    pub fn valid(&self) -> bool {
        self.sent.validity == Validity::Valid
    }

    pub fn acked_at(&self) -> Option<u64> {
        match self.outcome {
            Outcome::Acked { at } => Some(at),
            _ => None,
        }
    }
}

/// What the sender calls one occurrence: source and key.
pub type Occurrence<'a> = (&'a str, &'a str);

/// All sends, and the two ways to find them again.
#[derive(Debug, Default)]
pub struct Sends<'a> {
    pub all: Vec<Told<'a>>,
    by_key: Within<'a, Vec<usize>>,
    by_digest: Within<'a, Vec<usize>>,
}

impl<'a> Sends<'a> {
    pub fn of(history: &'a [Entry]) -> Self {
        let mut sends = Self::default();
        let mut place = HashMap::new();
        for entry in history {
            let outcome = match entry {
                Entry::Send(sent) => {
                    place.insert(sent.n, sends.all.len());
                    sends.add(sent);
                    continue;
                }
                Entry::Answer { status: 200..=299, at, .. } => Outcome::Acked { at: *at },
                Entry::Answer { status: status @ 400..=499, .. } => Outcome::Refused { status: *status },
                Entry::Answer { .. } | Entry::Unknown { .. } => Outcome::Unknown,
            };
            if let Some(told) = place.get(&entry.n()).and_then(|i| sends.all.get_mut(*i)) {
                told.outcome = outcome;
            }
        }
        sends
    }

    fn add(&mut self, sent: &'a Sent) {
        let i = self.all.len();
        self.all.push(Told { sent, outcome: Outcome::Unknown });
        self.by_digest.at(&sent.source, &sent.digest).push(i);
        // Forgeries are no copies of an occurrence: nothing they say counts.
        if sent.validity == Validity::Valid {
            self.by_key.at(&sent.source, &sent.key).push(i);
        }
    }

    fn at<'s>(&'s self, places: Option<&'s Vec<usize>>) -> impl Iterator<Item = &'s Told<'a>> + use<'s, 'a> {
        places.into_iter().flatten().filter_map(|i| self.all.get(*i))
    }

    /// Every send of these bytes, forged ones too.
    pub fn of_body<'s>(&'s self, source: &str, digest: &str) -> impl Iterator<Item = &'s Told<'a>> + use<'s, 'a> {
        self.at(self.by_digest.get(source, digest))
    }

    /// The validly sent occurrences, with their sends in the order in which they were made.
    pub fn occurrences(&self) -> impl Iterator<Item = (Occurrence<'a>, Vec<&Told<'a>>)> {
        self.by_key.iter().map(|(key, places)| (key, self.at(Some(places)).collect()))
    }

    /// How many contents were validly sent for one occurrence.
    pub fn bodies(&self, source: &str, key: &str) -> usize {
        let mut bodies: Vec<_> = self.at(self.by_key.get(source, key)).map(|t| &t.sent.digest).collect();
        bodies.sort_unstable();
        bodies.dedup();
        bodies.len()
    }

    /// The occurrence that these bytes were validly sent for.
    pub fn occurrence(&self, source: &str, digest: &str) -> Option<Occurrence<'a>> {
        self.of_body(source, digest).find(|t| t.valid()).map(|t| (t.sent.source.as_str(), t.sent.key.as_str()))
    }
}
