//! `hookonce healthcheck`: for a supervisor that can only run a command.

use super::remote::Remote;
use super::{Context, Failure};

/// Ask the configured server whether it would store a webhook now; exit 0 if so
#[derive(Debug, clap::Args)]
#[command(before_help = "Examples:
  hookonce healthcheck
  hookonce healthcheck --config /etc/hookonce/hookonce.toml
  HEALTHCHECK CMD [\"hookonce\", \"healthcheck\"]")]
pub struct Args {}

pub fn run(_: Args, ctx: &Context) -> Result<(), Failure> {
    Remote::of(ctx)?.bytes("/readyz").map(|_| ctx.output.say("ready"))
}
