//! Where a setting was written: a span of a file, a variable of the environment, a flag.
//! Not here: what it means. Start at [`Place`].

use std::ops::Range;

/// Every value that the configuration holds knows its place, so that each complaint can point at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    File { file: usize, span: Range<usize> },
    Env(String),
    Flag(&'static str),
}

impl Place {
    /// A file as a whole, for what should stand in it and does not.
    pub fn whole(file: usize) -> Place {
        Place::File { file, span: 0..0 }
    }

    /// From byte `offset` of a text to its end. Where the text is not what stands between the quotes (escapes, several
    /// lines, `${…}`), the whole of it.
    pub fn within(&self, text: &str, offset: usize) -> Place {
        match self {
            Place::File { file, span } if span.len() == text.len() + 2 && text.is_char_boundary(offset) => {
                let start = (span.start + 1 + offset).min(span.end.saturating_sub(1));
                Place::File { file: *file, span: start..span.end.saturating_sub(1).max(start) }
            }
            other => other.clone(),
        }
    }

    /// Sorts complaints as a reader meets them: files in order of reading, then variables, then flags.
    pub fn rank(&self) -> (usize, usize) {
        match self {
            Place::File { file, span } => (*file, span.start),
            Place::Env(_) => (usize::MAX - 1, 0),
            Place::Flag(_) => (usize::MAX, 0),
        }
    }
}

/// One file as it was read.
#[derive(Clone, Debug)]
pub struct SourceFile {
    pub name: String,
    pub text: String,
}

/// Line and column, both from 1, columns counted in characters as editors do.
pub fn line_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset.min(text.len())).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    (line, before[start..].chars().count() + 1)
}

/// How a place is named in text: `hookonce.toml:4:1`, `env HOOKONCE__STORE__URL`, `flag --listen`.
pub fn spoken(place: &Place, files: &[SourceFile]) -> String {
    match place {
        Place::File { file, span } => match files.get(*file) {
            Some(source) => {
                let (line, column) = line_column(&source.text, span.start);
                format!("{}:{line}:{column}", source.name)
            }
            None => "configuration".to_owned(),
        },
        Place::Env(name) => format!("env {name}"),
        Place::Flag(name) => format!("flag {name}"),
    }
}
