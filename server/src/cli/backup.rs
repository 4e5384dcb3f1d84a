//! `hookonce backup`: a copy of the store, served or not.

use std::path::PathBuf;

use clap::ValueHint;
use hookonce::backup::{BackupError, Manifest};
use hookonce::{postgres, sqlite};
use hookonce_core::time::Micros;
use serde_json::json;

use super::progress::Progress;
use super::{Context, Failure};
use crate::config::meant::Store;

/// Copy the store into a new folder, while it is served or not
#[derive(Debug, clap::Args)]
#[command(before_help = "Examples:
  hookonce backup /var/backups/hookonce/$(date +%F-%H%M)
  hookonce backup today --no-progress -o json
  hookonce backup today --config /etc/hookonce/hookonce.toml")]
pub struct Args {
    /// The folder to make; it must not be there yet
    #[arg(value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    folder: PathBuf,
    #[command(flatten)]
    progress: Progress,
}

pub fn run(args: Args, ctx: &Context) -> Result<(), Failure> {
    let config = ctx.of_store()?;
    let mut bar = args.progress.of(ctx, "copying");
    let taken = take(&config.store, &args, &mut |done, all| bar.at(done, all)).map_err(anyhow::Error::from)?;
    let folder = args.folder.display();
    ctx.output.thing(&json!({ "folder": args.folder, "backup": taken }), || {
        format!(
            "{folder}: {} events, {} bytes, generation {}\nhint: `hookonce restore {folder}` brings it back",
            taken.events,
            taken.files.iter().map(|file| file.bytes).sum::<u64>(),
            taken.generation
        )
    })
}

fn take(store: &Store, args: &Args, progress: hookonce::backup::Progress<'_>) -> Result<Manifest, BackupError> {
    match store {
        Store::Sqlite { work, .. } => sqlite::backup::backup(work, &args.folder, now(), progress),
        Store::Postgres(database) => {
            waiting()?.block_on(postgres::backup::backup(database.url(), &args.folder, progress))
        }
    }
}

/// For commands that wait for one thing after the other.
pub fn waiting() -> Result<tokio::runtime::Runtime, BackupError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| BackupError::NotNow(format!("no thread can be had: {error}")))
}

pub fn now() -> Micros {
    jiff::Timestamp::now().as_microsecond()
}
