//! What a configuration changes, told before it is in force: rules of identity, what consumers take, who leaves, and
//! what a beginning leaves out. Pure: what was in force comes as values, what is to be said goes out as lines.

use std::collections::BTreeMap;

use hookonce_core::consumer::{Consumer, From};
use hookonce_core::id;
use serde_json::Value;

use crate::sql::definition;
use crate::view::Configured;

/// The identity rules of sources: name → definition in normal form.
pub type Rules = BTreeMap<String, String>;

/// What becomes of the consumers that the store knows, and of new ones.
pub fn consumers(known: &Configured, wanted: &[Consumer]) -> Vec<String> {
    let gone = known.consumers.iter().filter(|c| c.listed && wanted.iter().all(|w| *w.name != *c.name));
    let gone = gone.map(|c| format!("consumer `{}` leaves: it is paused and keeps what it has not done", c.name));
    let stays = wanted.iter().flat_map(|wanted| match known.consumers.iter().find(|c| *c.name == *wanted.name) {
        None => begins(wanted, known.newest).into_iter().collect(),
        Some(before) => {
            let back = (!before.listed).then(|| format!("consumer `{}` is back and goes on where it was", before.name));
            back.into_iter().chain(differs(&before.definition, wanted)).collect::<Vec<_>>()
        }
    });
    gone.chain(stays).collect()
}

/// Only where there is something that it could leave out.
fn begins(new: &Consumer, newest: Option<i64>) -> Option<String> {
    let (name, newest) = (&new.name, newest?);
    Some(match new.from {
        From::Now => {
            format!("consumer `{name}` is new: events up to {} are left out (`from = \"now\"`)", id::event(newest))
        }
        From::Beginning => format!("consumer `{name}` is new and begins with the first event that is kept"),
        From::Time(_) => format!("consumer `{name}` is new and begins with what came since the time of its `from`"),
    })
}

/// Field by field, as it is written into the configuration.
fn differs(before: &str, wanted: &Consumer) -> Vec<String> {
    let (before, after) = (fields(before), fields(&definition::text(wanted)));
    let name = &wanted.name;
    let changed = after.iter().filter(|(field, now)| before.get(*field).is_some_and(|was| was != *now));
    let told = changed.map(|(field, now)| {
        let was = before.get(field).map(Value::to_string).unwrap_or_default();
        match field.as_str() {
            "from" => format!("consumer `{name}`: `from` has no effect any more, it began at its first start"),
            "key_name" => {
                format!("consumer `{name}`: `key_name` changes, so its receiver takes repeats for new messages")
            }
            // Numbers of microseconds say nothing to anybody.
            "retry" => format!("consumer `{name}`: `retry` changes, for tries from now on"),
            _ => format!("consumer `{name}`: `{field}` was {was} and is {now}, from now on"),
        }
    });
    told.collect()
}

fn fields(definition: &str) -> BTreeMap<String, Value> {
    serde_json::from_str(definition).unwrap_or_default()
}

/// Sources whose events are told apart in another way from now on.
pub fn rules(before: &Rules, after: &Rules) -> Vec<String> {
    let changed = after.iter().filter_map(|(source, now)| {
        let (was, now) = (fields(before.get(source)?), fields(now));
        let differ: Vec<String> = now
            .iter()
            .filter(|(field, value)| was.get(*field) != Some(*value))
            .map(|(field, _)| format!("`{field}`"))
            .collect();
        (!differ.is_empty()).then(|| {
            format!("source `{source}`: its identity rule changes in {}, for requests from now on", differ.join(", "))
        })
    });
    changed.collect()
}

/// Names that come and go, where both sides are known whole.
pub fn sources(before: &Rules, after: &Rules) -> Vec<String> {
    let gone = before.keys().filter(|name| !after.contains_key(*name));
    let gone = gone.map(|name| format!("source `{name}` leaves: it answers 404, what it has sent is kept"));
    let new = after.keys().filter(|name| !before.contains_key(*name)).map(|name| format!("source `{name}` is new"));
    gone.chain(new).collect()
}

#[cfg(test)]
mod tests {
    use hookonce_core::consumer::{OnDead, Order, Pattern, Policy};

    use super::*;
    use crate::view::Defined;

    fn consumer(name: &str, on: &str, from: From) -> Consumer {
        Consumer {
            id: 0,
            name: name.into(),
            on: on.split('+').filter_map(Pattern::parse).collect(),
            order: Order::Arrival,
            on_dead: OnDead::Hold,
            retry: Policy::default(),
            from,
            key_name: name.into(),
            pulled: false,
        }
    }

    fn known(consumers: &[(&Consumer, bool)], newest: Option<i64>) -> Configured {
        let defined = |(consumer, listed): &(&Consumer, bool)| Defined {
            name: consumer.name.to_string(),
            listed: *listed,
            definition: definition::text(consumer),
        };
        Configured { consumers: consumers.iter().map(defined).collect(), rules: BTreeMap::new(), newest }
    }

    #[test]
    fn the_same_again_changes_nothing() {
        let app = consumer("app", "crm/*", From::Now);
        assert!(consumers(&known(&[(&app, true)], Some(63)), &[app]).is_empty());
        assert!(consumers(&known(&[], None), &[consumer("app", "crm/*", From::Now)]).is_empty(), "nothing is left out");
    }

    #[test]
    fn a_beginning_says_what_it_leaves_out() {
        let said = |from| consumers(&known(&[], Some(63)), &[consumer("app", "crm/*", from)]).join("\n");
        assert!(said(From::Now).contains("events up to evt_1z are left out"), "{}", said(From::Now));
        assert!(said(From::Beginning).contains("the first event that is kept"));
        assert!(said(From::Time(5)).contains("since the time of its `from`"));
    }

    #[test]
    fn what_was_known_changes_leaves_and_comes_back() {
        let (app, old, late) = (
            consumer("app", "crm/*", From::Now),
            consumer("old", "*/*", From::Now),
            consumer("late", "*/*", From::Now),
        );
        let before = known(&[(&app, true), (&old, true), (&late, false)], Some(1));
        let app = Consumer { order: Order::None, from: From::Beginning, key_name: "new".into(), ..app };
        let app = Consumer { on: vec![Pattern { source: "crm".into(), kind: "a.*".into() }], ..app };
        assert_eq!(
            consumers(&before, &[app, late]),
            [
                "consumer `old` leaves: it is paused and keeps what it has not done",
                "consumer `app`: `from` has no effect any more, it began at its first start",
                "consumer `app`: `key_name` changes, so its receiver takes repeats for new messages",
                r#"consumer `app`: `on` was ["crm/*"] and is ["crm/a.*"], from now on"#,
                r#"consumer `app`: `order` was "arrival" and is "none", from now on"#,
                "consumer `late` is back and goes on where it was",
            ]
        );
    }

    #[test]
    fn rules_are_compared_field_by_field() {
        let rules_of = |list: &[(&str, &str)]| -> Rules {
            list.iter().map(|(source, text)| ((*source).to_owned(), (*text).to_owned())).collect()
        };
        let before = rules_of(&[("crm", r#"{"key":["a"],"type":["t"]}"#), ("gone", "{}")]);
        let after = rules_of(&[("crm", r#"{"key":["b"],"type":["t"]}"#), ("new", "{}")]);
        assert_eq!(
            rules(&before, &after),
            ["source `crm`: its identity rule changes in `key`, for requests from now on"]
        );
        assert!(rules(&before, &before).is_empty());
        assert_eq!(
            sources(&before, &after),
            ["source `gone` leaves: it answers 404, what it has sent is kept", "source `new` is new"]
        );
    }
}
