//! `hookonce move`: from files into a database.

use std::time::Duration;

use hookonce::moving::{self, Moved};

use super::backup::waiting;
use super::output::{Cell, Column, Listing};
use super::progress::Progress;
use super::serve::duration;
use super::{Context, Failure};
use crate::config::Flags;
use crate::config::meant::Store;

/// Move a store from its files into a PostgreSQL database
#[derive(Debug, clap::Args)]
#[command(before_help = "Examples:
  hookonce move --to postgres://hookonce@db.internal/hookonce
  hookonce move --to postgres://db/hookonce --wait 1h    the server is stopped by somebody else
  hookonce move --to postgres://db/hookonce -o csv       what was compared, table by table")]
pub struct Args {
    /// The database, without a store in it yet; its password stands in PGPASSWORD
    #[arg(long, value_name = "URL")]
    to: String,
    /// How long the server may go on serving once the first part is copied
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "10m")]
    wait: Duration,
    #[command(flatten)]
    progress: Progress,
}

pub fn run(args: Args, ctx: &Context) -> Result<(), Failure> {
    let Store::Sqlite { work, .. } = ctx.of_store()?.store else {
        return Err(Failure::usage("the store is a database already: `move` goes from files into one"));
    };
    let flags = Flags { dev: true, env: ctx.env.clone(), ..Flags::default() }.with("--to", "store.url", Some(&args.to));
    let (there, _) = ctx.load(&ctx.config_path()?, &flags)?;
    let Store::Postgres(database) = there.store else {
        return Err(Failure::usage(format!("`{}` is no database: `--to postgres://user@host/database`", args.to)));
    };
    let mut bar = args.progress.of(ctx, "moving");
    let shown = database.to_string();
    let order = moving::Order { url: database.url(), shown: &shown, wait: args.wait };
    let moved = waiting().and_then(|runtime| {
        moving::run(&work, &order, runtime, &mut |done, all| bar.at(done, all), &|text| ctx.output.say(text))
    });
    let moved = moved.map_err(anyhow::Error::from)?;
    ctx.output.list(&listing(&moved))?;
    ctx.output.say(&format!(
        "moved to {shown}; every table is the same on both sides\nhint: name it in `[store] url`, then `hookonce serve`"
    ));
    Ok(())
}

fn listing(moved: &[Moved]) -> Listing {
    let mut listing = Listing::new(["table", "rows", "digest"].map(Column::shown));
    for table in moved {
        let rows = i64::try_from(table.rows).map_or(Cell::Empty, Cell::Number);
        listing.push(vec![Cell::text(table.table.as_str()), rows, Cell::text(table.digest.as_str())]);
    }
    listing
}
