//! The text forms of the configuration: where a value stands, and templates over such places.
//!
//! `$.path`, `header:Name`, `query:NAME`, `form:NAME`, `form:NAME $.path`, `text:WORD`, `body-sha256`, or a template
//! such as `{Entity}:{Action}`. In braces a bare name means `$.name`, anything else is a place; outside, text is
//! literal and `{{`, `}}` are braces. `{?place}` is a condition. Alternatives are a list of these, the first that holds counts (`rule`).

use std::fmt;

use super::path::{self, Path};

/// Pieces of one template.
pub const MAX_PIECES: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    Json(Path),
    Header(String),
    Query(String),
    Form(String),
    /// JSON inside a form field.
    FormJson(String, Path),
    Constant(String),
    BodyHash,
    /// Something has to stand there for the alternative to hold; it adds no text. In braces only: `{?form:MessageSid}`.
    Present(Box<Place>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    Literal(String),
    Value(Place),
}

/// One alternative. A template of a single place and nothing else is that place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    pub pieces: Vec<Piece>,
}

/// What is wrong with a text, at which of its bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ExprError {
    pub offset: usize,
    pub message: String,
}

fn at<T>(offset: usize, message: impl Into<String>) -> Result<T, ExprError> {
    Err(ExprError { offset, message: message.into() })
}

impl Expr {
    pub fn parse(text: &str) -> Result<Expr, ExprError> {
        if let Some(place) = Place::parse(text, 0)? {
            return Ok(Expr { pieces: vec![Piece::Value(place)] });
        }
        let pieces = template(text)?;
        if !pieces.iter().any(|p| matches!(p, Piece::Value(_))) {
            return at(0, no_place(text));
        }
        if pieces.iter().all(|p| matches!(p, Piece::Value(Place::Present(_)))) {
            return at(0, "a condition is no value. hint: write text beside it: `message.received{?form:MessageSid}`");
        }
        if pieces.len() > MAX_PIECES {
            return at(0, format!("a template has at most {MAX_PIECES} pieces"));
        }
        Ok(Expr { pieces })
    }

    pub fn places(&self) -> impl Iterator<Item = &Place> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Value(place) => Some(place),
            Piece::Literal(_) => None,
        })
    }

    /// The place, where the whole alternative is one.
    pub fn single(&self) -> Option<&Place> {
        match self.pieces.as_slice() {
            [Piece::Value(place)] => Some(place),
            _ => None,
        }
    }
}

fn no_place(text: &str) -> String {
    if text.trim().is_empty() {
        return "nothing is named here. hint: `$.id`, `header:NAME`, `{Name}`".into();
    }
    format!("`{text}` names no place. hint: write `$.{text}` for a field, `text:{text}` for a constant")
}

impl Place {
    /// `Ok(None)`: the text is no place (perhaps a template).
    fn parse(text: &str, offset: usize) -> Result<Option<Place>, ExprError> {
        if text.starts_with('$') {
            return single_path(text, offset).map(Place::Json).map(Some);
        }
        if text == "body-sha256" {
            return Ok(Some(Place::BodyHash));
        }
        let Some((from, name)) = text.split_once(':') else { return Ok(None) };
        let start = offset + from.len() + 1;
        match from {
            "header" => header(name, start).map(Some),
            "query" => named(name, start).map(|n| Some(Place::Query(n))),
            "form" => form(name, start).map(Some),
            "text" => named(name, start).map(|n| Some(Place::Constant(n))),
            "xml" => at(offset, "`xml:` is not built yet"),
            _ => Ok(None),
        }
    }
}

fn single_path(text: &str, offset: usize) -> Result<Path, ExprError> {
    let path = Path::parse(text).map_err(|e| ExprError { offset: offset + e.offset, message: e.message })?;
    if path.is_many() {
        return at(offset, format!("`{text}` selects many values, one is needed"));
    }
    Ok(path)
}

fn header(name: &str, offset: usize) -> Result<Place, ExprError> {
    match http::HeaderName::from_bytes(name.as_bytes()) {
        Ok(name) => Ok(Place::Header(name.as_str().to_owned())),
        Err(_) => at(offset, format!("`{name}` is no header name")),
    }
}

fn named(name: &str, offset: usize) -> Result<String, ExprError> {
    if let Some(brace) = name.find(['{', '}']) {
        return at(offset + brace, "a template names its places in braces. hint: `{header:NAME}:{form:NAME}`");
    }
    if name.is_empty() { at(offset, "a name is missing") } else { Ok(name.to_owned()) }
}

fn form(text: &str, offset: usize) -> Result<Place, ExprError> {
    // A field's name may have spaces, but hardly one before a dollar.
    let Some(space) = text.find(" $") else { return named(text, offset).map(Place::Form) };
    let name = named(&text[..space], offset)?;
    let start = offset + space + 1;
    let path = single_path(&text[space + 1..], start)?;
    match path.root {
        path::Root::Item => Ok(Place::FormJson(name, path)),
        _ => at(start, "a path into a form field begins with `$`"),
    }
}

fn template(text: &str) -> Result<Vec<Piece>, ExprError> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut used = 0;
    while let Some(rest) = text.get(used..).filter(|rest| !rest.is_empty()) {
        if let Some(brace) = ["{{", "}}"].into_iter().find(|b| rest.starts_with(b)) {
            literal.push_str(&brace[1..]);
            used += 2;
        } else if let Some(inside) = rest.strip_prefix('{') {
            let (place, length) = braced(inside, used + 1)?;
            if !literal.is_empty() {
                pieces.push(Piece::Literal(std::mem::take(&mut literal)));
            }
            pieces.push(Piece::Value(place));
            used += length + 2;
        } else if rest.starts_with('}') {
            return at(used, "`}` closes nothing. hint: write `}}` for the character itself");
        } else {
            let run = rest.find(['{', '}']).unwrap_or(rest.len());
            literal.push_str(&rest[..run]);
            used += run;
        }
    }
    if !literal.is_empty() {
        pieces.push(Piece::Literal(literal));
    }
    Ok(pieces)
}

/// The place in braces, `inside` being all that follows the opening one; and its length.
fn braced(inside: &str, offset: usize) -> Result<(Place, usize), ExprError> {
    if let Some(rest) = inside.strip_prefix('?') {
        if rest.starts_with('?') {
            return at(offset + 1, "one `?` is enough");
        }
        let (place, length) = braced(rest, offset + 1)?;
        return Ok((Place::Present(Box::new(place)), length + 1));
    }
    // A path may have a brace in a quoted name, so it says itself where it ends.
    let length = match path_length(inside) {
        Some(length) => length,
        None => inside.find('}').unwrap_or(inside.len()),
    };
    let text = &inside[..length];
    match inside.get(length..).and_then(|rest| rest.chars().next()) {
        Some('}') => {}
        Some(_) => return at(offset + length, path_error(inside, length)),
        None => return at(offset - 1, "this `{` is never closed"),
    }
    if let Some(place) = Place::parse(text, offset)? {
        return Ok((place, length));
    }
    Ok((Place::Json(bare(text, offset)?), length))
}

/// What is wrong behind the part of a path that could be read.
fn path_error(inside: &str, length: usize) -> String {
    let whole = inside.find('}').and_then(|end| inside.get(..end)).unwrap_or(inside);
    match Path::parse(whole) {
        Err(error) if error.offset >= length => error.message,
        _ => "`}` expected".into(),
    }
}

fn path_length(inside: &str) -> Option<usize> {
    let begin = match inside.strip_prefix("form:") {
        Some(_) => inside.find(" $").map(|n| n + 1)?,
        None => 0,
    };
    let path = inside.get(begin..).filter(|p| p.starts_with('$'))?;
    Path::parse_prefix(path).ok().map(|(_, used)| begin + used)
}

/// `{Entity}` is `$.Entity`, `{data.id}` is `$.data.id`.
fn bare(name: &str, offset: usize) -> Result<Path, ExprError> {
    if name.is_empty() {
        return at(offset, "a name is missing");
    }
    single_path(&format!("$.{name}"), 0).map_err(|e| ExprError {
        // The two bytes that we put in front are not the user's.
        offset: offset + e.offset.saturating_sub(2),
        ..e
    })
}

/// The one spelling of a place, with header names in lower case.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Json(path) => write!(f, "{path}"),
            Place::Header(name) => write!(f, "header:{name}"),
            Place::Query(name) => write!(f, "query:{name}"),
            Place::Form(name) => write!(f, "form:{name}"),
            Place::FormJson(name, path) => write!(f, "form:{name} {path}"),
            Place::Constant(text) => write!(f, "text:{text}"),
            Place::BodyHash => f.write_str("body-sha256"),
            Place::Present(place) => write!(f, "?{place}"),
        }
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = self.single() {
            return write!(f, "{place}");
        }
        for piece in &self.pieces {
            match piece {
                Piece::Literal(text) => f.write_str(&text.replace('{', "{{").replace('}', "}}"))?,
                Piece::Value(place) => write!(f, "{{{place}}}")?,
            }
        }
        Ok(())
    }
}

/// The headers that an alternative reads, in lower case; none for a text that is no alternative.
pub fn headers(text: &str) -> Vec<String> {
    fn read(place: &Place) -> Option<String> {
        match place {
            Place::Header(name) => Some(name.clone()),
            Place::Present(place) => read(place),
            _ => None,
        }
    }
    Expr::parse(text).map(|expr| expr.places().filter_map(read).collect()).unwrap_or_default()
}
