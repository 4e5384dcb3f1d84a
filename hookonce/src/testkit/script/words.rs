//! The words of a script line: `name=value` options, durations, outcomes.

use std::collections::BTreeMap;

use hookonce_core::delivery::Outcome;
use hookonce_core::time::{DAY, HOUR, MILLISECOND, MINUTE, Micros, SECOND};

/// One line: a verb, plain words, options, and what it must come to.
#[derive(Clone, Debug)]
pub struct Line {
    pub number: usize,
    pub text: String,
    pub verb: String,
    pub words: Vec<String>,
    pub options: BTreeMap<String, String>,
    /// What stands behind `->`; empty: the line must not say anything.
    pub verdict: String,
}

/// The lines of a script, without comments and empty ones.
pub fn lines(script: &str) -> Vec<Line> {
    let numbered = script.lines().enumerate().map(|(at, text)| (at + 1, text.split('#').next().unwrap_or_default()));
    numbered.filter(|(_, text)| !text.trim().is_empty()).map(|(number, text)| line(number, text)).collect()
}

/// One line of a script.
pub fn line(number: usize, text: &str) -> Line {
    let (said, verdict) = text.split_once("->").unwrap_or((text, ""));
    let mut words = said.split_whitespace().map(str::to_owned);
    let verb = words.next().unwrap_or_default();
    let (mut plain, mut options) = (Vec::new(), BTreeMap::new());
    for word in words {
        match word.split_once('=') {
            Some((name, value)) => drop(options.insert(name.to_owned(), value.to_owned())),
            None => plain.push(word),
        }
    }
    Line { number, text: text.trim().to_owned(), verb, words: plain, options, verdict: verdict.trim().to_owned() }
}

impl Line {
    pub fn word(&self, at: usize) -> Result<&str, String> {
        self.words.get(at).map(String::as_str).ok_or_else(|| format!("word {} is missing", at + 1))
    }

    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.get(name).map(String::as_str)
    }

    pub fn duration(&self, name: &str) -> Result<Option<Micros>, String> {
        self.option(name).map(duration).transpose()
    }

    pub fn number(&self, name: &str) -> Result<Option<i64>, String> {
        self.option(name).map(|text| text.parse().map_err(|_| format!("`{text}` is no number"))).transpose()
    }

    /// The first plain word that is a duration.
    pub fn time(&self) -> Result<Micros, String> {
        self.words.iter().find_map(|word| duration(word).ok()).ok_or_else(|| "a duration is missing".to_owned())
    }
}

const UNITS: [(&str, Micros); 5] = [("ms", MILLISECOND), ("s", SECOND), ("m", MINUTE), ("h", HOUR), ("d", DAY)];

/// `31s`, `-2d`, `1500ms`.
pub fn duration(text: &str) -> Result<Micros, String> {
    let unit = UNITS.iter().find_map(|(name, length)| Some((text.strip_suffix(name)?, length)));
    let parsed = unit.and_then(|(n, length)| n.parse::<i64>().ok()?.checked_mul(*length));
    parsed.ok_or_else(|| format!("`{text}` is no duration"))
}

/// The shortest way to write a duration.
pub fn written(micros: Micros) -> String {
    let fits = UNITS.iter().rev().find(|(_, length)| micros != 0 && micros % length == 0);
    match fits {
        Some((name, length)) => format!("{}{name}", micros / length),
        None if micros == 0 => "0s".to_owned(),
        None => format!("{micros}us"),
    }
}

/// How a run came out: `succeeded`, `failed [after=60s]`, `snoozed 5s`, `discarded`, `parked`, `dead`, `untried 5s`,
/// `deferred 60s`.
pub fn outcome(line: &Line) -> Result<Option<Outcome>, String> {
    let reason = line.option("reason").unwrap_or("because").to_owned();
    Ok(Some(match line.words.iter().find(|w| OUTCOMES.contains(&w.as_str())).map(String::as_str) {
        Some("succeeded") => Outcome::Done,
        Some("failed") => Outcome::Retry { reason, after: line.duration("after")? },
        Some("snoozed") => Outcome::Snooze(line.time()?),
        Some("discarded") => Outcome::Discard(reason),
        Some("parked") => Outcome::Park(reason),
        Some("dead") => Outcome::Dead(reason),
        Some("deferred") => Outcome::Deferred { reason, after: Some(line.time()?) },
        Some("untried") => Outcome::Untried { delay: line.time()? },
        _ => return Ok(None),
    }))
}

const OUTCOMES: [&str; 8] = ["succeeded", "failed", "snoozed", "discarded", "parked", "dead", "untried", "deferred"];
