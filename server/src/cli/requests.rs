//! `hookonce requests`: every call and its verdict; what could not be mapped waits here for a decision.

use serde_json::Value;

use super::page::{self, Field, Paging, Show};
use super::remote::{Reason, Remote};
use super::{Context, Failure};
use crate::admin::wire::{Done, Request};

/// Requests: every call with its verdict, and what waits to be mapped
#[derive(Debug, clap::Args)]
#[command(before_help = "Examples:
  hookonce requests list --verdict refused       what did not get in, and why
  hookonce requests list --verdict unmapped      authentic, but the rules cannot map it
  hookonce requests admit req_8hd2 --reason 'rule mended'     map it again with today's rules")]
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
        /// Only with this verdict: accepted, duplicate, conflict, refused, unmapped
        #[arg(long)]
        verdict: Option<String>,
        #[command(flatten)]
        paging: Paging,
    },
    /// One request
    Get { id: String },
    /// The body that is kept of it, on stdout
    Raw { id: String },
    /// Map an unmapped one again with today's rules and take it in
    Admit {
        id: String,
        #[command(flatten)]
        reason: Reason,
    },
    /// Decide that an unmapped one is of no use
    Drop {
        id: String,
        #[command(flatten)]
        reason: Reason,
    },
}

const FIELDS: &[Field] = &[
    ("id", "id", Show::Text, true),
    ("at", "at", Show::Time, true),
    ("source", "source", Show::Text, true),
    ("verdict", "verdict", Show::Text, true),
    ("event", "event", Show::Text, true),
    ("reason", "reason", Show::Text, true),
    ("secret", "secret", Show::Text, false),
    ("decided", "decided", Show::Text, false),
];

pub fn run(args: Args, ctx: &Context) -> Result<(), Failure> {
    match args.what {
        What::List { source, verdict, paging } => {
            let filters = [("source", source.as_ref()), ("verdict", verdict.as_ref())];
            page::list(ctx, "/v1/requests", &filters, &paging, FIELDS)
        }
        What::Get { id } => {
            let value: Value = Remote::of(ctx)?.get(&format!("/v1/requests/{id}"), &[])?;
            let request: Request = serde_json::from_value(value.clone()).map_err(anyhow::Error::from)?;
            ctx.output.thing(&value, || text(&request))
        }
        What::Raw { id } => ctx.output.bytes(&Remote::of(ctx)?.bytes(&format!("/v1/requests/{id}/raw"))?),
        What::Admit { id, reason } => {
            let value: Value = Remote::of(ctx)?.post(&format!("/v1/requests/{id}/admit"), &reason, ctx)?;
            ctx.output.thing(&value, || admitted(&id, &value))
        }
        What::Drop { id, reason } => decide(ctx, &format!("/v1/requests/{id}/drop"), &reason),
    }
}

/// Posts a decision and says what was recorded. Shared by all commands that decide one thing.
pub fn decide(ctx: &Context, path: &str, reason: &Reason) -> Result<(), Failure> {
    let done: Done = Remote::of(ctx)?.post(path, reason, ctx)?;
    let value = serde_json::to_value(&done).map_err(anyhow::Error::from)?;
    ctx.output.thing(&value, || format!("{} {} (audit {})", done.done, done.target, done.audit))
}

fn admitted(id: &str, value: &Value) -> String {
    let verdicts = value["verdicts"].as_array().map(Vec::as_slice).unwrap_or_default();
    let one = |v: &Value| match v["event"].as_str() {
        Some(event) => format!("{} {event}", v["verdict"].as_str().unwrap_or_default()),
        None => v["verdict"].as_str().unwrap_or_default().to_owned(),
    };
    format!("{id}: {}", verdicts.iter().map(one).collect::<Vec<_>>().join(", "))
}

fn text(request: &Request) -> String {
    let mut lines = vec![
        format!("{}   {}   {}", request.id, request.source, request.verdict),
        format!("received   {}", request.at),
    ];
    let more = [
        ("event", request.event.as_ref()),
        ("reason", request.reason.as_ref()),
        ("secret", request.secret.as_ref()),
        ("delivery", request.provider_delivery.as_ref()),
        ("attempt", request.attempt_mark.as_ref()),
        ("decided", request.decided.as_ref()),
    ];
    lines.extend(more.iter().filter_map(|(name, value)| value.map(|v| format!("{name:<10} {v}"))));
    lines.join("\n")
}
