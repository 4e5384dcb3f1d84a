//! `hookonce dead`: what was given up, and trying it again.

use super::deliveries::{FIELDS, whole};
use super::page::{self, Paging};
use super::remote::Reason;
use super::{Context, Failure, requests};

/// Dead letters: what was given up, and trying it again
#[derive(Debug, clap::Args)]
#[command(before_help = "Examples:
  hookonce dead list                                   the oldest decisions first to make
  hookonce dead retry evt_3v8q/app --reason mended     one, from the beginning of its patience
  hookonce dead list -o id | xargs -n1 hookonce dead retry --reason mended")]
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
    /// Try one again: in its place where it holds its lane, else at the lane's end
    Retry {
        /// EVENT/CONSUMER
        id: String,
        #[command(flatten)]
        reason: Reason,
    },
}

pub fn run(args: Args, ctx: &Context) -> Result<(), Failure> {
    match args.what {
        What::List { paging } => page::list(ctx, "/v1/dead", &[], &paging, FIELDS),
        What::Retry { id, reason } => requests::decide(ctx, &format!("/v1/deliveries/{}/retry", whole(&id)?), &reason),
    }
}
