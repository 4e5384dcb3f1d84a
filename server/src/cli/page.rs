//! Lists that come page by page, and the table that they become.

use hookonce_core::time::Micros;
use serde_json::Value;

use super::output::{Cell, Column, Listing};
use super::remote::Remote;
use super::{Context, Failure};
use crate::admin::wire::List;

/// Items asked for in one go; `--all` goes on until there are none.
pub const PAGE: usize = 500;

#[derive(Clone, Debug, clap::Args)]
pub struct Paging {
    /// How many at the most
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
    /// Go on behind this cursor (the last line of the page before says it)
    #[arg(long, value_name = "CURSOR", conflicts_with = "all")]
    after: Option<String>,
    /// Everything, page by page
    #[arg(long)]
    all: bool,
}

/// How a member of an item becomes a cell.
#[derive(Clone, Copy)]
pub enum Show {
    Text,
    Time,
    Number,
}

/// A column: its member in the API's JSON, its name in the table, how it is shown, and whether people see it.
pub type Field = (&'static str, &'static str, Show, bool);

/// Fetches what was asked for and prints it in the format that was asked for.
pub fn list(
    ctx: &Context,
    path: &str,
    filters: &[(&str, Option<&String>)],
    paging: &Paging,
    fields: &[Field],
) -> Result<(), Failure> {
    let remote = Remote::of(ctx)?;
    let wanted = if paging.all { usize::MAX } else { paging.limit };
    let mut after = paging.after.clone();
    let mut listing = Listing::new(fields.iter().map(|(_, name, _, shown)| column(name, *shown)));
    let mut left = wanted;
    loop {
        let asked = left.min(PAGE);
        let page: List<Value> = remote.get(path, &query(filters, after.as_ref(), asked))?;
        let short = page.items.len() < asked;
        left = left.saturating_sub(page.items.len());
        for item in &page.items {
            listing.push(fields.iter().map(|(member, _, show, _)| cell(&item[*member], *show)).collect());
        }
        after = page.next;
        // A short page that is not the last one: the filter finds little, and the server stopped looking.
        if after.is_none() || left == 0 || (short && !paging.all) {
            break;
        }
    }
    ctx.output.list(&listing)?;
    if let Some(cursor) = after {
        ctx.output.say(&format!("there is more: --after {cursor}, or --all"));
    }
    Ok(())
}

fn query<'a>(filters: &[(&'a str, Option<&String>)], after: Option<&String>, limit: usize) -> Vec<(&'a str, String)> {
    let mut query: Vec<(&str, String)> = filters.iter().filter_map(|(n, v)| v.map(|v| (*n, v.clone()))).collect();
    query.push(("limit", limit.to_string()));
    query.extend(after.map(|a| ("after", a.clone())));
    query
}

fn column(name: &str, shown: bool) -> Column {
    if shown { Column::shown(name) } else { Column::machine(name) }
}

fn cell(value: &Value, show: Show) -> Cell {
    match (show, value) {
        (_, Value::Null) => Cell::Empty,
        (Show::Time, Value::String(text)) => micros(text).map_or_else(|| Cell::text(text.as_str()), Cell::Time),
        (Show::Number, Value::Number(n)) => n.as_i64().map_or(Cell::Empty, Cell::Number),
        (_, Value::String(text)) => Cell::text(text.as_str()),
        (_, other) => Cell::text(other.to_string()),
    }
}

pub fn micros(text: &str) -> Option<Micros> {
    text.parse::<jiff::Timestamp>().ok().map(|t| t.as_microsecond())
}
