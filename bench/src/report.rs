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

/// Writes `target/bench/<name>.json`; answers whether every bar held.
pub fn write(folder: &Path, name: &str, lines: &[Line]) -> Result<bool> {
    fs::create_dir_all(folder)?;
    let machine = serde_json::json!({
        "cores": std::thread::available_parallelism().map_or(0, usize::from),
        "load": fs::read_to_string("/proc/loadavg").unwrap_or_default().trim(),
        "kernel": fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim(),
    });
    let all = serde_json::json!({ "machine": machine, "lines": lines });
    fs::write(folder.join(format!("{name}.json")), serde_json::to_string_pretty(&all)?)?;
    let missed = lines.iter().filter(|l| !l.holds).count();
    println!("{name}: {} passed, {missed} failed", lines.len() - missed);
    Ok(missed == 0)
}
