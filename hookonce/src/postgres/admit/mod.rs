//! Admission: what becomes of a group of requests, in one transaction of two flights.
//!
//! The first takes the keys and says what stands under them; from then on they are ours until the end. What that means
//! is decided by core ([`plan`]), and the second flight writes all of it ([`rows`]) and commits. Between them more is
//! read only for guards and for contents that differ.

mod events;
mod plan;
mod rows;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use hookonce_core::admit::{Admission, KnownConflict, Origin, Submission};
use hookonce_core::event::{Digest, EventNo};
use hookonce_core::kill_point;

use super::audit::{self, Chain};
use super::conn::{Conn, Ended};
use crate::sql::audit::Decision;
use crate::sql::call::{Arg, Call, Row};
use crate::sql::postgres as sql;
use crate::store::StoreError;

pub use plan::full;
use plan::{Entry, Facts, Ledger, Plan};

/// What a group comes to, once its commit is known to be one.
#[derive(Debug)]
pub struct Done {
    pub admissions: Vec<Admission>,
    /// By which the commit is found again.
    pub receipt: i64,
    /// Events whose key came with too many contents.
    pub full: Vec<EventNo>,
}

/// Runs a group. `patience`: how long it waits for a lock, if not as long as its connection does.
pub async fn group(conn: &Conn, patience: Option<Duration>, submissions: &[&Submission]) -> Ended<Done> {
    conn.begin();
    kill_point!("begun");
    let (facts, plan) = match decided(conn, patience, submissions).await {
        Ok(decided) => decided,
        Err(error) => return conn.abandon(error).await,
    };
    kill_point!("inserted");
    let counts = match counts(&plan.tally) {
        Ok(counts) => counts,
        Err(error) => return conn.abandon(error).await,
    };
    let tally = [Arg::Int(facts.receipt), Arg::Int(facts.now), Arg::Text(&counts)];
    let writes = plan.rows.writes(facts.now);
    let mut calls: Vec<Call<'_>> = writes.iter().map(|(stmt, args)| Call::new(stmt, args)).collect();
    calls.push(Call::new(sql::TALLY_PUT, &tally));
    kill_point!("committing");
    let done = Done { admissions: plan.admissions, receipt: facts.receipt, full: plan.full };
    let ended = conn.finish(&calls, done).await;
    kill_point!("committed");
    ended
}

async fn decided<'a>(
    conn: &Conn,
    patience: Option<Duration>,
    submissions: &[&'a Submission],
) -> Result<(Facts, Plan<'a>), StoreError> {
    let entries = Entry::all(submissions);
    let mut facts = keys(conn, patience, &entries).await?;
    more(conn, &mut facts, &entries).await?;
    for submission in submissions {
        mark(conn, submission).await?;
    }
    let plan = plan::plan(&facts, submissions)?;
    Ok((facts, plan))
}

/// The first flight.
async fn keys(conn: &Conn, patience: Option<Duration>, entries: &[Entry<'_>]) -> Result<Facts, StoreError> {
    let (mut digests, mut fingerprints, mut hashes, mut rules) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (entry, first) in entries.iter().zip(plan::firsts(entries)) {
        let item = entry.item().filter(|_| first);
        digests.push(item.map(|item| &item.digest[..]));
        fingerprints.push(item.map(|item| &item.fingerprint[..]));
        hashes.push(item.map(|item| &item.body_hash[..]));
        rules.push(item.map(|item| item.rule));
    }
    let keys = [Arg::OptBlobs(&digests), Arg::OptBlobs(&fingerprints), Arg::OptBlobs(&hashes), Arg::OptInts(&rules)];
    let names: BTreeSet<&str> = entries.iter().filter_map(Entry::item).map(|item| &*item.namespace).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let floors = [Arg::Texts(&names)];
    let wait = patience.map(|wait| wait.as_millis().max(1).to_string());
    let wait = wait.as_deref().map(|wait| [Arg::Text(wait)]);
    let mut calls: Vec<Call<'_>> = wait.iter().map(|wait| Call::new(sql::ADMIT_PATIENCE, wait)).collect();
    calls.extend([
        Call::new(sql::ADMIT_BEGIN, &[]),
        Call::new(sql::ADMIT_KEYS, &keys),
        Call::new(sql::ADMIT_FLOORS, &floors),
    ]);
    let mut answers = conn.run(&calls).await?;
    let mut next = || answers.pop().unwrap_or_default();
    let (floors, keys, begin) = (next(), next(), next());
    facts(begin, keys, floors, entries.len())
}

fn facts(begin: Vec<Row>, keys: Vec<Row>, floors: Vec<Row>, elements: usize) -> Result<Facts, StoreError> {
    let begin = begin.into_iter().next().unwrap_or_default();
    let mut facts =
        Facts { now: begin.int(0)?, receipt: begin.int(1)?, numbers: vec![0; elements], ..Facts::default() };
    for mut row in keys {
        if let Some(place) = row.opt_int(0)? {
            let number = usize::try_from(place - 1).ok().and_then(|at| facts.numbers.get_mut(at));
            *number.ok_or_else(|| StoreError::Failed("a number is for no element".into()))? = row.int(1)?;
            continue;
        }
        let (event, digest) = (row.int(2)?, row.bytes(3)?);
        let row = Ledger { event, fingerprint: row.bytes(4)?, body_hash: row.bytes(5)?, rule: row.int(6)? };
        facts.ledger.insert(digest, row);
    }
    for mut row in floors {
        facts.floors.insert(row.text(0)?, row.int(1)?);
    }
    Ok(facts)
}

/// What only some groups need: whose guards are met, and what stands under keys that came with something else.
async fn more(conn: &Conn, facts: &mut Facts, entries: &[Entry<'_>]) -> Result<(), StoreError> {
    let (guards, unclear) = (facts.new_guards(entries)?, facts.unclear(entries)?);
    let digests: Vec<&[u8]> = guards.iter().map(|(digest, ..)| &digest[..]).collect();
    let fingerprints: Vec<&[u8]> = guards.iter().map(|(_, item, _)| &item.fingerprint[..]).collect();
    let hashes: Vec<&[u8]> = guards.iter().map(|(_, item, _)| &item.body_hash[..]).collect();
    let rules: Vec<i64> = guards.iter().map(|(_, item, _)| item.rule).collect();
    let events: Vec<i64> = guards.iter().map(|(.., event)| *event).collect();
    let (digests, fingerprints, hashes) = (Arg::Blobs(&digests), Arg::Blobs(&fingerprints), Arg::Blobs(&hashes));
    let asked = [digests, fingerprints, hashes, Arg::Ints(&rules), Arg::Ints(&events), Arg::Int(facts.now)];
    let unclear: Vec<&[u8]> = unclear.iter().map(|digest| &digest[..]).collect();
    let keys = [Arg::Blobs(&unclear)];
    let calls = [
        (!guards.is_empty(), Call::new(sql::ADMIT_GUARDS, &asked)),
        (!unclear.is_empty(), Call::new(sql::ADMIT_KNOWN, &keys)),
        (!unclear.is_empty(), Call::new(sql::ADMIT_CONFLICTS, &keys)),
    ];
    let calls: Vec<Call<'_>> = calls.into_iter().filter_map(|(needed, call)| needed.then_some(call)).collect();
    if calls.is_empty() {
        return Ok(());
    }
    let answers = conn.run(&calls).await?;
    for (call, rows) in calls.iter().zip(answers) {
        rows.into_iter().try_for_each(|row| told(facts, call.stmt.name, row))?;
    }
    Ok(())
}

fn told(facts: &mut Facts, by: &str, mut row: Row) -> Result<(), StoreError> {
    let digest: Digest = row.bytes(0)?;
    if by == sql::ADMIT_GUARDS.name {
        facts.guards.insert(digest, row.int(1)?);
    } else if by == sql::ADMIT_KNOWN.name {
        facts.shown.insert(digest, (row.opt_text(1)?.unwrap_or_default(), row.opt_text(2)?));
    } else {
        let known = KnownConflict { fingerprint: row.bytes(1)?, body_hash: row.bytes(2)?, event: row.opt_int(3)? };
        facts.conflicts.entry(digest).or_default().push(known);
    }
    Ok(())
}

/// A person's admission of an unmapped row: its mark and the audit row stand in the event's commit. Only the first
/// decision counts.
async fn mark(conn: &Conn, submission: &Submission) -> Result<(), StoreError> {
    let Origin::Admit { unmapped, actor, reason } = &submission.origin else { return Ok(()) };
    let mark = format!("admitted by {actor}");
    if conn.exec(sql::UNMAPPED_DECIDE, &[Arg::Int(*unmapped), Arg::Text(&mark)]).await? == 0 {
        return Err(StoreError::Refused(format!("unmapped `{unmapped}` is not there or already decided")));
    }
    let target = unmapped.to_string();
    let decision = Decision { actor, action: "unmapped.admit", target: &target, reason, detail: "" };
    match audit::write(conn, Chain::Inbox, &decision).await? {
        Some(_) => Ok(()),
        None => Err(conn.conflict("another decision took the number")),
    }
}

fn counts(tally: &BTreeMap<(Arc<str>, &'static str), u64>) -> Result<String, StoreError> {
    let counts: Vec<_> = tally.iter().map(|((source, verdict), n)| (&**source, verdict, n)).collect();
    serde_json::to_string(&counts).map_err(|error| StoreError::Refused(error.to_string()))
}
