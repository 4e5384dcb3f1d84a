//! What the disk under a folder can do: fdatasync of 4 KiB, before and after a measurement.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;

const WRITES: usize = 500;

/// The 99th percentile of 500 writes of 4 KiB with an fdatasync each, in milliseconds.
pub fn fdatasync_p99(folder: &Path) -> Result<f64> {
    let path = folder.join("fdatasync.probe");
    let mut file = File::create(&path)?;
    let page = [7u8; 4_096];
    let mut took = Vec::with_capacity(WRITES);
    for _ in 0..WRITES {
        let began = Instant::now();
        file.write_all(&page)?;
        file.sync_data()?;
        took.push(began.elapsed().as_secs_f64() * 1_000.0);
    }
    std::fs::remove_file(path)?;
    took.sort_by(f64::total_cmp);
    Ok(took.get(WRITES * 99 / 100).copied().unwrap_or(f64::NAN))
}
