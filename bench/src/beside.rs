//! Acks beside other work: paused consumers that only cost routing, and a work file that somebody holds locked.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::json;

use crate::bed::Bed;
use crate::child::Server;
use crate::report::Line;
use crate::stats::Ratio;

/// How long the stranger keeps its transaction, and how often it looks whether it shall end.
const HELD: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(10);

/// `n` consumers that take everything and send it nowhere.
fn consumers(n: usize) -> String {
    let one = |i: usize| {
        format!(
            "[consumers.c{i}]\nkind = \"http\"\non = [\"crm/*\"]\nurl = \"http://127.0.0.1:9/hook\"\nallow_private = true\n"
        )
    };
    (0..n).map(one).collect()
}

async fn paused(bed: &Bed, folder: &tempfile::TempDir, n: usize) -> Result<Server> {
    let server = Server::product(&bed.binary, folder.path(), &consumers(n)).await?;
    for i in 0..n {
        server.consumer(&format!("c{i}"), "pause").await?;
    }
    Ok(server)
}

/// acks/s with four paused consumers more ÷ without them.
pub async fn more_consumers(bed: &Bed) -> Result<Vec<Line>> {
    let (mut ratios, mut seen) = (Vec::new(), Vec::new());
    for pair in 0..bed.scale.pairs as u64 {
        let mut rates = [0.0; 2];
        for (at, n) in [1, 5].into_iter().enumerate() {
            let folder = bed.folder()?;
            let server = paused(bed, &folder, n).await?;
            rates[at] = bed.acks(&server, 100 + 2 * pair + at as u64).await?.rate();
            bed.keep_peak(&server)?;
            server.stop()?;
        }
        ratios.push(rates[1] / rates[0]);
        seen.push(json!(rates.map(f64::round)));
    }
    let ratio = Ratio::of(ratios);
    let what = "acks with 4 paused consumers more ÷ without";
    Ok(vec![Line::new(what, ratio.median, bed.scale.at_least(0.9), ratio.detail(seen))])
}

/// p99 while the work file is locked for a second at a time, all the time ÷ p99 without.
pub async fn long_transaction(bed: &Bed, peak: f64) -> Result<Vec<Line>> {
    let (mut ratios, mut seen) = (Vec::new(), Vec::new());
    for pair in 0..bed.scale.pairs as u64 {
        let mut p99 = [0.0; 2];
        for (at, held) in [false, true].into_iter().enumerate() {
            let folder = bed.folder()?;
            let server = paused(bed, &folder, 1).await?;
            let lock = held.then(|| Lock::hold(server.store.clone()));
            p99[at] = bed.paced(&server, peak / 2.0, 200 + 2 * pair + at as u64).await?.quantile(0.99);
            lock.map_or(Ok(()), Lock::release)?;
            bed.keep_peak(&server)?;
            server.stop()?;
        }
        ratios.push(p99[1] / p99[0]);
        seen.push(json!({ "p99_ms": p99[0], "p99_ms_beside_it": p99[1] }));
    }
    let ratio = Ratio::of(ratios);
    let what = "ack p99 with a 1 s transaction on the work file ÷ without";
    Ok(vec![Line::new(what, ratio.median, bed.scale.at_most(1.3), ratio.detail(seen))])
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
                let transaction =
                    rusqlite::Transaction::new_unchecked(&held, rusqlite::TransactionBehavior::Immediate)?;
                let began = Instant::now();
                while began.elapsed() < HELD && !seen.load(Ordering::Acquire) {
                    std::thread::park_timeout(LOOK);
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
