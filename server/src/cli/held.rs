//! `hookonce held`: accepted events that go nowhere until somebody decides.

use hookonce_core::event::HoldReason;
use serde_json::{Value, json};

use super::page::{self, Field, PAGE, Paging, Show};
use super::remote::{Reason, Remote};
use super::{Context, Exit, Failure, requests};
use crate::admin::wire::{Done, List};

/// Held events: accepted, and passed on only when somebody decides
#[derive(Debug, clap::Args)]
#[command(before_help = "Examples:
  hookonce held list                                             what waits, and why
  hookonce held release evt_3v8q --reason 'known sender'         it goes on to its consumers
  hookonce held release --all beyond_retention --reason 'restored'   the same for all of a kind")]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// All that wait for a decision
    List {
        #[command(flatten)]
        paging: Paging,
    },
    /// Pass it on
    Release {
        #[arg(required_unless_present = "all")]
        event: Option<String>,
        /// All that are held for this reason, each a decision of its own
        #[arg(long, value_name = "HELD_FOR", conflicts_with = "event", value_parser = reasons())]
        all: Option<String>,
        #[command(flatten)]
        reason: Reason,
    },
    /// Never pass it on; the event stays on record
    Drop {
        event: String,
        #[command(flatten)]
        reason: Reason,
    },
}

const FIELDS: &[Field] = &[
    ("event", "event", Show::Text, true),
    ("source", "source", Show::Text, true),
    ("type", "type", Show::Text, true),
    ("key", "key", Show::Text, true),
    ("reason", "reason", Show::Text, true),
    ("since", "since", Show::Time, true),
    ("evidence", "evidence", Show::Text, false),
];

pub fn run(args: Args, ctx: &Context) -> Result<(), Failure> {
    match args.what {
        What::List { paging } => page::list(ctx, "/v1/held", &[], &paging, FIELDS),
        What::Release { event: Some(event), reason, .. } => {
            requests::decide(ctx, &format!("/v1/held/{event}/release"), &reason)
        }
        What::Release { event: None, all, reason } => release(ctx, &all.unwrap_or_default(), &reason),
        What::Drop { event, reason } => requests::decide(ctx, &format!("/v1/held/{event}/drop"), &reason),
    }
}

fn reasons() -> Vec<&'static str> {
    HoldReason::ALL.map(HoldReason::name).to_vec()
}

/// Page by page from the newest back, until none is left that waited when it began.
fn release(ctx: &Context, held_for: &str, reason: &Reason) -> Result<(), Failure> {
    let remote = Remote::of(ctx)?;
    let (mut after, mut released) = (None, 0);
    loop {
        let cursor = after.iter().map(|after: &String| ("after", after.clone()));
        let query: Vec<_> = [("limit", PAGE.to_string())].into_iter().chain(cursor).collect();
        let page: List<Value> = remote.get("/v1/held", &query)?;
        for event in
            page.items.iter().filter(|item| item["reason"] == held_for).filter_map(|item| item["event"].as_str())
        {
            released += usize::from(one(&remote, event, reason, ctx)?);
        }
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let value = json!({ "done": "held.release", "held_for": held_for, "released": released });
    ctx.output.thing(&value, || format!("held.release {released} events that were held for {held_for}"))
}

/// Somebody else may have decided meanwhile: that is no reason to stop.
fn one(remote: &Remote, event: &str, reason: &Reason, ctx: &Context) -> Result<bool, Failure> {
    match remote.post::<Done>(&format!("/v1/held/{event}/release"), reason, ctx) {
        Ok(_) => Ok(true),
        Err(failure) if failure.exit() == Exit::Precondition => Ok(false),
        Err(failure) => Err(failure),
    }
}
