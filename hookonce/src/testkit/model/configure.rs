//! Configuration on the model: consumers get their ids, new definitions a number and a pass row.

use hookonce_core::consumer::{Consumer, From, Standing};
use hookonce_core::route::Routing;
use hookonce_core::time::Micros;

use super::rows::{self, Pass, Rows, Rule};
use crate::sql::definition;
use crate::view::{Configured, Defined};

/// The verb. The same definitions again change nothing.
pub fn configure(rows: &mut Rows, consumers: Vec<Consumer>, now: Micros) -> Routing {
    let last = rows.pass.last_key_value().map(|(_, p)| p.clone());
    let number = last.as_ref().map_or(0, |p| p.config) + 1;
    let before = rows.counters.config.clone();
    let mut named: Vec<Consumer> = consumers
        .into_iter()
        .map(|consumer| Consumer { id: configure_consumer(rows, &consumer, number), ..consumer })
        .collect();
    named.sort_by_key(|c| c.id);
    configure_stand(rows, &named);
    rows.counters.config = named.iter().filter_map(|c| newest(rows, c.id)).collect();
    let changed = last.is_none() || rows.counters.config != before;
    if changed {
        configure_pass(rows, last, number, now);
    }
    Routing { config: if changed { number } else { number - 1 }, consumers: named }
}

/// Who is not listed any more is handed nothing; who is back goes on as it was.
fn configure_stand(rows: &mut Rows, named: &[Consumer]) {
    let listed = |id: i64| named.iter().any(|c| c.id == id);
    let all: Vec<i64> = super::definitions(rows).into_keys().collect();
    for id in all {
        if let Some(standing) = super::claim::standing(rows, id) {
            super::command::command_state(rows, id, Standing { listed: listed(id), ..standing });
        }
    }
}

fn newest(rows: &Rows, id: i64) -> Option<(i64, i64)> {
    super::definitions(rows).get(&id).map(|c| (c.id, c.number))
}

/// The id is the name's; a definition that differs from the newest one is a row more.
fn configure_consumer(rows: &mut Rows, consumer: &Consumer, number: i64) -> i64 {
    let definition = definition::text(consumer);
    let known = super::definitions(rows).into_values().find(|c| c.name == *consumer.name).cloned();
    let same = known.as_ref().is_some_and(|c| c.definition == definition);
    let id = known.as_ref().map_or_else(|| next_id(rows), |c| c.id);
    if same {
        return id;
    }
    let from_pos = known.as_ref().map_or_else(|| begins(rows, consumer.from), |c| c.from_pos);
    let state = known.map_or_else(|| "live".to_owned(), |c| c.state);
    rows.consumer.put(rows::Consumer { id, name: consumer.name.to_string(), number, from_pos, definition, state });
    id
}

fn next_id(rows: &Rows) -> i64 {
    rows.consumer.last_key_value().map_or(1, |((id, _), _)| id + 1)
}

/// The position behind which a consumer that was not there before begins.
fn begins(rows: &Rows, from: From) -> i64 {
    match from {
        From::Now => rows.counters.event,
        From::Beginning => 0,
        From::Time(at) => {
            let first = rows.event.values().find(|e| e.received >= at).map(|e| e.id);
            first.map_or(rows.counters.event, |id| id - 1)
        }
    }
}

/// Same position, new configuration. It lists whom the last one listed: those stand where it stands.
fn configure_pass(rows: &mut Rows, last: Option<Pass>, number: i64, now: Micros) {
    let main = rows.pass.values().rev().find(|p| p.own.is_none()).cloned();
    let (pos, consumers) = main.map_or((0, String::new()), |p| (p.pos, p.consumers));
    let (n, seq) = last.map_or((1, 0), |p| (p.n + 1, p.seq));
    rows.pass.put(Pass { n, pos, seq, consumers, own: None, config: number, node: rows.counters.instance, at: now });
}

/// The verb: equal definitions share a number.
pub fn rule(rows: &mut Rows, source: &str, definition: &str, now: Micros) -> i64 {
    if let Some(rule) = rows.rule.values_mut().find(|r| r.definition == definition) {
        rule.last_used = now;
        return rule.number;
    }
    let number = super::after(&rows.rule);
    rows.rule.put(Rule { number, source: source.into(), definition: definition.into(), last_used: now });
    number
}

/// What was configured last.
pub fn configured(rows: &Rows) -> Configured {
    let defined = |c: &rows::Consumer| Defined {
        name: c.name.clone(),
        listed: Standing::parse(&c.state).is_none_or(|standing| standing.listed),
        definition: c.definition.clone(),
    };
    let mut consumers: Vec<Defined> = super::definitions(rows).into_values().map(defined).collect();
    consumers.sort_by(|a, b| a.name.cmp(&b.name));
    let mut by_use: Vec<&Rule> = rows.rule.values().collect();
    by_use.sort_by_key(|rule| (rule.last_used, rule.number));
    let rules = by_use.into_iter().map(|rule| (rule.source.clone(), rule.definition.clone())).collect();
    Configured { consumers, rules, newest: rows.event.last_key_value().map(|(id, _)| *id) }
}
