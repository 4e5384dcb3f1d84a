//! The command tree. One file a command: `Args` and `run`. A new command is its `mod`, one variant of [`Command`] and
//! one arm of [`run`]; everything about streams, formats and exit codes is in `output` and `failure`.

mod backup;
mod check;
mod completions;
mod consumers;
mod context;
mod dead;
mod deliveries;
mod demo;
mod events;
mod failure;
mod healthcheck;
mod held;
mod init;
mod migrate;
pub mod output;
mod page;
mod progress;
mod providers;
mod relocate;
mod remote;
mod requests;
mod restore;
mod samples;
mod send;
mod serve;
mod sign;
mod verify;
mod why;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

pub use context::{Context, Global};
pub use failure::{Exit, Failure};

#[derive(Debug, Parser)]
#[command(
    name = "hookonce",
    version,
    about = "The durable, idempotent inbox for webhooks",
    before_help = "Examples:
  hookonce demo --once                        what it is for, in a few seconds
  hookonce init --source stripe --yes         write hookonce.toml and a secret to try it with
  hookonce serve --dev                        run it",
    after_help = "Exit codes: 0 done, 1 failed, 2 usage, 3 configuration, 4 not authorised, 5 not found, 6 precondition,
7 server unreachable (safe to retry), 8 timed out, 9 partly done, 10 the store failed.",
    propagate_version = true,
    arg_required_else_help = true,
    subcommand_required = true
)]
pub struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(init::Args),
    Serve(serve::Args),
    Demo(demo::Args),
    Check(check::Args),
    Migrate(migrate::Args),
    Backup(backup::Args),
    Restore(restore::Args),
    Move(relocate::Args),
    Send(send::Args),
    Events(events::Args),
    Requests(requests::Args),
    Deliveries(deliveries::Args),
    Consumers(consumers::Args),
    Held(held::Args),
    Dead(dead::Args),
    Why(why::Args),
    Providers(providers::Args),
    Sign(sign::Args),
    Verify(verify::Args),
    Healthcheck(healthcheck::Args),
    Completions(completions::Args),
}

fn run(command: Command, ctx: &Context) -> Result<(), Failure> {
    match command {
        Command::Init(args) => init::run(args, ctx),
        Command::Serve(args) => serve::run(args, ctx),
        Command::Demo(args) => demo::run(args, ctx),
        Command::Check(args) => check::run(args, ctx),
        Command::Migrate(args) => migrate::run(args, ctx),
        Command::Backup(args) => backup::run(args, ctx),
        Command::Restore(args) => restore::run(args, ctx),
        Command::Move(args) => relocate::run(args, ctx),
        Command::Send(args) => send::run(args, ctx),
        Command::Events(args) => events::run(args, ctx),
        Command::Requests(args) => requests::run(args, ctx),
        Command::Deliveries(args) => deliveries::run(args, ctx),
        Command::Consumers(args) => consumers::run(args, ctx),
        Command::Held(args) => held::run(args, ctx),
        Command::Dead(args) => dead::run(args, ctx),
        Command::Why(args) => why::run(args, ctx),
        Command::Providers(args) => providers::run(args, ctx),
        Command::Sign(args) => sign::run(args, ctx),
        Command::Verify(args) => verify::run(args, ctx),
        Command::Healthcheck(args) => healthcheck::run(args, ctx),
        Command::Completions(args) => completions::run(args, ctx),
    }
}

/// The whole tree. A verb without examples of its own shows those of its noun, which are about it and its neighbours.
pub fn tree() -> clap::Command {
    Cli::command().mut_subcommands(|noun| {
        let examples = noun.get_before_help().cloned().unwrap_or_default();
        noun.mut_subcommands(|verb| match verb.get_before_help() {
            Some(_) => verb,
            None => verb.before_help(examples.clone()),
        })
    })
}

pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    match tree().try_get_matches_from(&args).and_then(|found| Cli::from_arg_matches(&found)) {
        Ok(cli) => {
            let ctx = Context::new(&cli.global);
            run(cli.command, &ctx).map_or_else(|failure| failure.report(&ctx), |()| ExitCode::SUCCESS)
        }
        Err(error) => not_parsed(&error, &args),
    }
}

/// Help and version are data and go to stdout; everything else is a usage error.
fn not_parsed(error: &clap::Error, args: &[OsString]) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        let _ = write!(std::io::stdout(), "{}", error.render());
        return ExitCode::SUCCESS;
    }
    let text = error.render().to_string();
    let mut stderr = std::io::stderr();
    let _ = write!(stderr, "{}", output::escape::block(&text));
    if wants_json(args) {
        let what = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
        let _ = writeln!(stderr, "{}", Failure::usage(what).problem_details());
    }
    Exit::Usage.into()
}

/// The arguments did not parse, so this can only look for what was meant.
fn wants_json(args: &[OsString]) -> bool {
    let texts: Vec<&str> = args.iter().filter_map(|a| a.to_str()).collect();
    let word = |w: &str| matches!(w, "json" | "jsonl");
    texts.iter().any(|a| {
        *a == "--json" || a.strip_prefix("--output=").is_some_and(word) || a.strip_prefix("-o").is_some_and(word)
    }) || texts.windows(2).any(|pair| matches!(pair[0], "-o" | "--output") && word(pair[1]))
}

#[cfg(test)]
mod tests;
