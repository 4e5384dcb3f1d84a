//! How a command ends when it does not end well: one exit code, what happened, why, and what to do next.

use std::io::Write;
use std::process::ExitCode;

use serde_json::{Value, json};

use super::Context;
use super::output::escape;
use crate::config::Report;

/// The exit codes that scripts may rely on. `Unreachable` says that trying again is safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Done = 0,
    Failed = 1,
    Usage = 2,
    Config = 3,
    NotAuthorised = 4,
    NotFound = 5,
    Precondition = 6,
    Unreachable = 7,
    TimedOut = 8,
    Partly = 9,
    /// A write or a flush of the store failed, so the server ended itself.
    StoreFailed = 10,
    Interrupted = 130,
    Terminated = 143,
}

impl Exit {
    #[cfg(test)]
    pub const ALL: [Exit; 13] = [
        Exit::Done,
        Exit::Failed,
        Exit::Usage,
        Exit::Config,
        Exit::NotAuthorised,
        Exit::NotFound,
        Exit::Precondition,
        Exit::Unreachable,
        Exit::TimedOut,
        Exit::Partly,
        Exit::StoreFailed,
        Exit::Interrupted,
        Exit::Terminated,
    ];

    /// The code of the problem-details object, listed in `docs/ERRORS.md`.
    pub fn name(self) -> &'static str {
        match self {
            Exit::Done => "done",
            Exit::Failed => "failed",
            Exit::Usage => "usage",
            Exit::Config => "config",
            Exit::NotAuthorised => "not-authorised",
            Exit::NotFound => "not-found",
            Exit::Precondition => "precondition",
            Exit::Unreachable => "unreachable",
            Exit::TimedOut => "timed-out",
            Exit::Partly => "partly",
            Exit::StoreFailed => "store-failed",
            Exit::Interrupted => "interrupted",
            Exit::Terminated => "terminated",
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

#[derive(Debug)]
pub struct Failure {
    exit: Exit,
    what: String,
    why: Option<String>,
    next: Option<String>,
    report: Option<Box<Report>>,
    /// Everything has been said already, on stdout or by the other end of a pipe that is gone.
    quiet: bool,
}

impl Failure {
    pub fn new(exit: Exit, what: impl Into<String>) -> Failure {
        Failure { exit, what: what.into(), why: None, next: None, report: None, quiet: false }
    }

    pub fn usage(what: impl Into<String>) -> Failure {
        Failure::new(Exit::Usage, what).next("`--help` shows how")
    }

    pub fn config(report: Report) -> Failure {
        let what = format!("the configuration has {}", report.tally());
        let next = "each error is explained under its code in docs/ERRORS.md".to_owned();
        Failure { report: Some(Box::new(report)), next: Some(next), ..Failure::new(Exit::Config, what) }
    }

    pub fn exit(&self) -> Exit {
        self.exit
    }

    /// Ends with that code and prints nothing: the answer stands on stdout already.
    pub fn quiet(exit: Exit) -> Failure {
        Failure { quiet: true, ..Failure::new(exit, "") }
    }

    pub fn why(self, why: impl Into<String>) -> Failure {
        Failure { why: Some(why.into()), ..self }
    }

    pub fn next(self, next: impl Into<String>) -> Failure {
        Failure { next: Some(next.into()), ..self }
    }

    /// Says it on stderr. That stderr may be gone as well is nobody's concern any more.
    pub fn report(&self, ctx: &Context) -> ExitCode {
        if !self.quiet {
            let mut text = self.text(ctx.output.styled_talk());
            if ctx.output.format().is_json() {
                text.push_str(&format!("{}\n", self.problem_details()));
            }
            let _ = std::io::stderr().write_all(text.as_bytes());
        }
        self.exit.into()
    }

    fn text(&self, styled: bool) -> String {
        let mut text = String::new();
        if let Some(report) = &self.report {
            text.push_str(&report.render(styled));
            text.push_str("\n\n");
        }
        let error = if styled { "\u{1b}[1;31merror\u{1b}[0m" } else { "error" };
        text.push_str(&format!("{error}: {}\n", escape::line(&self.what)));
        if let Some(why) = &self.why {
            text.push_str(&format!("  {}\n", escape::block(why)));
        }
        if let Some(next) = &self.next {
            text.push_str(&format!("hint: {}\n", escape::line(next)));
        }
        text
    }

    /// RFC 9457, on one line.
    pub fn problem_details(&self) -> String {
        let mut object = json!({
            "type": self.exit.name(),
            "title": self.what,
            "exit": self.exit as u8,
        });
        let more = [
            ("detail", self.why.as_ref().map(|w| json!(w))),
            ("hint", self.next.as_ref().map(|n| json!(n))),
            ("errors", self.report.as_ref().map(|r| r.json())),
        ];
        if let Value::Object(map) = &mut object {
            map.extend(more.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
        }
        escape::json(&object.to_string())
    }
}

impl From<std::io::Error> for Failure {
    /// Whoever closed the pipe has seen enough: `hookonce events list | head -1` did what was asked.
    fn from(error: std::io::Error) -> Failure {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Failure::quiet(Exit::Done),
            _ => Failure::new(Exit::Failed, error.to_string()),
        }
    }
}

/// A store that does not open, by what is to be done about it.
fn remedy(error: &anyhow::Error) -> Exit {
    use hookonce::backup::BackupError;
    use hookonce::postgres::OpenError;
    use hookonce::sqlite;
    let backup = error.downcast_ref::<BackupError>();
    let open = match backup {
        Some(BackupError::Postgres(error)) => Some(error),
        Some(
            BackupError::File(..) | BackupError::Sqlite(sqlite::OpenError::Sqlite(_) | sqlite::OpenError::Store(_)),
        ) => None,
        Some(BackupError::StillServed(_)) => return Exit::TimedOut,
        Some(_) => return Exit::Precondition,
        None => error.downcast_ref::<OpenError>(),
    };
    match open {
        Some(OpenError::Unreachable(_)) => Exit::Unreachable,
        Some(OpenError::NotLetIn(_) | OpenError::NoRight(_)) => Exit::NotAuthorised,
        Some(OpenError::Store(_) | OpenError::Postgres(_)) | None => Exit::Failed,
        Some(_) => Exit::Precondition,
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Failure {
        let text = error.to_string();
        let (what, hint) = text.split_once("\nhint: ").map_or((&*text, None), |(what, hint)| (what, Some(hint)));
        let failure = Failure::new(remedy(&error), what);
        let failure = hint.into_iter().fold(failure, Failure::next);
        let causes: Vec<String> = error.chain().skip(1).map(ToString::to_string).collect();
        if causes.is_empty() { failure } else { failure.why(causes.join(": ")) }
    }
}
