//! A small, clean world to break: one lane of three events, one laneless, one without a consumer; with a duplicate,
//! a conflict, a forgery and a send whose outcome nobody learned.

use crate::checker::{Case, Expect, Rule, Wants, judge};
use crate::dump::{Attempt, Conflict, Delivery, Dump, Event, Hold, Ledger, Pass, WorkRow};
use crate::history::{Arrival, Effect, Entry, Evidence, Fault, Kind, Reply, Sent, Validity};
use crate::sign;

const SOURCE: &str = "crm";

#[derive(Debug, Clone)]
pub struct Scene {
    pub evidence: Evidence,
    pub dump: Dump,
    pub expect: Expect,
    now: u64,
}

impl Scene {
    pub fn empty() -> Self {
        let app = Wants { name: "app".into(), on: vec!["crm/Patient.*".into()], ordered: true };
        let expect = Expect { consumers: vec![app], needs: vec!["kill".into()], drained: true };
        let mut dump = Dump::default();
        for settings in [&mut dump.inbox.settings, &mut dump.work.settings] {
            settings.extend([("store_id", "s"), ("generation", "1")].map(|(k, v)| (k.into(), v.into())));
        }
        dump.inbox.settings.insert("event_counter".into(), "5".into());
        dump.work.consumers.insert(1, "app".into());
        Self { evidence: Evidence::default(), dump, expect, now: 0 }
    }

    pub fn clean() -> Self {
        let mut s = Self::empty();
        for (id, key, aggregate) in [(1, "a", Some("p1")), (2, "b", Some("p1")), (3, "c", Some("p1")), (4, "d", None)] {
            s.send(key, key, Kind::First, aggregate, Some(200));
            s.event(id, key, "Patient.Insert", aggregate);
            s.deliver(id, key, if aggregate.is_some() { -7 } else { id });
        }
        s.send("e", "e", Kind::First, None, Some(200));
        s.event(5, "e", "Other.Insert", None);
        s.dump.work.holds.push(Hold { event: 5, reason: "no_consumer".into(), open: true });
        s.send("a", "a", Kind::Duplicate, Some("p1"), Some(200));
        s.send("b", "b", Kind::Retry, Some("p1"), None);
        s.send("a", "a2", Kind::Conflict, Some("p1"), Some(200));
        s.dump.inbox.conflicts.push(Conflict {
            ledger: "01".into(),
            digest: Some(digest("a2")),
            seen: 1,
            ..Conflict::default()
        });
        s.send("f", "f", Kind::Forged, None, Some(401));
        s.dump.inbox.ledger.iter_mut().take(2).for_each(|l| l.seen = 2);
        s.dump.work.passes.push(Pass { n: 1, pos: 5, seq: 4, own: false });
        let at = s.tick();
        s.evidence.faults.push(Fault { what: "kill".into(), cycle: 1, seed: 1, hit: true, at });
        s
    }

    pub fn tick(&mut self) -> u64 {
        self.now += 1;
        self.now
    }

    /// A send with its answer, or with an unknown outcome.
    pub fn send(&mut self, key: &str, body: &str, copy: Kind, aggregate: Option<&str>, status: Option<u16>) {
        let n = self.tick();
        let validity = if copy == Kind::Forged { Validity::WrongSignature } else { Validity::Valid };
        self.evidence.history.push(Entry::Send(Sent {
            n,
            source: SOURCE.into(),
            key: key.into(),
            event_type: "Patient.Insert".into(),
            aggregate: aggregate.map(Into::into),
            digest: digest(body),
            copy,
            validity,
            at: n,
        }));
        let at = self.tick();
        self.evidence.history.push(match status {
            Some(status) => Entry::Answer { n, status, at },
            None => Entry::Unknown { n, why: "reset".into(), at },
        });
    }

    pub fn event(&mut self, id: i64, body: &str, event_type: &str, aggregate: Option<&str>) {
        self.dump.inbox.events.push(Event {
            id,
            pos: Some(id),
            namespace: SOURCE.into(),
            source: SOURCE.into(),
            key_kind: "template".into(),
            key: body.as_bytes().to_vec(),
            event_type: event_type.into(),
            aggregate: aggregate.map(Into::into),
            digest: Some(digest(body)),
            origin: "receive".into(),
            ledger: format!("{id:02}"),
            ..Event::default()
        });
        self.dump.inbox.ledger.push(Ledger { digest: format!("{id:02}"), event: id, seen: 1 });
    }

    /// A delivery that arrived once, was taken, and is recorded as succeeded.
    pub fn deliver(&mut self, id: i64, body: &str, lane: i64) {
        self.arrive(body, &message(body), Reply::Done);
        let at = self.tick();
        let message = message(body);
        self.evidence.effects.push(Effect { consumer: "app".into(), message, digest: digest(body), at });
        self.dump.work.deliveries.push(Delivery {
            id,
            lane,
            seq: id,
            consumer: 1,
            event: id,
            state: "succeeded".into(),
            attempts: 1,
            ended: Some(1),
            ..Delivery::default()
        });
        self.dump.work.attempts.push(Attempt {
            delivery: id,
            no: 1,
            started: 10 * id,
            ended: 10 * id + 5,
            outcome: "done".into(),
        });
    }

    pub fn arrive(&mut self, body: &str, message: &str, reply: Reply) {
        let at = self.tick();
        self.evidence.sink.push(Arrival {
            consumer: "app".into(),
            message: message.into(),
            source: SOURCE.into(),
            key: format!("key-{body}"),
            event: format!("evt_{body}"),
            version: None,
            digest: digest(body),
            signed: true,
            reply,
            at,
        });
    }

    /// The last event of the lane is back at work.
    pub fn reopen_last(&mut self) {
        let d = &mut self.dump.work.deliveries[2];
        (d.open, d.state, d.ended) = (true, String::new(), None);
        self.dump.work.work.push(WorkRow { seq: 3, id: 3, lane: -7, consumer: 1, event: 3, ..WorkRow::default() });
        self.dump.work.attempts.retain(|a| a.delivery != 3);
    }

    pub fn case(&self) -> Case<'_> {
        Case { evidence: &self.evidence, dump: &self.dump, earlier: None, expect: &self.expect }
    }

    pub fn case_after<'a>(&'a self, earlier: &'a Dump, at: u64) -> Case<'a> {
        Case { earlier: Some((earlier, at)), ..self.case() }
    }

    #[track_caller]
    pub fn finds(&self, rule: Rule) {
        let verdict = judge(&self.case());
        assert!(verdict.broken(rule), "{rule} was not found: {verdict:?}");
    }

    #[track_caller]
    pub fn finds_after(&self, earlier: &Dump, rule: Rule) {
        let verdict = judge(&self.case_after(earlier, 1_000));
        assert!(verdict.broken(rule), "{rule} was not found: {verdict:?}");
    }
}

pub fn digest(body: &str) -> String {
    sign::digest(body.as_bytes())
}

/// The id under which the event with this body must arrive.
pub fn message(body: &str) -> String {
    sign::message_key(SOURCE, "template", body.as_bytes(), 0, "app")
}
