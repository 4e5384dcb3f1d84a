//! The output contract: stdout is data in one of five formats, stderr is talk. Commands build a [`Listing`] or a
//! JSON value and never print by themselves, so that no format can be forgotten.

pub mod escape;
mod listing;
pub mod time;

use std::io::Write;

use clap::ValueEnum;
use hookonce_core::time::Micros;
use serde_json::Value;

use super::Failure;
pub use listing::{Cell, Column, Listing};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Table,
    Json,
    Jsonl,
    Csv,
    Id,
}

impl Format {
    pub fn is_json(self) -> bool {
        matches!(self, Format::Json | Format::Jsonl)
    }
}

#[derive(Debug)]
pub struct Output {
    format: Format,
    styled_talk: bool,
    now: Micros,
}

impl Output {
    pub fn new(format: Format, styled_talk: bool) -> Output {
        Output { format, styled_talk, now: jiff::Timestamp::now().as_microsecond() }
    }

    pub fn format(&self) -> Format {
        self.format
    }

    pub fn styled_talk(&self) -> bool {
        self.styled_talk
    }

    /// Rows of things. An empty list is data too: programs get an empty document, people a line of talk.
    pub fn list(&self, listing: &Listing) -> Result<(), Failure> {
        if listing.is_empty() && self.format == Format::Table {
            self.say("nothing to show");
            return Ok(());
        }
        self.bytes(listing.text(self.format, self.now).as_bytes())
    }

    /// One thing: `value` for programs (its first member is its id), `human` for people.
    pub fn thing(&self, value: &Value, human: impl FnOnce() -> String) -> Result<(), Failure> {
        match self.format {
            Format::Table => self.bytes(format!("{}\n", escape::block(human().trim_end_matches('\n'))).as_bytes()),
            Format::Json | Format::Jsonl => self.bytes(format!("{}\n", escape::json(&value.to_string())).as_bytes()),
            Format::Csv | Format::Id => self.list(&Listing::of_object(value)),
        }
    }

    /// Data as it is: raw bodies, completions.
    pub fn bytes(&self, bytes: &[u8]) -> Result<(), Failure> {
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(Failure::from)
    }

    /// Talk. Lost talk is no failure.
    pub fn say(&self, text: &str) {
        let _ = writeln!(std::io::stderr(), "{}", escape::block(text));
    }

    /// Talk that carries its own style, such as a rendered report.
    pub fn say_rendered(&self, text: &str) {
        let _ = writeln!(std::io::stderr(), "{text}");
    }
}
