//! `hookonce events`: what was stored, once each.

use serde_json::Value;

use super::page::{self, Field, Paging, Show};
use super::remote::Remote;
use super::{Context, Failure};
use crate::admin::wire::Event;

/// Events: each business occurrence once, however often it came
#[derive(Debug, clap::Args)]
#[command(before_help = "Examples:
  hookonce events list --source billing     the newest of one source
  hookonce events get evt_3v8q              one, with its times and counts
  hookonce events raw evt_3v8q > body       the very bytes that were sent")]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// The newest first
    List {
        /// Only of this source
        #[arg(long)]
        source: Option<String>,
        /// Only in this status: received, held, unmatched, in_progress, done, needs_attention
        #[arg(long)]
        status: Option<String>,
        #[command(flatten)]
        paging: Paging,
    },
    /// One event
    Get { id: String },
    /// Its body, byte for byte, on stdout
    Raw { id: String },
}

const FIELDS: &[Field] = &[
    ("id", "id", Show::Text, true),
    ("source", "source", Show::Text, true),
    ("type", "type", Show::Text, true),
    ("status", "status", Show::Text, true),
    ("seen", "seen", Show::Number, true),
    ("attempts", "attempts", Show::Number, true),
    ("received_at", "received_at", Show::Time, true),
    ("key", "key", Show::Text, false),
    ("aggregate", "aggregate", Show::Text, false),
    ("hold_reason", "hold_reason", Show::Text, false),
    ("body_sha256", "body_sha256", Show::Text, false),
    ("payload_purged", "payload_purged", Show::Text, false),
];

pub fn run(args: Args, ctx: &Context) -> Result<(), Failure> {
    match args.what {
        What::List { source, status, paging } => {
            let filters = [("source", source.as_ref()), ("status", status.as_ref())];
            page::list(ctx, "/v1/events", &filters, &paging, FIELDS)
        }
        What::Get { id } => {
            let value: Value = Remote::of(ctx)?.get(&format!("/v1/events/{id}"), &[])?;
            let event: Event = serde_json::from_value(value.clone()).map_err(anyhow::Error::from)?;
            ctx.output.thing(&value, || text(&event))
        }
        What::Raw { id } => ctx.output.bytes(&Remote::of(ctx)?.bytes(&format!("/v1/events/{id}/raw"))?),
    }
}

fn text(event: &Event) -> String {
    let received = match event.seen {
        1 => format!("Received once, at {}.", event.received_at),
        n => format!("Received {n} times ({} to {}), stored once.", event.received_at, event.last_seen_at),
    };
    let mut lines = vec![
        format!("{}   {}   {}", event.id, event.source, event.kind),
        received,
        format!("status     {}", event.status),
        format!("key        {} ({})", event.key, event.key_kind),
        body(event),
    ];
    let more = [
        ("aggregate", event.aggregate.as_ref()),
        ("version", event.version.as_ref()),
        ("event time", event.event_time.as_ref()),
        ("held", event.hold_reason.as_ref()),
        ("secret", event.secret.as_ref()),
    ];
    lines.extend(more.iter().filter_map(|(name, value)| value.map(|v| format!("{name:<10} {v}"))));
    if event.conflicts > 0 {
        lines.push(format!("conflicts  {}: the key came again with other content; kept apart", event.conflicts));
    }
    lines.push(format!("next       hookonce why {}", event.id));
    lines.join("\n")
}

fn body(event: &Event) -> String {
    match event.payload_purged {
        true => format!("body       purged: retention keeps it no more, sha256 {}", event.body_sha256),
        false => format!("body       {} bytes, sha256 {}", event.size, event.body_sha256),
    }
}
