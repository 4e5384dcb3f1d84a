//! The rows of a group as columns, a set for each statement.

use std::collections::HashMap;
use std::hash::Hash as Hashed;

use hookonce_core::admit::{Differs, REQUEST_ROWS, Submission};
use hookonce_core::coding;
use hookonce_core::event::{Digest, EventNo, Hash, Item};
use hookonce_core::time::Micros;

use super::events::{Events, Spans};
use crate::sql::call::{Arg, Stmt};
use crate::sql::headers;
use crate::sql::place::Place;
use crate::sql::postgres as sql;

/// A statement and its columns.
pub type Write<'r> = (&'static Stmt, Vec<Arg<'r>>);

#[derive(Debug, Default)]
pub struct Rows<'a> {
    payloads: Payloads<'a>,
    events: Events<'a>,
    requests: Requests<'a>,
    unmapped: Unmapped<'a>,
    conflicts: Conflicts<'a>,
    again: Copies<'a, Vec<u8>>,
    seen: Copies<'a, ()>,
    seen_variant: Copies<'a, EventNo>,
}

impl<'a> Rows<'a> {
    /// The statements that have something to write. A conflict row is there before it is counted again.
    pub fn writes(&self, now: Micros) -> Vec<Write<'_>> {
        let now = Arg::Int(now);
        let (again, variant) = (Arg::Bytes(&self.again.key), Arg::Ints(&self.seen_variant.key));
        let all = [
            (sql::ADMIT_PAYLOAD, self.payloads.args()),
            (sql::ADMIT_EVENT, self.events.args()),
            (sql::ADMIT_UNMAPPED, self.unmapped.args()),
            (sql::ADMIT_CONFLICT, self.conflicts.args(now)),
            (sql::ADMIT_REQUEST, self.requests.args(now)),
            (sql::ADMIT_CONFLICT_AGAIN, self.again.args(&[again], now)),
            (sql::ADMIT_SEEN, self.seen.args(&[], now)),
            (sql::ADMIT_SEEN_VARIANT, self.seen_variant.args(&[variant], now)),
        ];
        all.into_iter().filter(|(_, args)| !matches!(args.first(), Some(Arg::Ints([]) | Arg::Blobs([])))).collect()
    }

    pub fn payload(&mut self, s: &'a Submission, id: i64) {
        let rows = &mut self.payloads;
        rows.id.push(id);
        rows.target.push(&s.target);
        rows.headers.push(headers::encode(&s.headers));
        rows.body.push(&s.body);
    }

    pub fn event(&mut self, s: &'a Submission, id: i64, payload: i64, item: &'a Item, place: &Place) {
        self.events.push(s, id, payload, item, place);
    }

    pub fn request(&mut self, s: &'a Submission, row: Request<'a>) {
        self.requests.push(s, row);
    }

    pub fn unmapped(
        &mut self,
        s: &'a Submission,
        id: i64,
        payload: i64,
        place: (u32, Option<(u64, u64)>),
        why: &'a str,
    ) {
        let rows = &mut self.unmapped;
        rows.id.push(id);
        rows.source.push(&s.source);
        rows.payload.push(payload);
        rows.span.push(place.1);
        rows.item.push(place.0.into());
        rows.secret.push(s.secret.as_deref());
        rows.reason.push(why);
        rows.received.push(s.received);
    }

    pub fn conflict(&mut self, s: &'a Submission, item: &'a Item, differs: Differs, event: Option<EventNo>) {
        let (headers, body) = coding::alone(&s.headers, &s.body, item.span);
        let rows = &mut self.conflicts;
        rows.digest.push(&item.digest);
        rows.fingerprint.push(&item.fingerprint);
        rows.body_hash.push(&item.body_hash);
        rows.headers.push(headers::encode(&headers));
        rows.body.push(body.to_vec());
        rows.differs.push(differs.name());
        rows.event.push(event);
    }

    /// The conflict row of that fingerprint was met once more.
    pub fn again(&mut self, item: &'a Item, fingerprint: Hash) {
        self.again.count(item, fingerprint.to_vec());
    }

    pub fn seen(&mut self, item: &'a Item) {
        self.seen.count(item, ());
    }

    pub fn seen_variant(&mut self, item: &'a Item, of: EventNo) {
        self.seen_variant.count(item, of);
    }
}

#[derive(Debug, Default)]
struct Payloads<'a> {
    id: Vec<i64>,
    target: Vec<&'a str>,
    headers: Vec<Vec<u8>>,
    body: Vec<&'a [u8]>,
}

impl Payloads<'_> {
    fn args(&self) -> Vec<Arg<'_>> {
        vec![Arg::Ints(&self.id), Arg::Texts(&self.target), Arg::Bytes(&self.headers), Arg::Blobs(&self.body)]
    }
}

/// What a request came to, where it is not read from an event.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub id: i64,
    pub payload: Option<i64>,
    pub item: u32,
    pub verdict: &'static str,
    pub event: Option<EventNo>,
    /// Of a conflict: which of the kept contents it came with.
    pub fingerprint: Option<Hash>,
    pub provider_delivery: Option<&'a str>,
    pub attempt_mark: Option<&'a str>,
    pub reason: Option<&'a str>,
}

#[derive(Debug, Default)]
struct Requests<'a> {
    id: Vec<i64>,
    payload: Vec<Option<i64>>,
    item: Vec<i64>,
    source: Vec<&'a str>,
    verdict: Vec<&'a str>,
    event: Vec<Option<i64>>,
    /// Empty: none.
    fingerprint: Vec<Vec<u8>>,
    provider_delivery: Vec<Option<&'a str>>,
    attempt_mark: Vec<Option<&'a str>>,
    secret: Vec<Option<&'a str>>,
    reason: Vec<Option<&'a str>>,
    /// Rows of the same event in this group, before this one.
    before: Vec<i64>,
    of: HashMap<EventNo, i64>,
}

impl<'a> Requests<'a> {
    fn push(&mut self, s: &'a Submission, row: Request<'a>) {
        self.id.push(row.id);
        self.payload.push(row.payload);
        self.item.push(row.item.into());
        self.source.push(&s.source);
        self.verdict.push(row.verdict);
        self.event.push(row.event);
        self.fingerprint.push(row.fingerprint.map(|hash| hash.to_vec()).unwrap_or_default());
        self.provider_delivery.push(row.provider_delivery);
        self.attempt_mark.push(row.attempt_mark);
        self.secret.push(s.secret.as_deref());
        self.reason.push(row.reason);
        let before = row.event.map(|event| self.of.entry(event).or_default());
        self.before.push(before.as_deref().copied().unwrap_or(0));
        if let Some(before) = before {
            *before += 1;
        }
    }

    fn args<'r>(&'r self, now: Arg<'r>) -> Vec<Arg<'r>> {
        vec![
            Arg::Ints(&self.id),
            Arg::OptInts(&self.payload),
            Arg::Ints(&self.item),
            Arg::Texts(&self.source),
            Arg::Texts(&self.verdict),
            Arg::OptInts(&self.event),
            Arg::Bytes(&self.fingerprint),
            Arg::OptTexts(&self.provider_delivery),
            Arg::OptTexts(&self.attempt_mark),
            Arg::OptTexts(&self.secret),
            Arg::OptTexts(&self.reason),
            Arg::Ints(&self.before),
            Arg::Int(REQUEST_ROWS),
            now,
        ]
    }
}

#[derive(Debug, Default)]
struct Unmapped<'a> {
    id: Vec<i64>,
    source: Vec<&'a str>,
    payload: Vec<i64>,
    span: Spans,
    item: Vec<i64>,
    secret: Vec<Option<&'a str>>,
    reason: Vec<&'a str>,
    received: Vec<i64>,
}

impl Unmapped<'_> {
    fn args(&self) -> Vec<Arg<'_>> {
        vec![
            Arg::Ints(&self.id),
            Arg::Texts(&self.source),
            Arg::Ints(&self.payload),
            Arg::OptInts(&self.span.start),
            Arg::OptInts(&self.span.end),
            Arg::Ints(&self.item),
            Arg::OptTexts(&self.secret),
            Arg::Texts(&self.reason),
            Arg::Ints(&self.received),
        ]
    }
}

#[derive(Debug, Default)]
struct Conflicts<'a> {
    digest: Vec<&'a [u8]>,
    fingerprint: Vec<&'a [u8]>,
    body_hash: Vec<&'a [u8]>,
    headers: Vec<Vec<u8>>,
    body: Vec<Vec<u8>>,
    differs: Vec<&'a str>,
    event: Vec<Option<i64>>,
}

impl Conflicts<'_> {
    fn args<'r>(&'r self, now: Arg<'r>) -> Vec<Arg<'r>> {
        vec![
            Arg::Blobs(&self.digest),
            Arg::Blobs(&self.fingerprint),
            Arg::Blobs(&self.body_hash),
            Arg::Bytes(&self.headers),
            Arg::Bytes(&self.body),
            Arg::Texts(&self.differs),
            Arg::OptInts(&self.event),
            now,
        ]
    }
}

/// How many copies each row counts: a set names a row only once.
#[derive(Debug)]
struct Copies<'a, K> {
    at: HashMap<(Digest, K), usize>,
    digest: Vec<&'a [u8]>,
    key: Vec<K>,
    copies: Vec<i64>,
}

impl<K> Default for Copies<'_, K> {
    fn default() -> Self {
        Copies { at: HashMap::new(), digest: Vec::new(), key: Vec::new(), copies: Vec::new() }
    }
}

impl<'a, K: Clone + Eq + Hashed> Copies<'a, K> {
    fn count(&mut self, item: &'a Item, key: K) {
        let at = *self.at.entry((item.digest, key.clone())).or_insert(self.copies.len());
        if at == self.copies.len() {
            self.digest.push(&item.digest);
            self.key.push(key);
            self.copies.push(0);
        }
        if let Some(copies) = self.copies.get_mut(at) {
            *copies += 1;
        }
    }

    /// The digest, what else names the row, how many.
    fn args<'r>(&'r self, key: &[Arg<'r>], now: Arg<'r>) -> Vec<Arg<'r>> {
        [&[Arg::Blobs(&self.digest)], key, &[Arg::Ints(&self.copies), now]].concat()
    }
}
