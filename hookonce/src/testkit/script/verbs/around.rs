//! What a person decides and sees, what a test arranges, and what goes wrong.

use std::sync::Arc;

use hookonce_core::command::{Command, Refused, Who};
use hookonce_core::retain::{Keep, Retention};

use super::{Runner, said};
use crate::testkit::model::rows::{Attempt, Delivery, Namespace};
use crate::testkit::model::state;
use crate::testkit::script::bed::wait;
use crate::testkit::script::names;
use crate::testkit::script::words::{Line, duration};

impl Runner<'_> {
    pub(super) fn tick(&mut self, line: &Line) -> Result<String, String> {
        self.bed.clock().advance(line.time()?);
        Ok(String::new())
    }

    /// All deliveries of an event, else what became of it.
    pub(super) fn show(&self, line: &Line) -> Result<String, String> {
        let rows = self.rows();
        let event = names::event_id(&rows, line.word(0)?)?;
        let of = rows.delivery.values().filter(|d| d.event == event);
        let text = |d: &Delivery| {
            format!("{} {}", names::consumer(&rows, d.consumer), state::of_delivery(&rows, d, self.now()).name())
        };
        let mut said: Vec<String> = of.map(text).collect();
        said.extend(rows.hold.get(&event).map(|h| match h.released {
            None => format!("held {}", h.reason),
            Some(true) => "released".to_owned(),
            Some(false) => "dropped".to_owned(),
        }));
        Ok(if said.is_empty() { "received".to_owned() } else { said.join(", ") })
    }

    pub(super) fn history(&self, line: &Line) -> Result<String, String> {
        let rows = self.rows();
        let delivery = names::delivery_of(&rows, line.word(0)?)?.id;
        let of = rows.attempt.values().filter(|a| a.delivery == delivery);
        let text = |a: &Attempt| match a.detail.as_str() {
            "" => a.outcome.clone(),
            detail => format!("{} ({detail})", a.outcome),
        };
        Ok(of.map(text).collect::<Vec<_>>().join(", "))
    }

    pub(super) fn floor(&mut self, line: &Line) -> Result<String, String> {
        let (name, offset) = (line.word(0)?.to_owned(), line.time()?);
        let floor = Some(self.now().saturating_add(offset));
        self.bed.edit(&|rows| rows.namespace.put(Namespace { name: name.clone(), floor }));
        Ok(String::new())
    }

    pub(super) fn cancel(&mut self, line: &Line) -> Result<String, String> {
        let seq = names::delivery_of(&self.rows(), line.word(0)?)?.seq;
        self.bed.edit(&|rows| {
            if let Some(delivery) = rows.delivery.get_mut(&seq) {
                delivery.cancel = true;
            }
        });
        Ok(String::new())
    }

    pub(super) fn sweep(&mut self) -> Result<String, String> {
        let swept = wait(self.bed.store().sweep()).map_err(said)?;
        Ok(if swept.headless.is_empty() { "nothing".to_owned() } else { format!("headless {}", swept.headless.len()) })
    }

    /// `purge gh=1d/30d`: what each source keeps, bytes and key; of others the defaults hold.
    pub(super) fn purge(&mut self, line: &Line) -> Result<String, String> {
        let mut retention = Retention::default();
        for (source, text) in &line.options {
            let (payload, ledger) = text.split_once('/').ok_or("it is written `source=payload/ledger`")?;
            let keep = Keep { payload: duration(payload)?, ledger: duration(ledger)? };
            retention.sources.insert(source.clone(), keep);
        }
        let purged = wait(self.bed.store().purge(Arc::new(retention))).map_err(said)?;
        Ok(match (purged.payloads, purged.events) {
            (0, 0) => "nothing".to_owned(),
            (payloads, events) => format!("{payloads} payloads, {events} events"),
        })
    }

    /// `fault 3`: the third statement of the next line fails; `fault 3 behind`: it runs, and its answer is lost.
    pub(super) fn fault(&mut self, line: &Line) -> Result<String, String> {
        let nth = line.word(0)?.parse().map_err(|_| "no number")?;
        self.bed.arm(nth, line.words.iter().any(|w| w == "behind"));
        Ok(String::new())
    }

    pub fn struck(&self) -> bool {
        self.bed.struck()
    }

    /// The process ends and another opens the store: whoever held a lease is gone with it.
    pub(super) fn restart(&mut self) -> Result<String, String> {
        self.bed.restart();
        self.held.clear();
        Ok(String::new())
    }

    pub(super) fn command(&mut self, line: &Line) -> Result<String, String> {
        let rows = self.rows();
        let word = line.word(0)?;
        let command = match line.verb.as_str() {
            "dead.retry" => Command::DeadRetry { delivery: names::delivery_of(&rows, word)?.id },
            "held.release" => Command::HeldRelease { event: names::event_id(&rows, word)? },
            "held.drop" => Command::HeldDrop { event: names::event_id(&rows, word)? },
            "unmapped.drop" => {
                let n = word.parse().map_err(|_| "no number")?;
                Command::UnmappedDrop { id: names::unmapped_id(&rows, n) }
            }
            "consumer.pause" => Command::ConsumerPause { consumer: names::consumer_id(&rows, word)? },
            "consumer.resume" => Command::ConsumerResume { consumer: names::consumer_id(&rows, word)? },
            other => return Err(format!("`{other}` is no verb")),
        };
        let who = Who { actor: "ann".into(), reason: "because".into() };
        let answer = wait(self.bed.store().command(command, who)).map_err(said)?;
        Ok(match answer {
            Ok(_) => "done".to_owned(),
            Err(Refused::NotFound) => "not found".to_owned(),
            Err(Refused::State) => "wrong state".to_owned(),
        })
    }
}
