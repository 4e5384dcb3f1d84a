//! `hookonce demo`: the newcomer's first command.

use serde_json::json;

use super::{Context, Exit, Failure};
use crate::demo;

/// Watch real signed webhooks come twice, in parallel, late, altered and forged, while every effect happens once
#[derive(Debug, clap::Args)]
#[command(before_help = "Examples:
  hookonce demo                 play the story, then stay for a look around
  hookonce demo --once          play it and end: exit 0 only if every promise held
  hookonce demo --once --seed 7 the same story again")]
pub struct Args {
    /// End after the story
    #[arg(long)]
    once: bool,
    /// Which answers get lost
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub fn run(args: Args, ctx: &Context) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let say = |line: &str| ctx.output.say(line);
    let facts = runtime.block_on(demo::run(args.seed, !args.once, &say))?;
    let broken = facts.broken();
    let value = json!({ "promises": facts.all.len(), "broken": broken, "seed": args.seed, "facts": facts.all });
    ctx.output.thing(&value, || match broken {
        0 => format!("\n{} promises held", facts.all.len()),
        _ => format!("\n{broken} of {} promises did not hold", facts.all.len()),
    })?;
    if broken == 0 {
        return Ok(());
    }
    Err(Failure::new(Exit::Failed, "a promise did not hold")
        .next(format!("the same story again: --seed {}", args.seed)))
}
