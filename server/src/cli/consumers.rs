//! `hookonce consumers`: how far each is, and stopping one for a while.

use super::page::{self, Field, Paging, Show};
use super::remote::Reason;
use super::{Context, Failure, requests};

/// Consumers: how far each is; pause and resume
#[derive(Debug, clap::Args)]
#[command(before_help = "Examples:
  hookonce consumers list
  hookonce consumers pause app --reason 'deploying'
  hookonce consumers resume app --reason 'deployed'    also after a 410 has paused it")]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// All of them
    List {
        #[command(flatten)]
        paging: Paging,
    },
    /// No more deliveries begin; events go on being stored and queued
    Pause {
        name: String,
        #[command(flatten)]
        reason: Reason,
    },
    /// Go on
    Resume {
        name: String,
        #[command(flatten)]
        reason: Reason,
    },
}

const FIELDS: &[Field] = &[
    ("name", "name", Show::Text, true),
    ("state", "state", Show::Text, true),
    ("ready", "ready", Show::Number, true),
    ("processing", "processing", Show::Number, true),
    ("retrying", "retrying", Show::Number, true),
    ("parked", "parked", Show::Number, true),
    ("dead", "dead", Show::Number, true),
    ("oldest", "oldest", Show::Time, true),
];

pub fn run(args: Args, ctx: &Context) -> Result<(), Failure> {
    match args.what {
        What::List { paging } => page::list(ctx, "/v1/consumers", &[], &paging, FIELDS),
        What::Pause { name, reason } => requests::decide(ctx, &format!("/v1/consumers/{name}/pause"), &reason),
        What::Resume { name, reason } => requests::decide(ctx, &format!("/v1/consumers/{name}/resume"), &reason),
    }
}
