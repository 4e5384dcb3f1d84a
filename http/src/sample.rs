//! What is left of refused requests: counts, and a few redacted copies. Collected in memory and handed over once a
//! second, so that forged traffic costs a lock and no commit, however much of it there is.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hookonce_core::request::{Headers, Request};
use hookonce_core::sample::{Refusals, Sample};
use http::{HeaderName, HeaderValue};

use crate::headers::is_secret;
use crate::source::{Door, Source};

/// Between two batches.
pub const EVERY: Duration = Duration::from_secs(1);
/// Copies in a batch, of one source and of all.
const SAMPLES_OF_SOURCE: usize = 4;
const SAMPLES: usize = 32;
/// Bytes of a body that a copy keeps.
pub const SAMPLE_BODY: usize = 16 * 1024;
const REDACTED: HeaderValue = HeaderValue::from_static("[redacted]");

/// Since the last batch.
#[derive(Debug, Default)]
pub struct Refused(Mutex<Pending>);

#[derive(Debug, Default)]
pub struct Pending {
    /// Reasons are names from a fixed list, so the map is as small as the configuration.
    pub counts: HashMap<(Arc<str>, &'static str), u64>,
    pub alarms: HashMap<(Arc<str>, &'static str), Alarm>,
    samples: Vec<Sample>,
}

/// How often since the last batch, and what the last one said.
#[derive(Debug, Default)]
pub struct Alarm {
    pub times: u64,
    pub said: Option<Arc<str>>,
}

impl Pending {
    /// As the store takes it; the copies go along.
    pub fn hand_over(&mut self) -> Refusals {
        let counts = self.counts.iter().map(|((source, reason), times)| (source.clone(), (*reason).to_owned(), *times));
        Refusals { counts: counts.collect(), samples: std::mem::take(&mut self.samples) }
    }
}

impl Refused {
    /// Counts one, and copies it if this second has room for it.
    pub fn note(&self, source: &Arc<str>, reason: &'static str, sample: impl FnOnce() -> Option<Sample>) {
        let mut pending = self.lock();
        *pending.counts.entry((source.clone(), reason)).or_default() += 1;
        let of_source = pending.samples.iter().filter(|s| s.source == *source).count();
        if pending.samples.len() < SAMPLES && of_source < SAMPLES_OF_SOURCE {
            pending.samples.extend(sample());
        }
    }

    pub fn alarm(&self, source: &Arc<str>, alarm: &'static str, said: Option<Arc<str>>) {
        let mut pending = self.lock();
        let entry = pending.alarms.entry((source.clone(), alarm)).or_default();
        entry.times += 1;
        entry.said = said;
    }

    /// All of it; `None`: there was nothing.
    pub fn take(&self) -> Option<Pending> {
        let taken = std::mem::take(&mut *self.lock());
        Some(taken).filter(|taken| !taken.counts.is_empty() || !taken.alarms.is_empty())
    }

    /// What the store could not take is counted again with the next. The copies are gone: the next second has its own.
    pub fn give_back(&self, taken: Pending) {
        let mut pending = self.lock();
        for (key, times) in taken.counts {
            *pending.counts.entry(key).or_default() += times;
        }
    }

    /// A panic between two lines of counting leaves nothing half done.
    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A copy that a person may look at: with what was signed and the signature, so that it can be explained, without what
/// would let somebody in.
pub fn sample(door: &Door, request: &Request, reason: &str) -> Sample {
    let body = request.body.get(..SAMPLE_BODY).unwrap_or(&request.body);
    Sample {
        source: door.source.name.clone(),
        target: format!("{} {}", request.method, request.target),
        headers: redacted(&request.headers, &door.source),
        body: body.to_vec(),
        reason: reason.to_owned(),
        received: request.received,
    }
}

/// A secret header keeps its name: that it came explains something.
fn redacted(headers: &Headers, source: &Source) -> Headers {
    let line = |(name, value): &(HeaderName, HeaderValue)| {
        let hidden = is_secret(name) || source.secret_headers.contains(name);
        (name.clone(), if hidden { REDACTED } else { value.clone() })
    };
    Headers(headers.0.iter().map(line).collect())
}
