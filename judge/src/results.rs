//! What campaigns leave behind: one JSON line per run, appended as it ends. The file is the campaign's state too: a
//! campaign that is resumed leaves out the runs that stand in it.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use crate::checker::{Account, Verdict, Violation};

/// One run of a campaign.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Row {
    pub series: u64,
    pub seed: u64,
    pub cycles: u64,
    pub commit: String,
    pub at: String,
    pub outcome: Outcome,
    pub account: Account,
    pub slowest_start_ms: u64,
    /// Faults that were meant to happen and did not, by name.
    pub missed: BTreeMap<String, u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Clean,
    Void(Vec<String>),
    Violated(Vec<Violation>),
}

impl From<&Verdict> for Outcome {
    fn from(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Clean(_) => Self::Clean,
            Verdict::Void(why, _) => Self::Void(why.clone()),
            Verdict::Violated(found, _) => Self::Violated(found.clone()),
        }
    }
}

#[derive(Debug)]
pub struct Results {
    path: PathBuf,
    pub rows: Vec<Row>,
}

impl Results {
    /// Without `resume` the file starts anew.
    pub fn open(path: &Path, resume: bool) -> Result<Self> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let text = if resume && path.exists() { std::fs::read_to_string(path)? } else { String::new() };
        let rows: Result<Vec<Row>, _> = text.lines().map(serde_json::from_str).collect();
        let rows = rows.with_context(|| format!("`{}` is not a results file", path.display()))?;
        std::fs::write(path, text)?;
        Ok(Self { path: path.to_path_buf(), rows })
    }

    pub fn has(&self, series: u64) -> bool {
        self.rows.iter().any(|r| r.series == series)
    }

    pub fn add(&mut self, row: Row) -> Result<()> {
        let mut line = serde_json::to_vec(&row)?;
        line.push(b'\n');
        OpenOptions::new().append(true).open(&self.path)?.write_all(&line)?;
        self.rows.push(row);
        Ok(())
    }

    /// The figures of all runs together.
    pub fn sum(&self) -> Sum {
        let mut sum = Sum { runs: self.rows.len() as u64, ..Sum::default() };
        for row in &self.rows {
            sum.add(row);
        }
        sum
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sum {
    pub runs: u64,
    pub cycles: u64,
    pub sent: u64,
    pub acked: u64,
    pub unknown: u64,
    pub events: u64,
    pub lost: u64,
    pub recovered: u64,
    pub unexpected: u64,
    pub doubled: u64,
    pub arrivals: u64,
    pub slowest_start_ms: u64,
    pub faults: BTreeMap<String, u64>,
    pub void: Vec<String>,
    pub violated: Vec<String>,
    /// Time and commit of the last run.
    pub last: String,
    pub commit: String,
}

impl Sum {
    fn add(&mut self, row: &Row) {
        let a = &row.account;
        self.cycles += row.cycles;
        for (total, part) in [
            (&mut self.sent, a.sent),
            (&mut self.acked, a.acked),
            (&mut self.unknown, a.unknown),
            (&mut self.events, a.events),
            (&mut self.lost, a.lost),
            (&mut self.recovered, a.recovered),
            (&mut self.unexpected, a.unexpected),
            (&mut self.doubled, a.doubled),
            (&mut self.arrivals, a.arrivals),
        ] {
            *total += part;
        }
        (self.last, self.commit) = (row.at.clone(), row.commit.clone());
        self.slowest_start_ms = self.slowest_start_ms.max(row.slowest_start_ms);
        for (fault, n) in &a.faults {
            *self.faults.entry(fault.clone()).or_default() += n;
        }
        let name = format!("run {} (seed {})", row.series, row.seed);
        match &row.outcome {
            Outcome::Clean => {}
            Outcome::Void(why) => self.void.push(format!("{name}: {}", why.join("; "))),
            Outcome::Violated(found) => self.violated.extend(found.iter().map(|v| format!("{name}: {v}"))),
        }
    }

    /// Passed, or an error that says all of what is wrong.
    pub fn verdict(&self) -> Result<()> {
        let wrong: Vec<&String> = self.violated.iter().chain(&self.void).collect();
        if wrong.is_empty() {
            return Ok(());
        }
        let words: Vec<String> = wrong.iter().map(|w| format!("  {w}")).collect();
        bail!("{} violations, {} void runs:\n{}", self.violated.len(), self.void.len(), words.join("\n"))
    }

    /// A row of `docs/FAULTS.md`.
    pub fn row(&self, fault: &str, command: &str) -> String {
        let (date, commit) = (self.last.split('T').next().unwrap_or(""), &self.commit);
        format!(
            "| {fault} | {} | {} | {} | {} | {date} | `{commit}` | `{command}` |",
            self.cycles, self.acked, self.lost, self.doubled
        )
    }

    pub fn words(&self) -> String {
        let faults: Vec<String> = self.faults.iter().map(|(f, n)| format!("{f} {n}")).collect();
        format!(
            "{} cycles in {} runs: {} sent, {} acked, {} unknown, {} events, {} recovered, {} arrivals; \
             lost {}, doubled {}, unexpected {}; slowest start {} ms; {}",
            self.cycles,
            self.runs,
            self.sent,
            self.acked,
            self.unknown,
            self.events,
            self.recovered,
            self.arrivals,
            self.lost,
            self.doubled,
            self.unexpected,
            self.slowest_start_ms,
            faults.join(", "),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(series: u64, outcome: Outcome) -> Row {
        let account = Account { acked: 10, lost: 1, ..Account::default() };
        let (seed, cycles, slowest_start_ms) = (1, 5, series);
        Row {
            series,
            seed,
            cycles,
            commit: String::new(),
            at: String::new(),
            outcome,
            account,
            slowest_start_ms,
            missed: BTreeMap::new(),
        }
    }

    #[test]
    fn a_resumed_campaign_knows_what_is_done_and_a_new_one_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kill/results.jsonl");
        let mut results = Results::open(&path, false).unwrap();
        results.add(row(3, Outcome::Clean)).unwrap();
        assert!(Results::open(&path, true).unwrap().has(3));
        assert!(!Results::open(&path, true).unwrap().has(4));
        assert!(!Results::open(&path, false).unwrap().has(3));
    }

    #[test]
    fn a_row_says_what_was_run_and_what_came_of_it() {
        let mut results = Results::open(&tempfile::tempdir().unwrap().path().join("r"), false).unwrap();
        let (at, commit) = ("2026-12-01T10:00:00Z".into(), "abc".into());
        results.rows.push(Row { at, commit, ..row(1, Outcome::Clean) });
        let due = "| X1 | 5 | 10 | 1 | 0 | 2026-12-01 | `abc` | `cargo xtask campaign kill` |";
        assert_eq!(results.sum().row("X1", "cargo xtask campaign kill"), due);
    }

    #[test]
    fn void_and_violated_runs_do_not_pass() {
        let folder = tempfile::tempdir().unwrap();
        let mut results = Results::open(&folder.path().join("r"), false).unwrap();
        results.add(row(1, Outcome::Clean)).unwrap();
        assert!(results.sum().verdict().is_ok());
        results.add(row(2, Outcome::Void(vec!["no fault".into()]))).unwrap();
        assert!(results.sum().verdict().unwrap_err().to_string().contains("no fault"));
        assert_eq!(
            (results.sum().acked, results.sum().lost, results.sum().cycles, results.sum().slowest_start_ms),
            (20, 2, 10, 2)
        );
    }
}
