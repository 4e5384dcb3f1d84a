//! Cleaning, a bounded step at a time. The work file says first what is going, then the inbox file deletes it, then the
//! work file forgets the rest: whatever dies in between, the next step ends it before it begins anything.
//!
//! Here: what the three parts tell each other. A reader finds what is ripe and what is going ([`look`]), the work writer
//! judges it ([`say`]) and forgets it ([`forget`]), the inbox writer deletes ([`delete`]).

pub mod delete;
pub mod forget;
pub mod look;
pub mod say;
mod step;

use hookonce_core::event::EventNo;
use hookonce_core::retain::What;
use hookonce_core::time::Micros;

use crate::sql::retain::Candidate;

/// What may be old enough, by what the inbox knows of it.
#[derive(Debug)]
pub struct Ripe {
    pub what: What,
    /// Behind this one nothing was looked at before.
    pub from: EventNo,
    pub new: Vec<Candidate>,
    pub again: Vec<Candidate>,
}

/// What was said to go and is not forgotten yet.
#[derive(Clone, Debug, Default)]
pub struct Going {
    pub payloads: Vec<i64>,
    pub events: Vec<EventNo>,
    /// There is something to forget, even where nothing is left to delete.
    pub said: bool,
}

/// What has come under a key again since it was said to go.
pub type Survivors = Vec<(EventNo, Micros)>;

/// Up to where was said to go, and up to where it is forgotten.
pub fn marks(what: What) -> (&'static str, &'static str) {
    match what {
        What::Payload => ("purging_payload", "purged_payload"),
        What::Event => ("purging_event", "purged_event"),
    }
}
