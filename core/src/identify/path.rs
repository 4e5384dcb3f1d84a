//! `$.a.b[0]['x']`: the part of RFC 9535 that identity needs, parsed when the configuration is read.
//!
//! A path begins at the item (`$`), at the whole document (`$$`) or at the item's parent element (`$^`). Slices,
//! filters, unions and `..` are refused by name: they select by content or by search, and an id must stand somewhere.

use std::fmt;

/// Steps of one path. More than the depth limit could never match.
pub const MAX_STEPS: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Root {
    Item,
    Document,
    Parent,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    Name(String),
    Index(u32),
    /// Every member or element.
    Any,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path {
    pub root: Root,
    pub steps: Vec<Step>,
}

/// What is wrong, and at which byte of the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PathError {
    pub offset: usize,
    pub message: String,
}

impl Path {
    pub fn parse(text: &str) -> Result<Path, PathError> {
        let (path, used) = Path::parse_prefix(text)?;
        if used < text.len() {
            return Err(at(used, unexpected(text, used)));
        }
        Ok(path)
    }

    /// The longest path at the start of `text`, and how many bytes it took.
    pub fn parse_prefix(text: &str) -> Result<(Path, usize), PathError> {
        let (root, mut used) = match text {
            _ if text.starts_with("$$") => (Root::Document, 2),
            _ if text.starts_with("$^") => (Root::Parent, 2),
            _ if text.starts_with('$') => (Root::Item, 1),
            _ => return Err(at(0, "a path begins with `$`".into())),
        };
        let mut steps = Vec::new();
        while let Some(b'.' | b'[') = text.as_bytes().get(used) {
            let (step, next) = step(text, used)?;
            steps.push(step);
            if steps.len() > MAX_STEPS {
                return Err(at(used, format!("a path has at most {MAX_STEPS} steps")));
            }
            used = next;
        }
        Ok((Path { root, steps }, used))
    }

    /// Whether it can select more than one value.
    pub fn is_many(&self) -> bool {
        self.steps.contains(&Step::Any)
    }
}

fn at(offset: usize, message: String) -> PathError {
    PathError { offset, message }
}

fn unexpected(text: &str, offset: usize) -> String {
    match text.get(offset..).and_then(|rest| rest.chars().next()) {
        Some('-') => "a name with `-` is written in brackets. hint: `['event-data']`".into(),
        Some(c) => format!("unexpected `{}`", c.escape_debug()),
        None => "the path ends here".into(),
    }
}

fn step(text: &str, start: usize) -> Result<(Step, usize), PathError> {
    if text.as_bytes().get(start) == Some(&b'[') { bracket(text, start + 1) } else { dotted(text, start + 1) }
}

fn dotted(text: &str, start: usize) -> Result<(Step, usize), PathError> {
    let rest = text.get(start..).unwrap_or_default();
    if rest.starts_with('*') {
        return Ok((Step::Any, start + 1));
    }
    if rest.starts_with('.') {
        return Err(at(start, "`..` searches; write the whole path".into()));
    }
    let length = name_length(rest);
    match rest.get(..length) {
        Some(name) if length > 0 => Ok((Step::Name(name.to_owned()), start + length)),
        _ => Err(at(start, unexpected(text, start))),
    }
}

/// The shorthand of the RFC: a letter, `_` or anything beyond ASCII, then digits too.
pub fn name_length(text: &str) -> usize {
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_' || !c.is_ascii();
    text.char_indices().find(|(n, c)| !(letter(*c) || *n > 0 && c.is_ascii_digit())).map_or(text.len(), |(n, _)| n)
}

fn bracket(text: &str, start: usize) -> Result<(Step, usize), PathError> {
    let (step, end) = match text.as_bytes().get(start) {
        Some(b'*') => (Step::Any, start + 1),
        Some(quote @ (b'\'' | b'"')) => quoted(text, start + 1, char::from(*quote))?,
        Some(b'0'..=b'9') => index(text, start)?,
        Some(b'-') => return Err(at(start, "an index counts from the front".into())),
        Some(b'?' | b':') => return Err(at(start, "filters and slices are not supported".into())),
        _ => return Err(at(start, unexpected(text, start))),
    };
    match text.as_bytes().get(end) {
        Some(b']') => Ok((step, end + 1)),
        Some(b',' | b':') => Err(at(end, "one step selects one name or one index".into())),
        _ => Err(at(end, "`]` expected".into())),
    }
}

fn index(text: &str, start: usize) -> Result<(Step, usize), PathError> {
    let digits: &str = text.get(start..).unwrap_or_default();
    let length = digits.bytes().take_while(u8::is_ascii_digit).count();
    let digits = digits.get(..length).unwrap_or_default();
    if length > 1 && digits.starts_with('0') {
        return Err(at(start, "an index has no leading zero".into()));
    }
    match digits.parse() {
        Ok(index) => Ok((Step::Index(index), start + length)),
        Err(_) => Err(at(start, format!("index `{digits}` is too large"))),
    }
}

fn quoted(text: &str, start: usize, quote: char) -> Result<(Step, usize), PathError> {
    let mut name = String::new();
    let mut characters = text.get(start..).unwrap_or_default().char_indices();
    while let Some((n, c)) = characters.next() {
        match c {
            _ if c == quote => return Ok((Step::Name(name), start + n + 1)),
            '\\' => match characters.next() {
                Some((_, c @ ('\'' | '"' | '\\' | '/'))) => name.push(c),
                _ => return Err(at(start + n, "only quotes and backslashes are escaped here".into())),
            },
            _ => name.push(c),
        }
    }
    Err(at(start, format!("the closing `{quote}` is missing")))
}

/// The one spelling of a path: equal paths are equal texts.
impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.root {
            Root::Item => "$",
            Root::Document => "$$",
            Root::Parent => "$^",
        })?;
        for step in &self.steps {
            match step {
                Step::Any => f.write_str("[*]")?,
                Step::Index(n) => write!(f, "[{n}]")?,
                Step::Name(name) if !name.is_empty() && name_length(name) == name.len() => write!(f, ".{name}")?,
                Step::Name(name) => write!(f, "['{}']", name.replace('\\', "\\\\").replace('\'', "\\'"))?,
            }
        }
        Ok(())
    }
}
