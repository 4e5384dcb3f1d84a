//! Admission: what becomes of one request, inside the group's transaction. SQL finds out whether a key is known; what
//! that means is decided by `core::admit`.

use hookonce_core::admit::{
    self, Admission, Beside, CONFLICT_BODIES, Differs, Fresh, KeepBody, Known, KnownConflict, Origin, REQUEST_ROWS,
    Submission, Taken, Verdict,
};
use hookonce_core::coding;
use hookonce_core::event::{EventNo, Hash, HoldReason, Item, Mapped};
use hookonce_core::planted;

use super::audit;
use super::conn::Conn;
use super::inbox::Group;
use crate::alarm;
use crate::sql::audit::Decision;
use crate::sql::call::Arg;
use crate::sql::headers;
use crate::sql::place::Place;
use crate::sql::sqlite as sql;
use crate::store::StoreError;

/// Characters kept of what the store said of a value that it cannot hold.
const WHY_MAX: usize = 300;

/// One request on its way through the group.
struct Entry<'a> {
    conn: &'a Conn,
    group: &'a mut Group,
    submission: &'a Submission,
    /// Its bytes, once an event or an unmapped row needs them.
    payload: Option<i64>,
}

/// Runs the statements of one request. The inner error is its answer: nothing was written for it.
pub fn request(
    conn: &Conn,
    group: &mut Group,
    submission: &Submission,
) -> Result<Result<Admission, StoreError>, StoreError> {
    if let Err(refused) = decided(conn, group, submission)? {
        return Ok(Err(refused));
    }
    let mut entry = Entry { conn, group, submission, payload: None };
    let verdicts = submission.mapped.iter().map(|mapped| entry.mapped(mapped)).collect::<Result<Vec<_>, _>>()?;
    for verdict in &verdicts {
        group.count(&submission.source, verdict.name(), 1);
    }
    Ok(Ok(Admission { verdicts }))
}

/// Keeps the bytes of a request that cannot be stored as what its items say. `None`: they are kept already.
pub fn culprit(
    conn: &Conn,
    group: &mut Group,
    submission: &Submission,
    why: &StoreError,
) -> Option<Result<Verdict, StoreError>> {
    if submission.origin != Origin::Receive {
        return None;
    }
    let reason: String = format!("it cannot be stored as an event: {why}").chars().take(WHY_MAX).collect();
    let kept = Entry { conn, group, submission, payload: None }.unmapped(0, None, &reason);
    group.count(&submission.source, "unmapped", 1);
    Some(kept)
}

/// A person's admission of an unmapped row: its mark and the audit row stand in the event's commit. Only the first
/// decision counts.
fn decided(conn: &Conn, group: &Group, submission: &Submission) -> Result<Result<(), StoreError>, StoreError> {
    let Origin::Admit { unmapped, actor, reason } = &submission.origin else { return Ok(Ok(())) };
    let mark = format!("admitted by {actor}");
    if conn.exec(sql::UNMAPPED_DECIDE, &[Arg::Int(*unmapped), Arg::Text(&mark)])? == 0 {
        let text = format!("unmapped `{unmapped}` is not there or already decided");
        return Ok(Err(StoreError::Refused(text)));
    }
    let target = unmapped.to_string();
    let decision = Decision { actor, action: "unmapped.admit", target: &target, reason, detail: "" };
    audit::write(conn, group.now, &decision)?;
    Ok(Ok(()))
}

impl Entry<'_> {
    fn mapped(&mut self, mapped: &Mapped) -> Result<Verdict, StoreError> {
        match mapped {
            Mapped::Item(item) => self.item(item),
            Mapped::Unmapped { item, span, reason } => self.unmapped(*item, *span, reason),
        }
    }

    /// The key decides: it is tried with the number that the event would have.
    fn item(&mut self, item: &Item) -> Result<Verdict, StoreError> {
        let event = self.group.counters.event + 1;
        if self.key(&item.digest, item, event)? { self.fresh(item) } else { self.taken(item) }
    }

    fn key(&mut self, digest: &[u8; 16], item: &Item, event: EventNo) -> Result<bool, StoreError> {
        let args = [
            Arg::Blob(digest),
            Arg::Blob(&item.fingerprint),
            Arg::Blob(&item.body_hash),
            Arg::Int(item.rule),
            Arg::Int(event),
            Arg::Int(self.group.now),
        ];
        Ok(self.conn.exec(sql::ADMIT_KEY, &args)? == 1)
    }

    fn fresh(&mut self, item: &Item) -> Result<Verdict, StoreError> {
        let beside = self.beside(item)?;
        let event = self.group.next_event();
        match admit::aside(item, self.submission.received, &beside) {
            Fresh::Event { hold } => {
                self.event(event, item, &Place { hold, ..Place::default() })?;
                Ok(Verdict::Accepted { event, hold })
            }
            Fresh::Copy { of } => {
                self.event(event, item, &Place { parent: Some(of), ..Place::default() })?;
                self.requested(item, Row::of("duplicate", of))?;
                Ok(Verdict::Duplicate { of })
            }
        }
    }

    /// The guard's own row is tried like a key; only a source that has guards pays for it.
    fn beside(&mut self, item: &Item) -> Result<Beside, StoreError> {
        let met = match item.guard {
            Some(guard) => (!self.key(&guard.digest, item, self.group.counters.event + 1)?).then_some(guard.digest),
            None => None,
        };
        if met.is_none() && !self.group.floors {
            return Ok(Beside::default());
        }
        let digest = met.as_ref().map_or(Arg::Null, |d| Arg::Blob(d));
        let row = self.conn.row(sql::ADMIT_BESIDE, &[digest, Arg::Text(&item.namespace)])?.unwrap_or_default();
        Ok(Beside { guard: row.opt_int(0)?, floor: row.opt_int(1)? })
    }

    fn taken(&mut self, item: &Item) -> Result<Verdict, StoreError> {
        let known = self.known(item)?;
        match admit::taken(item, &known) {
            Taken::Duplicate { of, variant } => self.duplicate(item, of, variant),
            Taken::Conflict { with, differs, store } => self.conflict(item, with, differs, store),
            Taken::Unknown { .. } => self.unknown(item),
        }
    }

    fn known(&mut self, item: &Item) -> Result<Known, StoreError> {
        let row = self.conn.row(sql::ADMIT_KNOWN, &[Arg::Blob(&item.digest)])?;
        let mut row = row.ok_or_else(|| StoreError::Failed("a key is taken and nobody has it".into()))?;
        let mut known = Known {
            event: row.int(0)?,
            fingerprint: row.bytes(1)?,
            body_hash: row.bytes(2)?,
            rule: row.int(3)?,
            kind: row.opt_text(4)?.unwrap_or_default(),
            aggregate: row.opt_text(5)?,
            conflicts: Vec::new(),
        };
        if !admit::counts(item, &known.fingerprint, &known.body_hash, known.rule) {
            known.conflicts = self.conflicts(item)?;
        }
        Ok(known)
    }

    fn conflicts(&self, item: &Item) -> Result<Vec<KnownConflict>, StoreError> {
        let rows = self.conn.rows(sql::ADMIT_CONFLICTS, &[Arg::Blob(&item.digest)])?;
        let found = rows.into_iter().map(|mut row| {
            Ok(KnownConflict { fingerprint: row.bytes(0)?, body_hash: row.bytes(1)?, event: row.opt_int(2)? })
        });
        found.collect()
    }

    fn duplicate(&mut self, item: &Item, of: EventNo, variant: bool) -> Result<Verdict, StoreError> {
        let (digest, now) = (Arg::Blob(&item.digest), Arg::Int(self.group.now));
        if variant {
            self.conn.exec(sql::ADMIT_SEEN_VARIANT, &[digest, Arg::Int(of), now])?;
        } else {
            self.conn.exec(sql::ADMIT_SEEN, &[digest, now])?;
        }
        self.requested(item, Row::of("duplicate", of))?;
        Ok(Verdict::Duplicate { of })
    }

    fn conflict(
        &mut self,
        item: &Item,
        with: EventNo,
        differs: Differs,
        store: KeepBody,
    ) -> Result<Verdict, StoreError> {
        if planted!("conflict-overwrites") {
            self.conn.exec(sql::PLANTED_OVERWRITE, &[Arg::Int(with), Arg::Blob(&self.submission.body)])?;
        }
        match store {
            KeepBody::New if planted!("no-conflict-row") => {}
            KeepBody::New => self.put_conflict(item, differs, None)?,
            KeepBody::Again(fingerprint) => self.again(item, &fingerprint)?,
            KeepBody::Full => full(with),
        }
        let content = store.content(item);
        self.requested(
            item,
            Row { fingerprint: content.as_ref(), reason: Some(differs.name()), ..Row::of("conflict", with) },
        )?;
        Ok(Verdict::Conflict { with, differs, kept: store != KeepBody::Full })
    }

    fn put_conflict(&mut self, item: &Item, differs: Differs, event: Option<EventNo>) -> Result<(), StoreError> {
        let (headers, body) = coding::alone(&self.submission.headers, &self.submission.body, item.span);
        let headers = headers::encode(&headers);
        let args = [
            Arg::Blob(&item.digest),
            Arg::Blob(&item.fingerprint),
            Arg::Blob(&item.body_hash),
            Arg::Blob(&headers),
            Arg::Blob(&body),
            Arg::Text(differs.name()),
            Arg::Int(self.group.now),
            Arg::int(event),
        ];
        self.conn.exec(sql::ADMIT_CONFLICT, &args).map(drop)
    }

    fn again(&mut self, item: &Item, fingerprint: &Hash) -> Result<(), StoreError> {
        let args = [Arg::Blob(&item.digest), Arg::Blob(fingerprint), Arg::Int(self.group.now)];
        self.conn.exec(sql::ADMIT_CONFLICT_AGAIN, &args).map(drop)
    }

    /// Not comparable with what an older rule left: a variant, held, whose conflict row says at once whose it is.
    fn unknown(&mut self, item: &Item) -> Result<Verdict, StoreError> {
        let event = self.group.next_event();
        let hold = Some(HoldReason::UnknownDifference);
        let place = Place { hold, variant: admit::variant(&item.fingerprint), parent: None };
        self.event(event, item, &place)?;
        self.put_conflict(item, Differs::Payload, Some(event))?;
        Ok(Verdict::Accepted { event, hold })
    }

    /// Its number is that of its request row.
    fn unmapped(&mut self, item: u32, span: Option<(u64, u64)>, reason: &str) -> Result<Verdict, StoreError> {
        let payload = self.payload()?;
        let id = self.group.next_request();
        let (start, end) = bounds(span);
        let args = [
            Arg::Int(id),
            Arg::Text(&self.submission.source),
            Arg::Int(payload),
            start,
            end,
            Arg::Int(item.into()),
            Arg::text(self.submission.secret.as_deref()),
            Arg::Text(reason),
            Arg::Int(self.submission.received),
        ];
        self.conn.exec(sql::ADMIT_UNMAPPED, &args)?;
        self.put_request(id, item, Row { verdict: "unmapped", reason: Some(reason), ..Row::default() })?;
        Ok(Verdict::Unmapped { id, reason: reason.to_owned() })
    }

    fn requested(&mut self, item: &Item, row: Row<'_>) -> Result<(), StoreError> {
        let id = self.group.next_request();
        let marks = (item.provider_delivery.as_deref(), item.attempt_mark.as_deref());
        self.put_request(id, item.item, Row { marks, ..row })
    }

    fn put_request(&self, id: i64, item: u32, row: Row<'_>) -> Result<(), StoreError> {
        if row.event.map_or(Ok(false), |event| self.many(event))? {
            return Ok(());
        }
        let args = [
            Arg::Int(id),
            Arg::int(self.payload),
            Arg::Int(item.into()),
            Arg::Text(&self.submission.source),
            Arg::Int(self.group.now),
            Arg::Text(row.verdict),
            Arg::int(row.event),
            row.fingerprint.map_or(Arg::Null, |fingerprint| Arg::Blob(fingerprint)),
            Arg::text(row.marks.0),
            Arg::text(row.marks.1),
            Arg::text(self.submission.secret.as_deref()),
            Arg::text(row.reason),
        ];
        self.conn.exec(sql::ADMIT_REQUEST, &args).map(drop)
    }

    fn many(&self, event: EventNo) -> Result<bool, StoreError> {
        let args = [Arg::Int(event), Arg::Int(REQUEST_ROWS - 1)];
        self.conn.row(sql::ADMIT_REQUEST_MANY, &args)?.unwrap_or_default().flag(0)
    }

    /// A request's bytes are stored once, however many of its items need them.
    fn payload(&mut self) -> Result<i64, StoreError> {
        if let Some(id) = self.payload {
            return Ok(id);
        }
        let id = self.group.next_payload();
        let headers = headers::encode(&self.submission.headers);
        let args =
            [Arg::Int(id), Arg::Text(&self.submission.target), Arg::Blob(&headers), Arg::Blob(&self.submission.body)];
        self.conn.exec(sql::ADMIT_PAYLOAD, &args)?;
        self.payload = Some(id);
        Ok(id)
    }

    fn event(&mut self, event: EventNo, item: &Item, place: &Place) -> Result<(), StoreError> {
        let payload = self.payload()?;
        let (start, end) = bounds(item.span);
        let args = [
            Arg::Int(event),
            Arg::Text(&item.namespace),
            Arg::Text(item.key.kind.name()),
            Arg::Blob(&item.key.bytes),
            Arg::Text(&item.key.text),
            Arg::Int(place.variant),
            Arg::Int(item.rule),
            Arg::Text(&item.source),
            Arg::Text(&item.kind),
            Arg::text(item.aggregate.as_deref()),
            Arg::text(item.version.as_deref()),
            Arg::int(item.event_time),
            Arg::text(item.schema_version.as_deref()),
            Arg::Int(self.submission.received),
            Arg::Int(payload),
            start,
            end,
            Arg::Int(item.item.into()),
            Arg::Blob(&item.digest),
            Arg::Blob(&item.fingerprint),
            Arg::Blob(&item.body_hash),
            Arg::text(self.submission.secret.as_deref()),
            Arg::text(item.provider_delivery.as_deref()),
            Arg::text(item.attempt_mark.as_deref()),
            Arg::Text(place.origin(self.submission)),
            Arg::int(place.parent),
            Arg::text(place.hold.map(HoldReason::name)),
            place.guard(item).map_or(Arg::Null, |digest| Arg::Blob(digest)),
        ];
        self.conn.exec(sql::ADMIT_EVENT, &args).map(drop)
    }
}

/// What a request row says of its own.
#[derive(Clone, Copy, Default)]
struct Row<'a> {
    verdict: &'static str,
    event: Option<EventNo>,
    /// Of a conflict: which of the kept contents it came with.
    fingerprint: Option<&'a Hash>,
    /// The provider's delivery and attempt.
    marks: (Option<&'a str>, Option<&'a str>),
    reason: Option<&'a str>,
}

impl Row<'_> {
    fn of(verdict: &'static str, event: EventNo) -> Self {
        Row { verdict, event: Some(event), ..Row::default() }
    }
}

fn bounds<'a>(span: Option<(u64, u64)>) -> (Arg<'a>, Arg<'a>) {
    let bound = |n: u64| i64::try_from(n).ok();
    (Arg::int(span.and_then(|s| bound(s.0))), Arg::int(span.and_then(|s| bound(s.1))))
}

/// Its bytes are not kept, and its sender is told so (409): somebody must look.
fn full(with: EventNo) {
    alarm::raise(
        "conflicts_full",
        &format!("the key of event {with} came with more than {CONFLICT_BODIES} other contents"),
    );
}
