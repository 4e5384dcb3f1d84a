//! From the wire to deliveries: definitions, admission, passes.

use std::sync::Arc;

use hookonce_core::admit::{Origin, Submission, Verdict};
use hookonce_core::consumer::{Consumer, From, OnDead, Order, Pattern, Policy};
use hookonce_core::request::Headers;
use hookonce_core::time::Micros;

use super::{Runner, said};
use crate::store::{Refusals, Sample};
use crate::testkit::model::rows::Delivery;
use crate::testkit::model::{Rows, state};
use crate::testkit::script::bed::wait;
use crate::testkit::script::words::{self, Line};
use crate::testkit::script::{item, names};

impl Runner<'_> {
    pub(super) fn consumer(&mut self, line: &Line) -> Result<String, String> {
        let consumer = consumer(line, self.now())?;
        self.consumers.retain(|c| c.name != consumer.name);
        self.consumers.push(consumer);
        Ok(String::new())
    }

    pub(super) fn without(&mut self, line: &Line) -> Result<String, String> {
        let name = line.word(0)?;
        self.consumers.retain(|c| *c.name != *name);
        Ok(String::new())
    }

    pub(super) fn configure(&mut self) -> Result<String, String> {
        let routing = wait(self.bed.store().configure(self.consumers.clone())).map_err(said)?;
        self.configurations.insert(routing.config, routing.clone());
        let answer = format!("config {}", routing.config);
        self.routing = Some(routing);
        Ok(answer)
    }

    pub(super) fn admit(&mut self, line: &Line) -> Result<String, String> {
        let mut submission: Submission = item::submission(line, self.now())?;
        let rows = self.rows();
        if let Origin::Admit { unmapped, .. } = &mut submission.origin {
            *unmapped = names::unmapped_id(&rows, *unmapped);
        }
        let asked: Vec<String> = line.words.iter().filter(|w| w.contains('/')).cloned().collect();
        let admission = match wait(self.bed.store().admit(submission)) {
            Ok(admission) => admission,
            Err(error) => return Ok(said(error)),
        };
        let rows = self.rows();
        let verdicts = admission.verdicts.iter().enumerate();
        let texts = verdicts.map(|(at, v)| verdict(&rows, v, asked.get(at).map_or("", String::as_str)));
        Ok(texts.collect::<Vec<_>>().join("; "))
    }

    pub(super) fn route(&mut self) -> Result<String, String> {
        let routing = self.routing.clone().ok_or("nothing is configured")?;
        let before = self.rows();
        let passed = wait(self.bed.store().route(&routing)).map_err(said)?;
        if passed.config_behind {
            return Ok("config behind".to_owned());
        }
        let rows = self.rows();
        let mut said = self.appended(&before, &rows);
        let held = rows.hold.values().filter(|h| h.released.is_none() && before.hold.get(&h.event) != Some(h));
        said.extend(held.map(|h| format!("held {} {}", names::event(&rows, h.event), h.reason)));
        if said.is_empty() && rows.pass.len() == before.pass.len() {
            return Ok("nothing".to_owned());
        }
        Ok(if said.is_empty() { "passed".to_owned() } else { said.join(", ") })
    }

    pub(super) fn appended(&self, before: &Rows, rows: &Rows) -> Vec<String> {
        let new = rows.delivery.values().filter(|d| !before.delivery.contains_key(&d.seq));
        let text = |d: &Delivery| {
            let state = state::of_delivery(rows, d, self.now()).name();
            format!("{} {state}", names::delivery(rows, d.event, d.consumer))
        };
        new.map(text).collect()
    }

    pub(super) fn refuse(&mut self, line: &Line) -> Result<String, String> {
        let (source, reason): (Arc<str>, String) = (line.word(0)?.into(), line.word(1)?.to_owned());
        let sample = Sample {
            source: source.clone(),
            target: format!("POST /in/{source}"),
            headers: Headers::default(),
            body: line.option("body").unwrap_or("A").as_bytes().to_vec(),
            reason: reason.clone(),
            received: self.now(),
        };
        let count = line.number("n")?.unwrap_or(1).unsigned_abs();
        let refusals = Refusals { samples: vec![sample], counts: vec![(source, reason, count)] };
        wait(self.bed.store().refused(refusals)).map_err(said)?;
        Ok(String::new())
    }

    pub(super) fn rule(&mut self, line: &Line) -> Result<String, String> {
        let number = wait(self.bed.store().rule(line.word(0)?, line.word(1)?)).map_err(said)?;
        Ok(format!("rule {number}"))
    }
}

fn verdict(rows: &Rows, verdict: &Verdict, asked: &str) -> String {
    let other = |event: i64| {
        let name = names::event(rows, event);
        if name == asked { String::new() } else { format!(" of {name}") }
    };
    match verdict {
        Verdict::Accepted { hold: None, .. } => "accepted".to_owned(),
        Verdict::Accepted { hold: Some(reason), event } => {
            let name = names::event(rows, *event);
            let name = if name == asked { String::new() } else { format!(" as {name}") };
            format!("accepted{name} held {}", reason.name())
        }
        Verdict::Duplicate { of } => format!("duplicate{}", other(*of)),
        Verdict::Conflict { with, differs, kept } => {
            let kept = if *kept { "" } else { " not kept" };
            format!("conflict with {} ({}){kept}", names::event(rows, *with), differs.name())
        }
        Verdict::Unmapped { reason, .. } => format!("unmapped ({reason})"),
    }
}

/// `consumer app on=gh/* order=arrival first=5s max=1h give_up=3d attempts=3 from=beginning`.
fn consumer(line: &Line, now: Micros) -> Result<Consumer, String> {
    let name: Arc<str> = line.word(0)?.into();
    let patterns = line.option("on").unwrap_or("*/*").split(',');
    let on: Option<Vec<Pattern>> = patterns.map(Pattern::parse).collect();
    let policy = Policy::default();
    Ok(Consumer {
        id: 0,
        on: on.ok_or("a pattern is written `source/type`")?,
        order: if line.option("order") == Some("none") { Order::None } else { Order::Arrival },
        on_dead: if line.option("on_dead") == Some("continue") { OnDead::Continue } else { OnDead::Hold },
        retry: Policy {
            first: line.duration("first")?.unwrap_or(policy.first),
            max: line.duration("max")?.unwrap_or(policy.max),
            give_up_after: line.duration("give_up")?.unwrap_or(policy.give_up_after),
            attempts: line.number("attempts")?,
        },
        from: match line.option("from") {
            None | Some("now") => From::Now,
            Some("beginning") => From::Beginning,
            Some(offset) => From::Time(now.saturating_add(words::duration(offset)?)),
        },
        key_name: name.clone(),
        // One bed claims through the published functions, which look at it; no store does.
        pulled: true,
        name,
    })
}
