//! The configuration: what was written (`tree`, `section`: every value knows its place), what it means (`meant`), and
//! all that is wrong with it in one report (`problem`).
//!
//! Not here: opening the store, building verifiers; wiring does that from the meant structs. Start at [`load`].

pub mod address;
pub mod catalogue;
pub mod code;
mod consumer;
pub mod dev;
pub mod environment;
pub mod locate;
mod mask;
pub mod meant;
mod near;
mod not_built;
mod overlay;
mod place;
pub mod problem;
mod reading;
mod retain;
mod rule;
pub mod secret;
mod section;
mod server;
pub mod source;
mod store;
mod substitute;
mod tree;
pub mod units;
mod verify;

use std::path::{Path, PathBuf};

pub use environment::Environment;
pub use meant::Config;
pub use problem::Report;
pub use reading::Flags;

use code::Code;
use overlay::SECTIONS;
use place::{Place, SourceFile};
use problem::{Problem, Problems};
use reading::Reading;
use section::Section;
use tree::Table;

/// Reads one file with its drop-ins, the environment and the flags. The warnings come with the configuration.
pub fn load(path: &Path, flags: &Flags) -> Result<(Config, Report), Report> {
    let folder = locate::folder(path);
    let problems = Problems::default();
    let mut paths = vec![path.to_owned()];
    paths.extend(locate::drop_ins(&folder));
    let files = read_files(&paths, &problems);
    finish(files, Some(path.to_owned()), folder, flags, problems)
}

/// The same from a text that stands in no file.
#[cfg(test)]
fn parse(name: &str, text: &str, folder: &Path, flags: &Flags) -> Result<(Config, Report), Report> {
    let file = SourceFile { name: name.to_owned(), text: text.to_owned() };
    finish(vec![file], None, folder.to_owned(), flags, Problems::default())
}

/// A file that cannot be read still takes its number, so that places stay right.
fn read_files(paths: &[PathBuf], problems: &Problems) -> Vec<SourceFile> {
    let read = |(number, path): (usize, &PathBuf)| {
        let text = locate::text(path).unwrap_or_else(|why| {
            let text = format!("cannot read `{}`: {why}", path.display());
            problems.error(Code::File, &Place::whole(number), text, "`hookonce init` writes a first one");
            String::new()
        });
        SourceFile { name: path.display().to_string(), text }
    };
    paths.iter().enumerate().map(read).collect()
}

fn finish(
    files: Vec<SourceFile>,
    file: Option<PathBuf>,
    folder: PathBuf,
    flags: &Flags,
    problems: Problems,
) -> Result<(Config, Report), Report> {
    let unread = problems.any_error();
    let mut root = Table::default();
    for (number, source) in files.iter().enumerate() {
        let table = tree::parse(number, &source.text, &flags.env, &problems);
        tree::merge(&mut root, table, &files, &problems);
    }
    overlay::apply(&mut root, flags, &problems);
    let dev_secrets = if flags.dev { dev::DevSecrets::beside(&folder) } else { dev::DevSecrets::default() };
    let reading = Reading { flags, folder, dev_secrets, now: now() };
    // A file that could not be read says nothing; complaints about what is not in it would only hide the reason.
    let config = if unread { None } else { Some(mean(&root, file, &reading, &problems)) };
    let report = Report::new(files, problems.take());
    match config {
        Some(config) if !report.has_errors() => Ok((config, report)),
        _ => Err(report),
    }
}

fn now() -> hookonce_core::time::Micros {
    jiff::Timestamp::now().as_microsecond()
}

/// From what was written to what is meant.
fn mean(root: &Table, file: Option<PathBuf>, reading: &Reading<'_>, problems: &Problems) -> Config {
    let top = Section::new("", &Place::whole(0), root, problems);
    for (name, entry) in top.entries().filter(|(name, _)| !SECTIONS.contains(name)) {
        let text = format!("unknown section `[{name}]`");
        problems.error(Code::UnknownSection, &entry.key_at, text, near::hint(name, SECTIONS));
    }
    let (files, ingest, admin) = (top.section("store"), top.section("ingest"), top.section("admin"));
    let sources = top.section("sources");
    let store = store::store(files.as_ref(), reading);
    let config = Config {
        file,
        ingest: server::ingest(ingest.as_ref()),
        admin: server::admin(admin.as_ref()),
        sources: sources.as_ref().map_or_else(Vec::new, |s| read_sources(s, reading)),
        consumers: top.section("consumers").map_or_else(Vec::new, |s| consumers(&s, sources.as_ref(), &store, reading)),
        store,
    };
    server::apart(&config.ingest, &config.admin, admin.as_ref().or(ingest.as_ref()));
    if let Some(outlets) = top.entry("outlets") {
        not_built::refuse(problems, &outlets.key_at, "`[outlets]`", "a consumer with `kind = \"http\"` sends events");
    }
    if config.sources.is_empty() && sources.as_ref().is_none_or(|s| s.entries().next().is_none()) {
        let hint = "add `[sources.NAME]`, or run `hookonce init --source NAME`";
        problems.add(
            Problem::warning(Code::NothingRuns, &Place::whole(0), "no source is configured: nothing will be received")
                .hint(hint),
        );
    }
    config
}

fn read_sources(section: &Section<'_>, reading: &Reading<'_>) -> Vec<meant::Source> {
    let read = |(name, entry): (&str, &tree::Entry)| {
        let inner = section.section_of(name, &entry.node)?;
        let source = source::read(name, &entry.key_at, &inner, reading)?;
        source::default_key(&inner, &source);
        Some(source)
    };
    section.entries().filter_map(read).collect()
}

/// Sources are known by what is written, not by what is right: a source with a mistake is still the one that is meant.
fn consumers(
    section: &Section<'_>,
    sources: Option<&Section<'_>>,
    store: &meant::Store,
    reading: &Reading<'_>,
) -> Vec<meant::Consumer> {
    let names: Vec<&str> = sources.map_or_else(Vec::new, |s| s.entries().map(|(name, _)| name).collect());
    let read = |(name, entry): (&str, &tree::Entry)| {
        let inner = section.section_of(name, &entry.node)?;
        let consumer = consumer::read(name, &entry.key_at, &inner, &names, reading)?;
        if let (meant::Way::Pull, meant::Store::Sqlite { .. }) = (&consumer.way, store) {
            let hint = "its functions are those of PostgreSQL: `[store] url = \"postgres://…\"`";
            not_built::refuse(section.problems(), &entry.key_at, "`kind = \"pull\"` on SQLite", hint);
        }
        Some(consumer)
    };
    section.entries().filter_map(read).collect()
}

#[cfg(test)]
mod tests;
