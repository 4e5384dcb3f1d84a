//! `hookonce deliveries`: one event owed to one consumer, and every try of it.

use serde_json::Value;

use super::page::{self, Field, Paging, Show};
use super::remote::Remote;
use super::{Context, Exit, Failure};
use crate::admin::wire::Delivery;

/// Deliveries: one event owed to one consumer, with every attempt
#[derive(Debug, clap::Args)]
#[command(before_help = "Examples:
  hookonce deliveries list --state retryable_failed     what is being tried again
  hookonce deliveries list --event evt_3v8q             where one event went
  hookonce deliveries get evt_3v8q/app                  every attempt of one")]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// The newest first
    List {
        /// Only to this consumer
        #[arg(long)]
        consumer: Option<String>,
        /// Only in this state, e.g. waiting, ready, processing, retryable_failed, succeeded, permanently_failed
        #[arg(long)]
        state: Option<String>,
        /// Only of this event
        #[arg(long)]
        event: Option<String>,
        #[command(flatten)]
        paging: Paging,
    },
    /// One, by EVENT/CONSUMER or EVENT/CONSUMER/GENERATION
    Get { id: String },
    /// The body that it carries, on stdout
    Raw { id: String },
}

pub const FIELDS: &[Field] = &[
    ("id", "id", Show::Text, true),
    ("state", "state", Show::Text, true),
    ("attempts", "attempts", Show::Number, true),
    ("lost", "lost", Show::Number, false),
    ("due_at", "due_at", Show::Time, true),
    ("ended_at", "ended_at", Show::Time, true),
    ("reason", "reason", Show::Text, true),
];

pub fn run(args: Args, ctx: &Context) -> Result<(), Failure> {
    match args.what {
        What::List { consumer, state, event, paging } => {
            let filters = [("consumer", consumer.as_ref()), ("state", state.as_ref()), ("event", event.as_ref())];
            page::list(ctx, "/v1/deliveries", &filters, &paging, FIELDS)
        }
        What::Get { id } => {
            let value: Value = Remote::of(ctx)?.get(&format!("/v1/deliveries/{}", whole(&id)?), &[])?;
            let delivery: Delivery = serde_json::from_value(value.clone()).map_err(anyhow::Error::from)?;
            ctx.output.thing(&value, || text(&delivery))
        }
        What::Raw { id } => {
            let event = id.split('/').next().unwrap_or_default();
            ctx.output.bytes(&Remote::of(ctx)?.bytes(&format!("/v1/events/{event}/raw"))?)
        }
    }
}

/// EVENT/CONSUMER means its first generation.
pub fn whole(id: &str) -> Result<String, Failure> {
    match id.split('/').count() {
        2 => Ok(format!("{id}/0")),
        3 => Ok(id.to_owned()),
        _ => Err(Failure::new(Exit::Usage, format!("`{id}` names no delivery")).next("write EVENT/CONSUMER")),
    }
}

fn text(delivery: &Delivery) -> String {
    let mut lines = vec![format!("{}   {}", delivery.id, delivery.state)];
    let more = [
        ("due", delivery.due_at.as_ref()),
        ("ended", delivery.ended_at.as_ref()),
        ("reason", delivery.reason.as_ref()),
    ];
    lines.extend(more.iter().filter_map(|(name, value)| value.map(|v| format!("{name:<10} {v}"))));
    for a in &delivery.history {
        let detail = if a.detail.is_empty() { String::new() } else { format!("  {}", a.detail) };
        lines.push(format!("attempt {:<2} {}  {:>8.1} ms  {}{detail}", a.no, a.started_at, a.took_ms, a.outcome));
    }
    lines.join("\n")
}
