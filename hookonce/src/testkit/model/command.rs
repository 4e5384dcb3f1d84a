//! What a person decides, on the model: the change and its audit row in one go.

use hookonce_core::command::{self, Back, Command, Refused, Who};
use hookonce_core::consumer::Standing;
use hookonce_core::delivery::HaltKind;
use hookonce_core::time::Micros;

use super::rows::{Halted, Requeue, Rows, Work};
use super::sweep::{audit_inbox, audit_work};

/// The verb: the number of the audit row.
pub fn command(rows: &mut Rows, command: &Command, who: &Who, now: Micros) -> Result<i64, Refused> {
    match command {
        Command::DeadRetry { delivery } => dead_retry(rows, *delivery, &said(command, who, *delivery), now),
        Command::HeldRelease { event } => held(rows, *event, true, &said(command, who, *event), now),
        Command::HeldDrop { event } => held(rows, *event, false, &said(command, who, *event), now),
        Command::UnmappedDrop { id } => unmapped_drop(rows, *id, &said(command, who, *id), now),
        Command::ConsumerPause { consumer } => stand(rows, *consumer, true, &said(command, who, *consumer), now),
        Command::ConsumerResume { consumer } => stand(rows, *consumer, false, &said(command, who, *consumer), now),
    }
}

/// The words of the audit row.
struct Said<'a> {
    action: &'static str,
    target: String,
    who: &'a Who,
}

fn said<'a>(command: &Command, who: &'a Who, target: i64) -> Said<'a> {
    Said { action: command.name(), target: target.to_string(), who }
}

impl Said<'_> {
    fn in_work(&self, rows: &mut Rows, now: Micros) -> i64 {
        audit_work(rows, now, &self.who.actor, self.action, &self.target, &self.who.reason)
    }

    fn in_inbox(&self, rows: &mut Rows, now: Micros) -> i64 {
        audit_inbox(rows, now, &self.who.actor, self.action, &self.target, &self.who.reason)
    }
}

fn dead_retry(rows: &mut Rows, id: i64, said: &Said<'_>, now: Micros) -> Result<i64, Refused> {
    let halted = rows.halted.get(&id).cloned();
    let open = halted.as_ref().and_then(|h| rows.delivery.get(&h.seq)).is_some_and(|d| d.open);
    let back = command::retry(halted.as_ref().and_then(|h| HaltKind::parse(&h.kind)), open)?;
    let halted = halted.ok_or(Refused::NotFound)?;
    let audit = said.in_work(rows, now);
    match back {
        Back::InPlace => command_in_place(rows, &halted, audit, now),
        Back::Tail => command_requeue(rows, "move", halted.event, Some(&halted), audit),
    }
    Ok(audit)
}

/// From the beginning of its patience; the epoch goes on, so that a lease from before is of no use.
fn command_in_place(rows: &mut Rows, halted: &Halted, audit: i64, now: Micros) {
    rows.halted.remove(&halted.id);
    if let Some(delivery) = rows.delivery.get_mut(&halted.seq) {
        delivery.state = None;
        delivery.ended = None;
        delivery.attempts = 0;
        delivery.decided = Some(audit);
    }
    super::settle::work_row(rows, halted.seq, now);
    if let Some(work) = rows.work.get_mut(&halted.seq) {
        *work = Work { epoch: halted.epoch, ..work.clone() };
    }
}

fn command_requeue(rows: &mut Rows, kind: &str, event: i64, moved: Option<&Halted>, audit: i64) {
    let id = super::after(&rows.requeue);
    rows.requeue.put(Requeue {
        id,
        kind: kind.into(),
        event,
        consumer: moved.map(|h| h.consumer),
        generation: moved.map_or(0, |h| h.generation),
        repeat: None,
        decided: Some(audit),
        delivery: moved.map(|h| h.id),
    });
}

fn held(rows: &mut Rows, event: i64, release: bool, said: &Said<'_>, now: Micros) -> Result<i64, Refused> {
    command::hold(rows.hold.get(&event).map(|h| h.released))?;
    let audit = said.in_work(rows, now);
    if let Some(hold) = rows.hold.get_mut(&event) {
        hold.decided = Some(audit);
        hold.released = Some(release);
    }
    if release {
        command_requeue(rows, "release", event, None, audit);
    }
    Ok(audit)
}

fn unmapped_drop(rows: &mut Rows, id: i64, said: &Said<'_>, now: Micros) -> Result<i64, Refused> {
    let row = rows.unmapped.get_mut(&id).ok_or(Refused::NotFound)?;
    if row.decided.is_some() {
        return Err(Refused::State);
    }
    row.decided = Some(format!("dropped by {}", said.who.actor));
    Ok(said.in_inbox(rows, now))
}

fn stand(rows: &mut Rows, consumer: i64, paused: bool, said: &Said<'_>, now: Micros) -> Result<i64, Refused> {
    let to = command::stand(super::claim::standing(rows, consumer), paused)?;
    command_state(rows, consumer, to);
    Ok(said.in_work(rows, now))
}

/// Of the definition in force.
pub fn command_state(rows: &mut Rows, consumer: i64, to: Standing) {
    let newest = super::definitions(rows).get(&consumer).map(|c| (c.id, c.number));
    if let Some(row) = newest.and_then(|key| rows.consumer.get_mut(&key)) {
        row.state = to.name().to_owned();
    }
}
