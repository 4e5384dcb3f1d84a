//! Every table of the migrations as ordered maps of plain rows, in the order of their columns.
//!
//! Not here: settings and nodes, which say where a store lives and not what it holds. What a database draws from a
//! counter stands in [`Counters`].

use std::collections::BTreeMap;

use super::table::{Table, table};

table! { Ledger = "ledger" in Inbox by [u8; 16] = |r| r.digest;
digest: [u8; 16], fingerprint: [u8; 32], body_hash: [u8; 32], rule: i64, event: i64, first_seen: i64,
last_seen: i64, seen: i64 }

table! { Event = "event" in Inbox by i64 = |r| r.id;
id: i64, namespace: String, key_kind "kind": String, key: Vec<u8>, key_text: String, variant: i64, rule: i64,
source: String, kind "type": String, aggregate: Option<String>, version: Option<String>, event_time: Option<i64>,
schema_version: Option<String>, received: i64, payload: i64, span_start: Option<i64>, span_end: Option<i64>,
item: i64, digest: [u8; 16], fingerprint: [u8; 32], body_hash: [u8; 32], secret: Option<String>,
provider_delivery: Option<String>, attempt_mark: Option<String>, origin: String, parent: Option<i64>,
hold_reason: Option<String>, guard: Option<[u8; 16]> }

table! { Payload = "payload" in Inbox by i64 = |r| r.id;
id: i64, target: String, headers: Vec<u8>, body: Vec<u8> }

table! { Request = "request" in Inbox by i64 = |r| r.id;
id: i64, payload: Option<i64>, item: Option<i64>, source: String, at: i64, verdict: String, event: Option<i64>,
fingerprint: Option<[u8; 32]>, provider_delivery: Option<String>, attempt_mark: Option<String>, secret: Option<String>,
reason: Option<String> }

table! { Conflict = "conflict" in Inbox by ([u8; 16], [u8; 32]) = |r| (r.digest, r.fingerprint);
digest: [u8; 16], fingerprint: [u8; 32], body_hash: [u8; 32], headers: Vec<u8>, body: Vec<u8>, differs: String,
first_seen: i64, last_seen: i64, seen: i64, event: Option<i64> }

table! { Unmapped = "unmapped" in Inbox by i64 = |r| r.id;
id: i64, source: String, payload: i64, span_start: Option<i64>, span_end: Option<i64>, item: i64,
secret: Option<String>, reason: String, received: i64, decided: Option<String> }

table! { Sample = "sample" in Inbox by i64 = |r| r.id;
id: i64, source: String, target: String, headers: Vec<u8>, body: Vec<u8>, reason: String, received: i64 }

table! { Namespace = "namespace" in Inbox by String = |r| r.name.clone();
name: String, floor: Option<i64> }

table! { Rule = "rule" in Inbox by i64 = |r| r.number;
number: i64, source: String, definition: String, last_used: i64 }

table! { Tally = "tally" in Inbox by i64 = |r| r.id;
id: i64, at: i64, counts: String }

table! { InboxAudit = "audit" in Inbox by i64 = |r| r.id;
id: i64, at: i64, actor: String, action: String, target: String, reason: String, detail: String,
prev: Vec<u8>, hash: Vec<u8> }

table! { Pass = "pass" in Work by i64 = |r| r.n;
n: i64, pos: i64, seq: i64, consumers: String, own: Option<i64>, config: i64, node: i64, at: i64 }

table! { Consumer = "consumer" in Work by (i64, i64) = |r| (r.id, r.number);
id: i64, name: String, number: i64, from_pos: i64, definition: String, state: String }

table! { Delivery = "delivery" in Work by i64 = |r| r.seq;
seq: i64, lane: i64, id: i64, consumer: i64, event: i64, generation: i64, repeat: Option<String>, open: bool,
cancel: bool, decided: Option<i64>, state: Option<String>, attempts: i64, ended: Option<i64> }

table! { Work = "work" in Work by i64 = |r| r.seq;
seq: i64, id: i64, lane: i64, event: i64, consumer: i64, generation: i64, repeat: Option<String>, due: i64,
since: Option<i64>, attempts: i64, lost: i64, decided: Option<i64>, epoch: i64, token: Option<[u8; 16]>,
owner: Option<i64> }

table! { Halted = "halted" in Work by i64 = |r| r.id;
id: i64, seq: i64, lane: i64, consumer: i64, event: i64, generation: i64, aggregate: Option<String>,
version: Option<String>, kind: String, reason: String, evidence: Option<String>, since: i64, attempts: i64,
lost: i64, epoch: i64 }

table! { Hold = "hold" in Work by i64 = |r| r.event;
event: i64, reason: String, evidence: Option<String>, since: i64, decided: Option<i64>, released: Option<bool> }

table! { Requeue = "requeue" in Work by i64 = |r| r.id;
id: i64, kind: String, event: i64, consumer: Option<i64>, generation: i64, repeat: Option<String>,
decided: Option<i64>, delivery: Option<i64> }

// The number is no key on every store, but where one writer counts the rows of a delivery it names one of them.
table! { Attempt = "attempt" in Work by (i64, i64) = |r| (r.delivery, r.no);
delivery: i64, no: i64, started: i64, ended: i64, outcome: String, detail: String }

table! { WorkAudit = "audit" in Work by i64 = |r| r.id;
id: i64, at: i64, actor: String, action: String, target: String, reason: String, detail: String,
prev: Vec<u8>, hash: Vec<u8> }

table! { Keep = "keep" in Work by (i64, String) = |r| (r.event, r.what.clone());
event: i64, what: String, due: Option<i64> }

/// Every table, and what the store draws its numbers from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rows {
    pub ledger: Table<Ledger>,
    pub event: Table<Event>,
    pub payload: Table<Payload>,
    pub request: Table<Request>,
    pub conflict: Table<Conflict>,
    pub unmapped: Table<Unmapped>,
    pub sample: Table<Sample>,
    pub namespace: Table<Namespace>,
    pub rule: Table<Rule>,
    pub tally: Table<Tally>,
    pub inbox_audit: Table<InboxAudit>,
    pub pass: Table<Pass>,
    pub consumer: Table<Consumer>,
    pub delivery: Table<Delivery>,
    pub work: Table<Work>,
    pub halted: Table<Halted>,
    pub hold: Table<Hold>,
    pub requeue: Table<Requeue>,
    pub attempt: Table<Attempt>,
    pub work_audit: Table<WorkAudit>,
    pub keep: Table<Keep>,
    pub counters: Counters,
}

/// Calls `$f!(field)` for every table of `$rows`, in the order of the files.
#[macro_export]
macro_rules! each_table {
    ($f:ident) => {
        $f!(ledger);
        $f!(event);
        $f!(payload);
        $f!(request);
        $f!(conflict);
        $f!(unmapped);
        $f!(sample);
        $f!(namespace);
        $f!(rule);
        $f!(tally);
        $f!(inbox_audit);
        $f!(pass);
        $f!(consumer);
        $f!(delivery);
        $f!(work);
        $f!(halted);
        $f!(hold);
        $f!(requeue);
        $f!(attempt);
        $f!(work_audit);
        $f!(keep);
    };
}

/// Numbers that are never taken from the greatest row: a purge would hand one out twice.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Counters {
    pub event: i64,
    pub payload: i64,
    /// Generation of the store, raised by a restore.
    pub generation: i64,
    /// The process that has the store open; each start is one more.
    pub instance: i64,
    /// The definitions in force: (consumer, number of the row).
    pub config: Vec<(i64, i64)>,
    /// How far cleaning has got: payloads, events.
    pub purged: [i64; 2],
    /// (source, verdict) of every request answered so far: what the tally rows sum up to.
    pub tally: BTreeMap<(String, String), i64>,
}
