//! Admission on the model: one function a statement, the decisions from `core::admit`.

use hookonce_core::admit::{
    Admission, Beside, CONFLICT_BODIES, Differs, Fresh, KeepBody, Known, KnownConflict, Origin, REQUEST_ROWS,
    Submission, Taken, Verdict, aside, taken, variant,
};
use hookonce_core::coding;
use hookonce_core::event::{EventNo, HoldReason, Item, Mapped};
use hookonce_core::time::Micros;

use super::rows::{Conflict, Event, Ledger, Payload, Request, Rows, Unmapped};
use super::sweep::audit_inbox;
use crate::store::StoreError;

/// The verb: all items of one request, in order, in one commit.
pub fn admit(rows: &mut Rows, s: &Submission, now: Micros) -> Result<Admission, StoreError> {
    admit_decided(rows, s, now)?;
    let mut admitting = Admitting { rows, s, now, payload: None };
    let verdicts: Vec<Verdict> = s.mapped.iter().map(|mapped| admitting.one(mapped)).collect();
    for verdict in &verdicts {
        admit_tally(rows, &s.source, verdict.name());
    }
    Ok(Admission { verdicts })
}

fn admit_tally(rows: &mut Rows, source: &str, verdict: &str) {
    *rows.counters.tally.entry((source.to_owned(), verdict.to_owned())).or_default() += 1;
}

struct Admitting<'a> {
    rows: &'a mut Rows,
    s: &'a Submission,
    now: Micros,
    payload: Option<i64>,
}

impl Admitting<'_> {
    fn one(&mut self, mapped: &Mapped) -> Verdict {
        match mapped {
            Mapped::Item(item) => self.item(item),
            Mapped::Unmapped { item, span, reason } => self.admit_unmapped(*item, *span, reason),
        }
    }

    fn item(&mut self, item: &Item) -> Verdict {
        let event = self.rows.counters.event + 1;
        if admit_key(self.rows, item, event, self.now) {
            return self.fresh(item, event);
        }
        let Some(known) = admit_known(self.rows, item) else { unreachable!("the key was taken a line above") };
        self.known(item, &known)
    }

    fn fresh(&mut self, item: &Item, event: EventNo) -> Verdict {
        let new = admit_guard(self.rows, item, event, self.now);
        let beside = admit_beside(self.rows, item);
        match aside(item, self.s.received, &Beside { guard: beside.guard.filter(|_| !new), ..beside }) {
            Fresh::Event { hold } => {
                self.admit_event(item, 0, origin(self.s), None, hold);
                Verdict::Accepted { event, hold }
            }
            Fresh::Copy { of } => {
                self.admit_event(item, 0, "copy", Some(of), None);
                self.duplicate(item, of)
            }
        }
    }

    fn known(&mut self, item: &Item, known: &Known) -> Verdict {
        match taken(item, known) {
            Taken::Duplicate { of, variant } => {
                if variant {
                    admit_conflict_seen(self.rows, item, of, self.now);
                } else {
                    admit_seen(self.rows, item, self.now);
                }
                self.duplicate(item, of)
            }
            Taken::Conflict { with, differs, store } => self.conflict(item, with, differs, store),
            Taken::Unknown { .. } => self.unknown(item),
        }
    }

    fn conflict(&mut self, item: &Item, with: EventNo, differs: Differs, store: KeepBody) -> Verdict {
        match store {
            KeepBody::New => self.admit_conflict(item, differs, None),
            KeepBody::Again(fingerprint) => admit_conflict_again(self.rows, item, fingerprint, self.now),
            KeepBody::Full => {}
        }
        let reason = Some(differs.name().to_owned());
        self.admit_request(
            item,
            with,
            Request { fingerprint: store.content(item), ..self.request(item.item, "conflict", reason) },
        );
        Verdict::Conflict { with, differs, kept: store != KeepBody::Full }
    }

    /// Other bytes under an older rule cannot be compared: an event of its own, held, whose copies are its duplicates.
    fn unknown(&mut self, item: &Item) -> Verdict {
        let hold = Some(HoldReason::UnknownDifference);
        let event = self.admit_event(item, variant(&item.fingerprint), origin(self.s), None, hold);
        self.admit_conflict(item, Differs::Payload, Some(event));
        Verdict::Accepted { event, hold }
    }

    fn admit_event(
        &mut self,
        item: &Item,
        variant: i64,
        origin: &str,
        parent: Option<EventNo>,
        hold: Option<HoldReason>,
    ) -> EventNo {
        self.rows.counters.event += 1;
        let id = self.rows.counters.event;
        let payload = self.admit_payload();
        self.rows.event.put(Event {
            id,
            namespace: item.namespace.to_string(),
            key_kind: item.key.kind.name().into(),
            key: item.key.bytes.clone(),
            key_text: item.key.text.clone(),
            variant,
            rule: item.rule,
            source: item.source.to_string(),
            kind: item.kind.clone(),
            aggregate: item.aggregate.clone(),
            version: item.version.clone(),
            event_time: item.event_time,
            schema_version: item.schema_version.clone(),
            received: self.s.received,
            payload,
            span_start: item.span.map(|(start, _)| number(start)),
            span_end: item.span.map(|(_, end)| number(end)),
            item: i64::from(item.item),
            digest: item.digest,
            fingerprint: item.fingerprint,
            body_hash: item.body_hash,
            secret: self.s.secret.as_deref().map(str::to_owned),
            provider_delivery: item.provider_delivery.clone(),
            attempt_mark: item.attempt_mark.clone(),
            origin: origin.into(),
            parent,
            hold_reason: hold.map(|h| h.name().to_owned()),
            guard: item.guard.filter(|_| variant == 0).map(|guard| guard.digest),
        });
        id
    }

    /// A batch's bytes are stored once, and only if an event or an unmapped item needs them.
    fn admit_payload(&mut self) -> i64 {
        if let Some(id) = self.payload {
            return id;
        }
        self.rows.counters.payload += 1;
        let id = self.rows.counters.payload;
        let (target, body) = (self.s.target.clone(), self.s.body.to_vec());
        self.rows.payload.put(Payload { id, target, headers: super::headers(&self.s.headers), body });
        self.payload = Some(id);
        id
    }

    fn admit_conflict(&mut self, item: &Item, differs: Differs, event: Option<EventNo>) {
        let (headers, body) = coding::alone(&self.s.headers, &self.s.body, item.span);
        self.rows.conflict.put(Conflict {
            digest: item.digest,
            fingerprint: item.fingerprint,
            body_hash: item.body_hash,
            headers: super::headers(&headers),
            body: body.to_vec(),
            differs: differs.name().into(),
            first_seen: self.now,
            last_seen: self.now,
            seen: 1,
            event,
        });
    }

    fn duplicate(&mut self, item: &Item, of: EventNo) -> Verdict {
        self.admit_request(item, of, self.request(item.item, "duplicate", None));
        Verdict::Duplicate { of }
    }

    fn admit_request(&mut self, item: &Item, event: EventNo, row: Request) {
        if requests_of(self.rows, event) >= REQUEST_ROWS {
            return;
        }
        let (provider_delivery, attempt_mark) = (item.provider_delivery.clone(), item.attempt_mark.clone());
        self.rows.request.put(Request { event: Some(event), provider_delivery, attempt_mark, ..row });
    }

    fn request(&self, item: u32, verdict: &str, reason: Option<String>) -> Request {
        Request {
            id: super::after(&self.rows.request),
            payload: self.payload,
            item: Some(i64::from(item)),
            source: self.s.source.to_string(),
            at: self.now,
            verdict: verdict.into(),
            event: None,
            fingerprint: None,
            provider_delivery: None,
            attempt_mark: None,
            secret: self.s.secret.as_deref().map(str::to_owned),
            reason,
        }
    }

    fn admit_unmapped(&mut self, item: u32, span: Option<(u64, u64)>, reason: &str) -> Verdict {
        let payload = self.admit_payload();
        let request = self.request(item, "unmapped", Some(reason.to_owned()));
        let id = request.id;
        self.rows.request.put(request);
        self.rows.unmapped.put(Unmapped {
            id,
            source: self.s.source.to_string(),
            payload,
            span_start: span.map(|(start, _)| number(start)),
            span_end: span.map(|(_, end)| number(end)),
            item: i64::from(item),
            secret: self.s.secret.as_deref().map(str::to_owned),
            reason: reason.into(),
            received: self.s.received,
            decided: None,
        });
        Verdict::Unmapped { id, reason: reason.into() }
    }
}

/// `on conflict do nothing`: the primary key decides who was first.
pub fn admit_key(rows: &mut Rows, item: &Item, event: EventNo, now: Micros) -> bool {
    rows.ledger.insert_new(Ledger {
        digest: item.digest,
        fingerprint: item.fingerprint,
        body_hash: item.body_hash,
        rule: item.rule,
        event,
        first_seen: now,
        last_seen: now,
        seen: 1,
    })
}

/// What stands under a taken digest.
pub fn admit_known(rows: &Rows, item: &Item) -> Option<Known> {
    let ledger = rows.ledger.get(&item.digest)?;
    let event = rows.event.get(&ledger.event)?;
    let conflicts = conflicts_of(rows, item.digest);
    Some(Known {
        event: ledger.event,
        fingerprint: ledger.fingerprint,
        body_hash: ledger.body_hash,
        rule: ledger.rule,
        kind: event.kind.clone(),
        aggregate: event.aggregate.clone(),
        conflicts,
    })
}

fn conflicts_of(rows: &Rows, digest: [u8; 16]) -> Vec<KnownConflict> {
    let range = rows.conflict.range((digest, [0; 32])..=(digest, [0xff; 32]));
    let known = |c: &Conflict| KnownConflict { fingerprint: c.fingerprint, body_hash: c.body_hash, event: c.event };
    range.map(|(_, c)| known(c)).take(CONFLICT_BODIES + 1).collect()
}

/// Mirror M1: a copy that counts raises the ledger row, and no other column of it.
pub fn admit_seen(rows: &mut Rows, item: &Item, now: Micros) -> bool {
    let Some(ledger) = rows.ledger.get_mut(&item.digest) else { return false };
    let counts = hookonce_core::admit::counts(item, &ledger.fingerprint, &ledger.body_hash, ledger.rule);
    if counts {
        ledger.seen += 1;
        ledger.last_seen = ledger.last_seen.max(now);
    }
    counts
}

fn admit_conflict_seen(rows: &mut Rows, item: &Item, of: EventNo, now: Micros) {
    let row = rows.conflict.values_mut().find(|c| c.digest == item.digest && c.event == Some(of));
    seen_again(row, now);
}

fn admit_conflict_again(rows: &mut Rows, item: &Item, fingerprint: [u8; 32], now: Micros) {
    seen_again(rows.conflict.get_mut(&(item.digest, fingerprint)), now);
}

fn seen_again(row: Option<&mut Conflict>, now: Micros) {
    if let Some(row) = row {
        row.seen += 1;
        row.last_seen = row.last_seen.max(now);
    }
}

/// The guard row of the signed content; answers whether it is new.
pub fn admit_guard(rows: &mut Rows, item: &Item, event: EventNo, now: Micros) -> bool {
    let Some(guard) = item.guard else { return true };
    let row = Ledger {
        digest: guard.digest,
        fingerprint: item.fingerprint,
        body_hash: item.body_hash,
        rule: item.rule,
        event,
        first_seen: now,
        last_seen: now,
        seen: 1,
    };
    rows.ledger.insert_new(row)
}

/// Mirror M2: what stands beside a new key.
pub fn admit_beside(rows: &Rows, item: &Item) -> Beside {
    let guard = item.guard.and_then(|guard| rows.ledger.get(&guard.digest)).map(|row| row.event);
    let floor = rows.namespace.get(&*item.namespace).and_then(|n| n.floor);
    Beside { guard, floor }
}

/// A person admits an unmapped row: its mark and the audit row commit with whatever becomes of it.
fn admit_decided(rows: &mut Rows, s: &Submission, now: Micros) -> Result<(), StoreError> {
    let Origin::Admit { unmapped, actor, reason } = &s.origin else { return Ok(()) };
    let row = rows.unmapped.get_mut(unmapped).filter(|row| row.decided.is_none());
    let Some(row) = row else {
        return Err(StoreError::Refused(format!("unmapped `{unmapped}` is not there or already decided")));
    };
    row.decided = Some(format!("admitted by {actor}"));
    audit_inbox(rows, now, actor, "unmapped.admit", &unmapped.to_string(), reason);
    Ok(())
}

fn requests_of(rows: &Rows, event: EventNo) -> i64 {
    number(rows.request.values().filter(|r| r.event == Some(event)).count() as u64)
}

fn origin(s: &Submission) -> &'static str {
    match s.origin {
        Origin::Receive => "receive",
        Origin::Admit { .. } => "admit",
    }
}

fn number(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
