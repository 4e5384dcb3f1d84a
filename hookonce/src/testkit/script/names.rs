//! What a script calls the rows: `gh/evt-1` an event, `gh/evt-1'` its first variant, `app:gh/evt-1` a delivery where
//! there is more than one consumer.

use crate::testkit::model::Rows;
use crate::testkit::model::rows::{Delivery, Event};

/// The name of an event.
pub fn event(rows: &Rows, id: i64) -> String {
    rows.event
        .get(&id)
        .map_or_else(|| format!("event?{id}"), |e| format!("{}{}", base(e), "'".repeat(variants(rows, e))))
}

fn base(event: &Event) -> String {
    format!("{}/{}", event.source, event.key_text)
}

fn variants(rows: &Rows, event: &Event) -> usize {
    let before = |e: &&Event| e.id <= event.id && e.variant != 0 && e.digest == event.digest;
    if event.variant == 0 { 0 } else { rows.event.values().filter(before).count() }
}

/// The event of that name.
pub fn event_id(rows: &Rows, name: &str) -> Result<i64, String> {
    let found = rows.event.keys().find(|id| event(rows, **id) == name);
    found.copied().ok_or_else(|| format!("there is no event `{name}`"))
}

/// The n-th row that was unmapped; a number that is nobody's stays one.
pub fn unmapped_id(rows: &Rows, n: i64) -> i64 {
    let at = usize::try_from(n - 1).ok();
    at.and_then(|at| rows.unmapped.keys().nth(at)).copied().unwrap_or(-n)
}

/// The name of a consumer.
pub fn consumer(rows: &Rows, id: i64) -> String {
    rows.consumer.values().find(|c| c.id == id).map_or_else(|| format!("consumer?{id}"), |c| c.name.clone())
}

/// The consumer of that name.
pub fn consumer_id(rows: &Rows, name: &str) -> Result<i64, String> {
    let found = rows.consumer.values().find(|c| c.name == name);
    found.map(|c| c.id).ok_or_else(|| format!("there is no consumer `{name}`"))
}

/// The name of a delivery.
pub fn delivery(rows: &Rows, event: i64, consumer: i64) -> String {
    let several = rows.consumer.values().any(|c| c.id != consumer);
    let prefix = if several { format!("{}:", self::consumer(rows, consumer)) } else { String::new() };
    format!("{prefix}{}", self::event(rows, event))
}

/// The delivery of that name, as it stands now.
pub fn delivery_of<'r>(rows: &'r Rows, name: &str) -> Result<&'r Delivery, String> {
    let found = rows.delivery.values().rev().find(|d| delivery(rows, d.event, d.consumer) == name);
    found.ok_or_else(|| format!("there is no delivery `{name}`"))
}
