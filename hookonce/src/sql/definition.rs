//! The normal form of a consumer's definition: what routing, order and keys depend on. Equal texts are equal
//! definitions; a later field joins with its default left out, so that an upgrade changes no text.

use hookonce_core::consumer::{Consumer, From, OnDead, Order};
use serde_json::json;

pub fn text(consumer: &Consumer) -> String {
    let on: Vec<String> = consumer.on.iter().map(|p| format!("{}/{}", p.source, p.kind)).collect();
    let retry = &consumer.retry;
    let mut text = json!({
        "name": *consumer.name,
        "on": on,
        "order": match consumer.order { Order::None => "none", Order::Arrival => "arrival" },
        "on_dead": match consumer.on_dead { OnDead::Hold => "hold", OnDead::Continue => "continue" },
        "retry": [retry.first, retry.max, retry.give_up_after, retry.attempts.unwrap_or(0)],
        "from": match consumer.from {
            From::Now => json!("now"),
            From::Beginning => json!("beginning"),
            From::Time(at) => json!(at),
        },
        "key_name": *consumer.key_name,
    });
    if consumer.pulled {
        text["kind"] = json!("pull");
    }
    text.to_string()
}
