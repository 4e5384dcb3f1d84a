//! `hookonce migrate`: the schema of the store, apart from a start.

use hookonce::sql::schema::Schema;
use hookonce::{postgres, sqlite};

use super::output::{Cell, Column, Listing};
use super::{Context, Failure};
use crate::config::meant::Store;

/// The schema of the store: what it has, what is missing, bring it up to date
#[derive(Debug, clap::Args)]
#[command(before_help = "Examples:
  hookonce migrate status    what the store has, and what this program knows
  hookonce migrate plan      what `up` would do
  hookonce migrate up        do it now, before the new program starts on it")]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::Subcommand)]
enum What {
    /// The version that is there, and the one that this program has
    Status,
    /// The steps that are missing, in their order
    Plan,
    /// Apply them: `serve` does the same at its start
    Up,
}

pub fn run(args: Args, ctx: &Context) -> Result<(), Failure> {
    let config = ctx.of_store()?;
    let before = schemas(&config.store, false)?;
    match args.what {
        What::Status => ctx.output.list(&status(&before)),
        What::Plan => ctx.output.list(&steps(&before)),
        What::Up => {
            schemas(&config.store, true)?;
            ctx.output.list(&steps(&before))
        }
    }
}

fn schemas(store: &Store, up: bool) -> Result<Vec<Schema>, Failure> {
    match store {
        Store::Sqlite { work, .. } => Ok(sqlite::schemas(work, up).map_err(anyhow::Error::from)?),
        Store::Postgres(database) => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            let schema = runtime.block_on(postgres::schema(database.url(), up)).map_err(anyhow::Error::from)?;
            Ok(vec![schema])
        }
    }
}

fn status(schemas: &[Schema]) -> Listing {
    let mut listing = Listing::new(["of", "found", "known", "pending"].map(Column::shown));
    for schema in schemas {
        listing.push(vec![
            Cell::text(schema.of),
            number(schema.found),
            number(schema.known),
            number(schema.pending.len()),
        ]);
    }
    listing
}

fn steps(schemas: &[Schema]) -> Listing {
    let mut listing = Listing::new(["of", "version", "what"].map(Column::shown));
    for schema in schemas {
        for step in &schema.pending {
            listing.push(vec![Cell::text(schema.of), number(step.version), Cell::text(step.what.as_str())]);
        }
    }
    listing
}

fn number(n: usize) -> Cell {
    i64::try_from(n).map_or(Cell::Empty, Cell::Number)
}
