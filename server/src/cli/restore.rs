//! `hookonce restore`: a backup brought back, as a store that knows that it was away.

use std::path::PathBuf;

use clap::ValueHint;
use hookonce::backup::{BackupError, Order, Restored};
use hookonce::{postgres, sqlite};
use serde_json::json;

use super::backup::{now, waiting};
use super::output::time::rfc3339;
use super::{Context, Failure};
use crate::config::Config;
use crate::config::meant::Store;

/// Bring a backup back, into a store that nobody serves
#[derive(Debug, clap::Args)]
#[command(before_help = "Examples:
  hookonce restore /var/backups/hookonce/2026-11-30-0300
  hookonce restore today --replace      put the store that is there aside, and keep it
  hookonce restore today --replace -o json")]
pub struct Args {
    /// The folder that `hookonce backup` made
    #[arg(value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    folder: PathBuf,
    /// A store that is there is put aside
    #[arg(long)]
    replace: bool,
}

pub fn run(args: Args, ctx: &Context) -> Result<(), Failure> {
    let config = ctx.of_store()?;
    let done = bring(&config, &args).map_err(anyhow::Error::from)?;
    let value = json!({
        "store": done.manifest.store,
        "generation": done.again.generation,
        "events": done.manifest.events,
        "lost_from": rfc3339(done.again.from),
        "lost_to": rfc3339(done.again.to),
        "replaced": done.replaced,
    });
    ctx.output.thing(&value, || screen(&done))
}

fn bring(config: &Config, args: &Args) -> Result<Restored, BackupError> {
    let namespaces: Vec<String> = config.sources.iter().map(|source| source.namespace.clone()).collect();
    let order = Order { from: &args.folder, replace: args.replace, namespaces: &namespaces };
    match &config.store {
        Store::Sqlite { work, .. } => sqlite::restore::restore(work, &order, now()),
        Store::Postgres(database) => waiting()?.block_on(postgres::restore::restore(database.url(), &order)),
    }
}

fn screen(done: &Restored) -> String {
    let (from, to) = (rfc3339(done.again.from), rfc3339(done.again.to));
    let mut text = format!(
        "{} events are back, generation {}\ngap    {from} to {to}: what was answered 2xx in between is not in it
next   `hookonce serve`, then have your providers send that time again; what happened before {to} and is not known
       is held: `hookonce held list`, then `hookonce held release --all beyond_retention`",
        done.manifest.events, done.again.generation
    );
    if let Some(replaced) = &done.replaced {
        text.push_str(&format!("\nkept   the store that was there: {replaced}"));
    }
    text
}
