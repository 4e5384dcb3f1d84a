//! What becomes of a group: the facts of its keys, read under their locks, and core's decisions turned into rows.
//!
//! Nothing here asks the database. Items are decided in their order, so that a copy within the group meets what the one
//! before it has made.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use hookonce_core::admit::{
    self, Admission, Beside, CONFLICT_BODIES, Differs, Fresh, KeepBody, Known, KnownConflict, Submission, Taken,
    Verdict,
};
use hookonce_core::event::{Digest, EventNo, Hash, HoldReason, Item, Mapped};
use hookonce_core::time::Micros;

use super::rows::{Request, Rows};
use crate::sql::place::Place;
use crate::store::StoreError;

/// One element of a request, in the order of the group.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    pub submission: &'a Submission,
    pub mapped: &'a Mapped,
    /// Which request of the group it belongs to.
    pub request: usize,
}

impl<'a> Entry<'a> {
    pub fn all(submissions: &[&'a Submission]) -> Vec<Entry<'a>> {
        let numbered = submissions.iter().enumerate();
        let of = |(request, submission): (usize, &&'a Submission)| {
            let submission = *submission;
            submission.mapped.iter().map(move |mapped| Entry { submission, mapped, request })
        };
        numbered.flat_map(of).collect()
    }

    pub fn item(&self) -> Option<&'a Item> {
        match self.mapped {
            Mapped::Item(item) => Some(item),
            Mapped::Unmapped { .. } => None,
        }
    }
}

/// For each element: whether it is the first of its key, which the key statement takes; it may touch a row only once.
pub fn firsts(entries: &[Entry<'_>]) -> Vec<bool> {
    let mut met = HashSet::new();
    entries.iter().map(|entry| entry.item().is_some_and(|item| met.insert(item.digest))).collect()
}

/// A ledger row as it stands behind the key statement.
#[derive(Clone, Debug)]
pub struct Ledger {
    pub event: EventNo,
    pub fingerprint: Hash,
    pub body_hash: Hash,
    pub rule: i64,
}

/// All that the database had to say.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub now: Micros,
    pub receipt: i64,
    /// Of each element.
    pub numbers: Vec<i64>,
    pub ledger: HashMap<Digest, Ledger>,
    pub floors: HashMap<String, Micros>,
    /// Whose guard row it is.
    pub guards: HashMap<Digest, EventNo>,
    /// Type and aggregate of the events that something differs from.
    pub shown: HashMap<Digest, (String, Option<String>)>,
    pub conflicts: HashMap<Digest, Vec<KnownConflict>>,
}

impl Facts {
    pub fn number(&self, at: usize) -> Result<i64, StoreError> {
        self.numbers.get(at).copied().ok_or_else(|| StoreError::Failed("an element has no number".into()))
    }

    fn ledger(&self, item: &Item) -> Result<&Ledger, StoreError> {
        self.ledger.get(&item.digest).ok_or_else(|| StoreError::Failed("a key is taken and nobody has it".into()))
    }

    /// Guards of new keys: of equal ones the first, with the number of its event.
    pub fn new_guards<'a>(&self, entries: &[Entry<'a>]) -> Result<Vec<(Digest, &'a Item, EventNo)>, StoreError> {
        let (mut met, mut guards) = (HashSet::new(), Vec::new());
        for (at, entry) in entries.iter().enumerate() {
            let Some((item, guard)) = entry.item().and_then(|item| Some((item, item.guard?))) else { continue };
            let number = self.number(at)?;
            if self.ledger(item)?.event == number && met.insert(guard.digest) {
                guards.push((guard.digest, item, number));
            }
        }
        Ok(guards)
    }

    /// Keys of earlier groups that came with something else: for these more is read.
    pub fn unclear(&self, entries: &[Entry<'_>]) -> Result<Vec<Digest>, StoreError> {
        let ours: HashSet<i64> = self.numbers.iter().copied().collect();
        let mut unclear = Vec::new();
        for item in entries.iter().filter_map(Entry::item) {
            let row = self.ledger(item)?;
            if !ours.contains(&row.event) && !admit::counts(item, &row.fingerprint, &row.body_hash, row.rule) {
                unclear.push(item.digest);
            }
        }
        unclear.sort_unstable();
        unclear.dedup();
        Ok(unclear)
    }

    fn known(&self, item: &Item) -> Result<Known, StoreError> {
        let row = self.ledger(item)?;
        let (kind, aggregate) = self.shown.get(&item.digest).cloned().unwrap_or_default();
        let conflicts = self.conflicts.get(&item.digest).cloned().unwrap_or_default();
        let Ledger { event, fingerprint, body_hash, rule } = *row;
        Ok(Known { event, fingerprint, body_hash, rule, kind, aggregate, conflicts })
    }
}

/// What the group comes to.
#[derive(Debug, Default)]
pub struct Plan<'a> {
    pub rows: Rows<'a>,
    /// Of each request.
    pub admissions: Vec<Admission>,
    pub tally: BTreeMap<(Arc<str>, &'static str), u64>,
    /// Events whose key came with too many contents: somebody must look, once it is committed.
    pub full: Vec<EventNo>,
}

pub fn plan<'a>(facts: &Facts, submissions: &[&'a Submission]) -> Result<Plan<'a>, StoreError> {
    let entries = Entry::all(submissions);
    let mut deciding = Deciding {
        facts,
        plan: Plan { admissions: vec![Admission::default(); submissions.len()], ..Plan::default() },
        known: HashMap::new(),
        leads: vec![None; submissions.len()],
        stored: vec![None; submissions.len()],
    };
    for (at, entry) in entries.iter().enumerate() {
        deciding.decide(entry, facts.number(at)?)?;
    }
    Ok(deciding.plan)
}

struct Deciding<'a, 'f> {
    facts: &'f Facts,
    plan: Plan<'a>,
    /// Keys as they stand behind the elements so far.
    known: HashMap<Digest, Known>,
    /// The first number of each request: its bytes' own, if they are stored.
    leads: Vec<Option<i64>>,
    stored: Vec<Option<i64>>,
}

impl<'a> Deciding<'a, '_> {
    fn decide(&mut self, entry: &Entry<'a>, number: i64) -> Result<(), StoreError> {
        if let Some(lead) = self.leads.get_mut(entry.request) {
            lead.get_or_insert(number);
        }
        let verdict = match entry.mapped {
            Mapped::Item(item) => self.item(entry, item, number)?,
            Mapped::Unmapped { item, span, reason } => self.unmapped(entry, number, *item, *span, reason),
        };
        *self.plan.tally.entry((entry.submission.source.clone(), verdict.name())).or_default() += 1;
        if let Some(admission) = self.plan.admissions.get_mut(entry.request) {
            admission.verdicts.push(verdict);
        }
        Ok(())
    }

    fn item(&mut self, entry: &Entry<'a>, item: &'a Item, number: i64) -> Result<Verdict, StoreError> {
        if let Some(known) = self.known.get(&item.digest).cloned() {
            return Ok(self.taken(entry, item, number, &known, false));
        }
        let known = self.facts.known(item)?;
        if known.event != number {
            self.known.insert(item.digest, known.clone());
            return Ok(self.taken(entry, item, number, &known, true));
        }
        let shown =
            Known { kind: item.kind.clone(), aggregate: item.aggregate.clone(), conflicts: Vec::new(), ..known };
        self.known.insert(item.digest, shown);
        Ok(self.fresh(entry, item, number))
    }

    fn fresh(&mut self, entry: &Entry<'a>, item: &'a Item, number: i64) -> Verdict {
        let met = item.guard.and_then(|guard| self.facts.guards.get(&guard.digest)).filter(|event| **event != number);
        let beside = Beside { guard: met.copied(), floor: self.facts.floors.get(&*item.namespace).copied() };
        match admit::aside(item, entry.submission.received, &beside) {
            Fresh::Event { hold } => {
                self.event(entry, item, number, &Place { hold, ..Place::default() });
                Verdict::Accepted { event: number, hold }
            }
            Fresh::Copy { of } => {
                self.event(entry, item, number, &Place { parent: Some(of), ..Place::default() });
                self.requested(entry, item, number, "duplicate", of, (None, None));
                Verdict::Duplicate { of }
            }
        }
    }

    /// `counted`: the key statement has counted this one, if it counts.
    fn taken(&mut self, entry: &Entry<'a>, item: &'a Item, number: i64, known: &Known, counted: bool) -> Verdict {
        match admit::taken(item, known) {
            Taken::Duplicate { of, variant } => {
                if variant {
                    self.plan.rows.seen_variant(item, of);
                } else if !counted {
                    self.plan.rows.seen(item);
                }
                self.requested(entry, item, number, "duplicate", of, (None, None));
                Verdict::Duplicate { of }
            }
            Taken::Conflict { with, differs, store } => self.conflict(entry, item, number, (with, differs, store)),
            Taken::Unknown { .. } => self.unknown(entry, item, number),
        }
    }

    fn conflict(
        &mut self,
        entry: &Entry<'a>,
        item: &'a Item,
        number: i64,
        (with, differs, store): (EventNo, Differs, KeepBody),
    ) -> Verdict {
        match store {
            KeepBody::New => self.put_conflict(entry, item, differs, None),
            KeepBody::Again(fingerprint) => self.plan.rows.again(item, fingerprint),
            KeepBody::Full => self.plan.full.push(with),
        }
        let content = (store.content(item), Some(differs.name()));
        self.requested(entry, item, number, "conflict", with, content);
        Verdict::Conflict { with, differs, kept: store != KeepBody::Full }
    }

    fn put_conflict(&mut self, entry: &Entry<'a>, item: &'a Item, differs: Differs, event: Option<EventNo>) {
        self.plan.rows.conflict(entry.submission, item, differs, event);
        if let Some(known) = self.known.get_mut(&item.digest) {
            let (fingerprint, body_hash) = (item.fingerprint, item.body_hash);
            known.conflicts.push(KnownConflict { fingerprint, body_hash, event });
        }
    }

    /// Not comparable with what an older rule left: a variant, held, whose conflict row says at once whose it is.
    fn unknown(&mut self, entry: &Entry<'a>, item: &'a Item, number: i64) -> Verdict {
        let hold = Some(HoldReason::UnknownDifference);
        let place = Place { hold, variant: admit::variant(&item.fingerprint), parent: None };
        self.event(entry, item, number, &place);
        self.put_conflict(entry, item, Differs::Payload, Some(number));
        Verdict::Accepted { event: number, hold }
    }

    /// Its number is that of its request row.
    fn unmapped(
        &mut self,
        entry: &Entry<'a>,
        number: i64,
        item: u32,
        span: Option<(u64, u64)>,
        reason: &'a str,
    ) -> Verdict {
        let payload = self.payload(entry, number);
        self.plan.rows.unmapped(entry.submission, number, payload, (item, span), reason);
        let request = Request {
            id: number,
            payload: Some(payload),
            item,
            verdict: "unmapped",
            event: None,
            fingerprint: None,
            provider_delivery: None,
            attempt_mark: None,
            reason: Some(reason),
        };
        self.plan.rows.request(entry.submission, request);
        Verdict::Unmapped { id: number, reason: reason.to_owned() }
    }

    fn requested(
        &mut self,
        entry: &Entry<'a>,
        item: &'a Item,
        number: i64,
        verdict: &'static str,
        event: EventNo,
        (fingerprint, reason): (Option<Hash>, Option<&'static str>),
    ) {
        let request = Request {
            id: number,
            payload: self.stored.get(entry.request).copied().flatten(),
            item: item.item,
            verdict,
            event: Some(event),
            fingerprint,
            provider_delivery: item.provider_delivery.as_deref(),
            attempt_mark: item.attempt_mark.as_deref(),
            reason,
        };
        self.plan.rows.request(entry.submission, request);
    }

    fn event(&mut self, entry: &Entry<'a>, item: &'a Item, number: i64, place: &Place) {
        let payload = self.payload(entry, number);
        self.plan.rows.event(entry.submission, number, payload, item, place);
    }

    /// A request's bytes are stored once, however many of its items need them.
    fn payload(&mut self, entry: &Entry<'a>, number: i64) -> i64 {
        let id = self.leads.get(entry.request).copied().flatten().unwrap_or(number);
        if let Some(stored) = self.stored.get_mut(entry.request)
            && stored.is_none()
        {
            *stored = Some(id);
            self.plan.rows.payload(entry.submission, id);
        }
        id
    }
}

/// Words of the alarm for a key whose further contents are not kept.
pub fn full(with: EventNo) -> String {
    format!("the key of event {with} came with more than {CONFLICT_BODIES} other contents")
}
