//! `hookonce held`: accepted events that go nowhere until somebody decides.

use super::page::{self, Field, Paging, Show};
use super::remote::Reason;
use super::{Context, Failure, requests};

/// Held events: accepted, and passed on only when somebody decides
#[derive(Debug, clap::Args)]
#[command(before_help = "Examples:
  hookonce held list                                          what waits, and why
  hookonce held release evt_3v8q --reason 'known sender'      it goes on to its consumers
  hookonce held drop evt_3v8q --reason 'replay of yesterday'")]
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
        event: String,
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
        What::Release { event, reason } => requests::decide(ctx, &format!("/v1/held/{event}/release"), &reason),
        What::Drop { event, reason } => requests::decide(ctx, &format!("/v1/held/{event}/drop"), &reason),
    }
}
