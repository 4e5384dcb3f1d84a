//! Problems of a configuration and how they are shown: every one of them, each with its place, the line, a caret and
//! the next step. Not here: finding them. Start at [`Problems`] (collects) and [`Report`] (shows).

use std::cell::RefCell;
use std::collections::BTreeSet;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet, normalize_untrusted_str};
use serde_json::{Value, json};

use super::code::Code;
use super::mask;
use super::place::{Place, SourceFile, line_column, spoken};

/// Lines that are reported as no TOML; those behind them are most often right again when these are.
const MAX_SYNTAX_ERRORS: usize = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    Error,
    Warning,
}

#[derive(Clone, Debug)]
pub struct Problem {
    pub severity: Severity,
    pub code: Code,
    pub at: Place,
    pub text: String,
    pub hint: Option<String>,
    /// A second place that the text speaks of.
    pub also: Option<(Place, String)>,
}

impl Problem {
    pub fn error(code: Code, at: &Place, text: impl Into<String>) -> Problem {
        Problem { severity: Severity::Error, code, at: at.clone(), text: text.into(), hint: None, also: None }
    }

    pub fn warning(code: Code, at: &Place, text: impl Into<String>) -> Problem {
        Problem { severity: Severity::Warning, ..Problem::error(code, at, text) }
    }

    pub fn hint(self, hint: impl Into<String>) -> Problem {
        Problem { hint: Some(hint.into()), ..self }
    }

    pub fn also(self, at: &Place, label: &str) -> Problem {
        Problem { also: Some((at.clone(), label.to_owned())), ..self }
    }
}

/// Where readers drop what they find. Shared by reference, so that a section and the sections in it can both complain.
#[derive(Debug, Default)]
pub struct Problems(RefCell<Vec<Problem>>);

impl Problems {
    pub fn add(&self, problem: Problem) {
        self.0.borrow_mut().push(problem);
    }

    pub fn error(&self, code: Code, at: &Place, text: impl Into<String>, hint: impl Into<String>) {
        self.add(Problem::error(code, at, text).hint(hint));
    }

    pub fn any_error(&self) -> bool {
        self.0.borrow().iter().any(|p| p.severity == Severity::Error)
    }

    pub fn take(&self) -> Vec<Problem> {
        self.0.take()
    }
}

/// All problems of one reading, in the order of the files.
#[derive(Clone, Debug, Default)]
pub struct Report {
    pub files: Vec<SourceFile>,
    pub problems: Vec<Problem>,
}

impl Report {
    pub fn new(files: Vec<SourceFile>, mut problems: Vec<Problem>) -> Report {
        let broken: BTreeSet<Line> =
            problems.iter().filter(|p| p.code == Code::Syntax).filter_map(|p| line_of(&p.at, &files)).collect();
        if !broken.is_empty() {
            // What a line that is no TOML seems to say beside that is a guess.
            let guess = |p: &Problem| line_of(&p.at, &files).is_some_and(|line| broken.contains(&line));
            problems.retain(|p| p.code == Code::Syntax || !(p.code.needs_whole_file() || guess(p)));
            few_syntax_errors(&mut problems, &files);
        }
        problems.sort_by_key(|p| p.at.rank());
        Report { files, problems }
    }

    pub fn count(&self, severity: Severity) -> usize {
        self.problems.iter().filter(|p| p.severity == severity).count()
    }

    pub fn has_errors(&self) -> bool {
        self.count(Severity::Error) > 0
    }

    /// For people. Lines are shown with everything masked that might be a secret.
    pub fn render(&self, styled: bool) -> String {
        let renderer = if styled { Renderer::styled() } else { Renderer::plain() };
        let masked: Vec<SourceFile> =
            self.files.iter().map(|f| SourceFile { name: f.name.clone(), text: mask::masked(&f.text) }).collect();
        let shown: Vec<String> = self.problems.iter().map(|p| renderer.render(&[group(p, &masked)])).collect();
        shown.join("\n\n")
    }

    /// For programs: the `errors` member of a problem-details object.
    pub fn json(&self) -> Value {
        self.problems.iter().map(|p| problem_json(p, &self.files)).collect()
    }

    /// `1 error, 2 warnings`.
    pub fn tally(&self) -> String {
        let say = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
        let (errors, warnings) = (self.count(Severity::Error), self.count(Severity::Warning));
        match (errors, warnings) {
            (_, 0) => say(errors, "error"),
            (0, _) => say(warnings, "warning"),
            _ => format!("{}, {}", say(errors, "error"), say(warnings, "warning")),
        }
    }
}

/// File and line.
type Line = (usize, usize);

/// One missing bracket makes every line behind it wrong: the first complaint of a line, and the first lines, say it.
fn few_syntax_errors(problems: &mut Vec<Problem>, files: &[SourceFile]) {
    let mut seen = BTreeSet::new();
    problems.sort_by_key(|p| p.at.rank());
    problems.retain(|p| {
        p.code != Code::Syntax
            || line_of(&p.at, files).is_none_or(|line| seen.insert(line)) && seen.len() <= MAX_SYNTAX_ERRORS
    });
}

fn line_of(place: &Place, files: &[SourceFile]) -> Option<Line> {
    match place {
        Place::File { file, span } => Some((*file, line_column(&files.get(*file)?.text, span.start).0)),
        _ => None,
    }
}

fn problem_json(problem: &Problem, files: &[SourceFile]) -> Value {
    let mut object = json!({
        "code": problem.code.name(),
        "severity": if problem.severity == Severity::Error { "error" } else { "warning" },
        "at": spoken(&problem.at, files),
        "detail": problem.text,
        "hint": problem.hint,
    });
    if let (Place::File { file, span }, Some(map)) = (&problem.at, object.as_object_mut())
        && let Some(source) = files.get(*file)
    {
        let (line, column) = line_column(&source.text, span.start);
        map.insert("file".to_owned(), json!(source.name));
        map.insert("line".to_owned(), json!(line));
        map.insert("column".to_owned(), json!(column));
    }
    object
}

fn group<'a>(problem: &'a Problem, files: &'a [SourceFile]) -> Group<'a> {
    let level = match problem.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(problem.text.as_str()).id(problem.code.name());
    let mut group = located(Group::with_title(title), problem, files);
    if let Some((place, label)) = &problem.also
        && !same_file(place, &problem.at)
    {
        let said = normalize_untrusted_str(&format!("{label}: {}", spoken(place, files)));
        group = group.element(Level::NOTE.message(said));
    }
    match &problem.hint {
        // A message may carry style, so what the user wrote is made harmless here; titles are by the renderer.
        Some(hint) => group.element(Level::HELP.with_name("hint").message(normalize_untrusted_str(hint))),
        None => group,
    }
}

fn located<'a>(group: Group<'a>, problem: &'a Problem, files: &'a [SourceFile]) -> Group<'a> {
    let Place::File { file, span } = &problem.at else {
        return group.element(Origin::path(spoken(&problem.at, files)));
    };
    let Some(source) = files.get(*file) else { return group };
    if span.is_empty() && span.start == 0 {
        return group.element(Origin::path(source.name.as_str()));
    }
    let mut snippet = Snippet::source(source.text.as_str())
        .path(source.name.as_str())
        .annotation(AnnotationKind::Primary.span(one_line(&source.text, span.clone())));
    if let Some((Place::File { file: other, span: second }, label)) = &problem.also
        && other == file
    {
        let second = one_line(&source.text, second.clone());
        snippet = snippet.annotation(AnnotationKind::Context.span(second).label(label.as_str()));
    }
    group.element(snippet)
}

fn same_file(a: &Place, b: &Place) -> bool {
    matches!((a, b), (Place::File { file: x, .. }, Place::File { file: y, .. }) if x == y)
}

/// Only the first line of a long span is worth pointing at, and an empty one still needs a caret.
fn one_line(text: &str, span: std::ops::Range<usize>) -> std::ops::Range<usize> {
    let start = span.start.min(text.len());
    let end = span.end.clamp(start, text.len());
    let first = text.get(start..end).and_then(|s| s.find('\n')).map_or(end, |at| start + at);
    start..first
}
