//! What ingest counts (prefix `hookonce_`). Labels are names of sources and fixed outcomes: nothing that a request says
//! can make a new series (S39).

use std::time::Duration;

use metrics::{Counter, Histogram, Unit, counter, describe_counter, describe_histogram, histogram};

use crate::answer::Declined;
use hookonce_core::admit::{Admission, Verdict};
use hookonce_core::signature::Refusal;

const REQUESTS: &str = "hookonce_ingest_requests_total";
const DURATION: &str = "hookonce_ingest_request_duration_seconds";
const BODY: &str = "hookonce_ingest_body_bytes";
const ALARMS: &str = "hookonce_alarms_total";
const UNKNOWN: &str = "hookonce_ingest_unknown_source_total";

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Accepted,
    Duplicate,
    Conflict,
    Unmapped,
    Handshake,
    RefusedSignature,
    RefusedTimestamp,
    RefusedSize,
    RefusedMethod,
    RefusedMalformed,
    Limited,
    Unavailable,
}

const OUTCOMES: [(Outcome, &str); 12] = [
    (Outcome::Accepted, "accepted"),
    (Outcome::Duplicate, "duplicate"),
    (Outcome::Conflict, "conflict"),
    (Outcome::Unmapped, "unmapped"),
    (Outcome::Handshake, "handshake"),
    (Outcome::RefusedSignature, "refused_signature"),
    (Outcome::RefusedTimestamp, "refused_timestamp"),
    (Outcome::RefusedSize, "refused_size"),
    (Outcome::RefusedMethod, "refused_method"),
    (Outcome::RefusedMalformed, "refused_malformed"),
    (Outcome::Limited, "limited"),
    (Outcome::Unavailable, "unavailable"),
];

impl Outcome {
    /// A batch counts once, for the item that somebody has to look at first.
    pub fn of(admission: &Admission) -> Outcome {
        let rank = |verdict: &Verdict| match verdict {
            Verdict::Conflict { .. } => (3, Outcome::Conflict),
            Verdict::Unmapped { .. } => (2, Outcome::Unmapped),
            Verdict::Accepted { .. } => (1, Outcome::Accepted),
            Verdict::Duplicate { .. } => (0, Outcome::Duplicate),
        };
        admission.verdicts.iter().map(rank).max_by_key(|(rank, _)| *rank).map_or(Outcome::Accepted, |(_, o)| o)
    }
}

impl From<&Declined> for Outcome {
    fn from(declined: &Declined) -> Outcome {
        match declined {
            Declined::Refused(Refusal::StaleTimestamp | Refusal::FutureTimestamp) => Outcome::RefusedTimestamp,
            Declined::Refused(_) | Declined::Challenge(_) => Outcome::RefusedSignature,
            Declined::TooLarge | Declined::TooManyHeaders => Outcome::RefusedSize,
            Declined::Method => Outcome::RefusedMethod,
            Declined::Malformed(_) | Declined::BrokenCoding | Declined::UnknownCoding | Declined::Slow => {
                Outcome::RefusedMalformed
            }
            Declined::Limited | Declined::Full => Outcome::Limited,
            Declined::NoSecret | Declined::Late | Declined::Unavailable(_) => Outcome::Unavailable,
        }
    }
}

/// The instruments of one source, looked up once.
pub struct Counters {
    outcomes: [Counter; OUTCOMES.len()],
    duration: Histogram,
    body: Histogram,
}

impl std::fmt::Debug for Counters {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Counters").finish_non_exhaustive()
    }
}

impl Counters {
    pub fn new(source: &str) -> Counters {
        let source = source.to_owned();
        Counters {
            outcomes: OUTCOMES.map(|(_, name)| counter!(REQUESTS, "source" => source.clone(), "outcome" => name)),
            duration: histogram!(DURATION, "source" => source.clone()),
            body: histogram!(BODY, "source" => source),
        }
    }

    pub fn ended(&self, outcome: Outcome, took: Duration) {
        if let Some(counter) = self.outcomes.get(outcome as usize) {
            counter.increment(1);
        }
        self.duration.record(took);
    }

    pub fn body(&self, bytes: usize) {
        self.body.record(bytes as f64);
    }
}

pub fn unknown_source() {
    counter!(UNKNOWN).increment(1);
}

pub fn alarm(source: &str, alarm: &'static str) {
    counter!(ALARMS, "source" => source.to_owned(), "name" => alarm).increment(1);
}

/// Texts for whoever exports the metrics.
pub fn describe() {
    describe_counter!(REQUESTS, "requests answered, by source and outcome");
    describe_histogram!(DURATION, Unit::Seconds, "from the head of a request to its answer");
    describe_histogram!(BODY, Unit::Bytes, "bodies as they came");
    describe_counter!(ALARMS, "what somebody should look at");
    describe_counter!(UNKNOWN, "requests to names that no source has");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_its_numbers() {
        for (at, (outcome, name)) in OUTCOMES.into_iter().enumerate() {
            assert_eq!(outcome as usize, at, "{name}");
        }
    }
}
