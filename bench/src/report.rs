//! What was measured against which bar: a line each for people, a file for machines.

use std::fs;
use std::path::Path;

use anyhow::Result;
use serde::Serialize;
use serde_json::Value;

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bar {
    AtLeast(f64),
    AtMost(f64),
}

impl Bar {
    fn holds(self, figure: f64) -> bool {
        match self {
            Bar::AtLeast(bar) => figure >= bar,
            Bar::AtMost(limit) => figure <= limit,
        }
    }

    fn words(self) -> String {
        match self {
            Bar::AtLeast(bar) => format!("≥ {bar:.2}"),
            Bar::AtMost(limit) => format!("≤ {limit:.2}"),
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct Line {
    pub what: String,
    pub figure: f64,
    pub bar: Bar,
    pub holds: bool,
    /// Everything else that was seen: rates, quantiles, batch sizes, the pairs.
    pub detail: Value,
}

impl Line {
    pub fn new(what: &str, figure: f64, bar: Bar, detail: Value) -> Line {
        let line = Line { what: what.to_owned(), figure, bar, holds: bar.holds(figure), detail };
        let mark = if line.holds { "holds" } else { "MISSED" };
        println!("{mark:>6}  {what}: {figure:.2} (bar {})  {}", bar.words(), line.detail);
        line
    }
}

/// All lines of a run.
#[derive(Debug)]
pub struct Report {
    name: &'static str,
    /// How busy the machine was before anything was measured: our own load comes on top of it.
    load_before: String,
    lines: Vec<Line>,
}

impl Report {
    pub fn new(name: &'static str) -> Report {
        Report { name, load_before: read("/proc/loadavg"), lines: Vec::new() }
    }

    pub fn add(&mut self, lines: Vec<Line>) {
        self.lines.extend(lines);
    }

    /// Writes `target/bench/<name>.json`; answers whether every bar held.
    pub fn write(&self, folder: &Path) -> Result<bool> {
        fs::create_dir_all(folder)?;
        let machine = serde_json::json!({
            "cores": std::thread::available_parallelism().map_or(0, usize::from),
            "cpu": cpu(),
            "kernel": read("/proc/sys/kernel/osrelease"),
            "load_before": self.load_before,
            "load_after": read("/proc/loadavg"),
            "sqlite": rusqlite::version(),
        });
        let policy = "every ack after its commit: WAL, synchronous=FULL, groups of what waits, at most 1024 items";
        let all = serde_json::json!({ "machine": machine, "commit_policy": policy, "lines": self.lines });
        fs::write(folder.join(format!("{}.json", self.name)), serde_json::to_string_pretty(&all)?)?;
        let missed = self.lines.iter().filter(|l| !l.holds).count();
        println!("{}: {} passed, {missed} failed", self.name, self.lines.len() - missed);
        Ok(missed == 0)
    }
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}

fn cpu() -> String {
    let info = read("/proc/cpuinfo");
    let model = info.lines().find_map(|l| l.strip_prefix("model name")?.split_once(": "));
    model.map(|(_, model)| model.to_owned()).unwrap_or_default()
}
