//! `hookonce why EVENT`: one sentence, then the evidence.

use serde_json::Value;

use super::remote::Remote;
use super::{Context, Failure};
use crate::admin::wire::Why;

/// Say in one sentence where an event stands and what it waits for
#[derive(Debug, clap::Args)]
#[command(before_help = "Examples:
  hookonce why evt_3v8q
  hookonce why evt_3v8q -o json | jq .deliveries
  hookonce events list --status needs_attention -o id | xargs -n1 hookonce why")]
pub struct Args {
    /// The event's id
    event: String,
}

pub fn run(args: Args, ctx: &Context) -> Result<(), Failure> {
    let value: Value = Remote::of(ctx)?.get(&format!("/v1/events/{}/why", args.event), &[])?;
    let why: Why = serde_json::from_value(value.clone()).map_err(anyhow::Error::from)?;
    ctx.output.thing(&value, || text(&why))
}

fn text(why: &Why) -> String {
    let mut lines = vec![why.sentence.clone(), String::new()];
    lines.push(format!("key {} ({})", why.event.key, why.event.key_kind));
    for request in &why.requests {
        let reason = request.reason.as_deref().unwrap_or_default();
        lines.push(format!("{}  {:<10} {} {reason}", request.at, request.verdict, request.id).trim_end().to_owned());
    }
    for delivery in &why.deliveries {
        for attempt in &delivery.history {
            let what = format!("{}: {} {}", delivery.consumer, attempt.outcome, attempt.detail);
            lines.push(format!("{}  attempt    {}", attempt.started_at, what.trim_end()));
        }
    }
    lines.join("\n")
}
