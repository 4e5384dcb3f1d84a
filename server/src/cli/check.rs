//! `hookonce check`: everything that is wrong with the configuration, or one screen that says what it will do.

use std::path::PathBuf;

use clap::ValueHint;
use serde_json::{Value, json};

use super::output::{Cell, Column, Format, Listing};
use super::{Context, Failure};
use crate::config::meant::{Consumer, Source, Store};
use crate::config::{Config, Flags, Report};

/// Say everything that is wrong with the configuration, as file:line:column; exit 3 if anything is
#[derive(Debug, clap::Args)]
#[command(before_help = "Examples:
  hookonce check                    the configuration that `serve` would find
  hookonce check --dev              with the generated secrets of `hookonce init`
  hookonce check -o json site.toml  for programs")]
pub struct Args {
    /// The file to check instead of the one that would be found
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    file: Option<PathBuf>,
    /// Take literal and generated secrets, as `serve --dev` does
    #[arg(long)]
    dev: bool,
}

pub fn run(args: Args, ctx: &Context) -> Result<(), Failure> {
    let path = args.file.map_or_else(|| ctx.config_path(), Ok)?;
    let flags = Flags { dev: args.dev, strict: true, env: ctx.env.clone(), ..Flags::default() };
    let (config, report) = ctx.load(&path, &flags)?;
    if !report.problems.is_empty() {
        ctx.output.say_rendered(&format!("{}\n", report.render(ctx.output.styled_talk())));
    }
    ctx.output.thing(&value(&config, &report), || screen(&config, &report))
}

fn screen(config: &Config, report: &Report) -> String {
    let file = config.file.as_ref().map_or_else(String::new, |f| f.display().to_string());
    let mut text = format!(
        "config   {file}\nstore    {}\ningest   http://{}/in/<source>\nadmin    http://{}/\n",
        store(&config.store),
        config.ingest.listen,
        config.admin.listen,
    );
    for listing in [sources(config), consumers(config)].iter().filter(|l| !l.is_empty()) {
        text.push('\n');
        text.push_str(&listing.text(Format::Table, 0));
    }
    text.push_str(&format!(
        "\n{}\n",
        if report.problems.is_empty() { "no errors".to_owned() } else { format!("no errors, {}", report.tally()) }
    ));
    text
}

fn store(store: &Store) -> String {
    match store {
        Store::Sqlite { work, inbox } => format!("sqlite {}, inbox {}", work.display(), inbox.display()),
        Store::Postgres(database) => database.to_string(),
    }
}

fn sources(config: &Config) -> Listing {
    let mut listing = Listing::new(["source", "url", "verified_by", "secrets", "key"].map(Column::shown));
    for source in &config.sources {
        listing.push(vec![
            Cell::text(source.name.as_str()),
            Cell::text(url(config, source)),
            Cell::text(verified_by(source)),
            Cell::List(source.secrets.0.iter().map(|s| s.name.clone()).collect()),
            Cell::text(key(source)),
        ]);
    }
    listing
}

fn consumers(config: &Config) -> Listing {
    let mut listing = Listing::new(["consumer", "takes", "order", "target"].map(Column::shown));
    for consumer in &config.consumers {
        listing.push(vec![
            Cell::text(consumer.name.as_str()),
            Cell::List(takes(consumer)),
            Cell::text(format!("{:?}", consumer.order).to_lowercase()),
            Cell::text(consumer.target()),
        ]);
    }
    listing
}

fn takes(consumer: &Consumer) -> Vec<String> {
    consumer.on.iter().map(|p| format!("{}/{}", p.source, p.kind)).collect()
}

fn url(config: &Config, source: &Source) -> String {
    source.public_url.clone().unwrap_or_else(|| format!("http://{}/in/{}", config.ingest.listen, source.name))
}

fn verified_by(source: &Source) -> String {
    source.scheme().map_or_else(|| "nothing: anybody may send".to_owned(), |scheme| format!("{} scheme", scheme.name))
}

/// The alternatives of the key rule, the first that holds counts.
fn key(source: &Source) -> String {
    source.rule.key.iter().map(|alternative| alternative.text.as_str()).collect::<Vec<_>>().join(", else ")
}

fn value(config: &Config, report: &Report) -> Value {
    json!({
        "file": config.file,
        "store": match &config.store {
            Store::Sqlite { work, inbox } => json!({ "work": work, "inbox": inbox }),
            Store::Postgres(database) => json!({ "url": database.to_string() }),
        },
        "ingest": config.ingest.listen.to_string(),
        "admin": config.admin.listen.to_string(),
        "sources": config.sources.iter().map(|s| json!({
            "name": s.name,
            "namespace": s.namespace,
            "url": url(config, s),
            "provider": s.provider.map(|p| p.id),
            "verified_by": verified_by(s),
            "secrets": s.secrets.0.iter().map(|secret| &secret.name).collect::<Vec<_>>(),
            "key": key(s),
        })).collect::<Vec<_>>(),
        "consumers": config.consumers.iter().map(|c| json!({
            "name": c.name,
            "takes": takes(c),
            "order": format!("{:?}", c.order).to_lowercase(),
            "target": c.target(),
        })).collect::<Vec<_>>(),
        "warnings": report.json(),
    })
}
