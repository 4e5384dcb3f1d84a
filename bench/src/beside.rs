//! Acks beside other work: paused consumers that only cost routing, and a work file that somebody holds locked.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::json;
use tempfile::TempDir;

use crate::acks::measure;
use crate::child::{Config, Server};
use crate::load::{self, Load};
use crate::report::Line;
use crate::scale::Scale;
use crate::stats::Ratio;

/// `n` consumers that take everything and send it nowhere.
fn consumers(n: usize) -> Config {
    let one = |i: usize| {
        format!(
            "[consumers.c{i}]\nkind = \"http\"\non = [\"crm/*\"]\nurl = \"http://127.0.0.1:9/hook\"\nallow_private = true\n"
        )
    };
    Config { consumers: (0..n).map(one).collect() }
}

async fn paused(binary: &Path, folder: &Path, n: usize) -> Result<Server> {
    let server = Server::product(binary, folder, &consumers(n)).await?;
    for i in 0..n {
        server.consumer(&format!("c{i}"), "pause").await?;
    }
    Ok(server)
}

/// acks/s with four paused consumers more ÷ without them.
pub async fn more_consumers(binary: &Path, scale: &Scale) -> Result<Vec<Line>> {
    let mut ratios = Vec::new();
    for pair in 0..scale.pairs as u64 {
        let mut rates = [0.0; 2];
        for (at, n) in [1, 5].into_iter().enumerate() {
            let folder = TempDir::new()?;
            let server = paused(binary, folder.path(), n).await?;
            rates[at] = measure(&server, scale, 100 + 2 * pair + at as u64).await?.rate();
            server.stop()?;
        }
        ratios.push(rates[1] / rates[0]);
    }
    let ratio = Ratio::of(ratios);
    let detail = json!({ "low": ratio.low, "high": ratio.high });
    Ok(vec![Line::new("acks with 4 paused consumers more ÷ without", ratio.median, scale.at_least(0.9), detail)])
}

/// p99 while the work file is locked for a second at a time, all the time ÷ p99 without.
pub async fn long_transaction(binary: &Path, scale: &Scale, peak: f64) -> Result<Vec<Line>> {
    let mut ratios = Vec::new();
    let mut seen = Vec::new();
    for pair in 0..scale.pairs as u64 {
        let mut p99 = [0.0; 2];
        for (at, held) in [false, true].into_iter().enumerate() {
            let folder = TempDir::new()?;
            let server = paused(binary, folder.path(), 1).await?;
            let lock = held.then(|| Lock::hold(server.store.clone()));
            let load = Load {
                address: server.ingest,
                source: "crm",
                seconds: scale.seconds,
                rate: Some(peak / 2.0),
                seed: 200 + 2 * pair + at as u64,
                lanes: 0,
            };
            p99[at] = load::run(load).await?.quantile(0.99);
            if let Some(lock) = lock {
                lock.release()?;
            }
            server.stop()?;
        }
        ratios.push(p99[1] / p99[0]);
        seen.push(p99);
    }
    let ratio = Ratio::of(ratios);
    let detail = json!({ "low": ratio.low, "high": ratio.high, "p99_ms": seen });
    Ok(vec![Line::new("ack p99 with a 1 s transaction on the work file ÷ without", ratio.median, scale.at_most(1.3), detail)])
}

/// A stranger's write transaction on the work file.
struct Lock {
    stop: Arc<AtomicBool>,
    thread: std::thread::JoinHandle<Result<()>>,
}

impl Lock {
    fn hold(store: PathBuf) -> Lock {
        let stop = Arc::new(AtomicBool::new(false));
        let seen = stop.clone();
        let thread = std::thread::spawn(move || {
            let held = rusqlite::Connection::open(store)?;
            held.busy_timeout(Duration::from_secs(10))?;
            while !seen.load(Ordering::Acquire) {
                let transaction = rusqlite::Transaction::new_unchecked(&held, rusqlite::TransactionBehavior::Immediate)?;
                let began = Instant::now();
                while began.elapsed() < Duration::from_secs(1) && !seen.load(Ordering::Acquire) {
                    std::thread::park_timeout(Duration::from_millis(10));
                }
                transaction.rollback()?;
            }
            Ok(())
        });
        Lock { stop, thread }
    }

    fn release(self) -> Result<()> {
        self.stop.store(true, Ordering::Release);
        self.thread.join().map_err(|_| anyhow::anyhow!("the locker panicked"))?
    }
}
