//! What a load has seen: latencies, refusals, and what it cost the generator.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

/// Clock ticks a second in `/proc`, on every Linux that we know.
const TICKS: f64 = 100.0;

#[derive(Debug, Default)]
pub struct Measured {
    /// Microseconds from the request to its answer, sorted at the end.
    latencies: Vec<u32>,
    /// The same from when it was due, the generator's own lateness included.
    from_due: Vec<u32>,
    /// Answers that were not 200.
    pub refused: u64,
    pub seconds: f64,
    /// The generator's own processor time.
    pub generator_seconds: f64,
}

impl Measured {
    pub fn answered(&mut self, status: u16, took: Duration, from_due: Option<Duration>) {
        if status != 200 {
            self.refused += 1;
            return;
        }
        self.latencies.push(micros(took));
        self.from_due.extend(from_due.map(micros));
    }

    pub fn add(&mut self, other: Measured) {
        self.latencies.extend(other.latencies);
        self.from_due.extend(other.from_due);
        self.refused += other.refused;
    }

    pub fn end(&mut self, took: Duration, cpu: f64) {
        self.latencies.sort_unstable();
        self.from_due.sort_unstable();
        self.seconds = took.as_secs_f64();
        self.generator_seconds = cpu;
    }

    /// An answer other than 200 makes a figure worthless: something else was measured.
    pub fn whole(self) -> Result<Measured> {
        ensure!(self.refused == 0, "{} requests were not answered 200", self.refused);
        ensure!(!self.latencies.is_empty(), "nothing was answered");
        Ok(self)
    }

    pub fn count(&self) -> u64 {
        self.latencies.len() as u64
    }

    pub fn rate(&self) -> f64 {
        self.latencies.len() as f64 / self.seconds
    }

    /// Milliseconds below which that share of the answers came.
    pub fn quantile(&self, q: f64) -> f64 {
        quantile(&self.latencies, q)
    }

    pub fn quantile_from_due(&self, q: f64) -> f64 {
        quantile(&self.from_due, q)
    }

    /// Microseconds of the generator's time for one request.
    pub fn generator_us(&self) -> f64 {
        self.generator_seconds * 1e6 / self.latencies.len().max(1) as f64
    }
}

fn micros(time: Duration) -> u32 {
    u32::try_from(time.as_micros()).unwrap_or(u32::MAX)
}

fn quantile(sorted: &[u32], q: f64) -> f64 {
    let at = ((sorted.len() as f64 * q).ceil() as usize).saturating_sub(1);
    sorted.get(at).map_or(f64::NAN, |us| f64::from(*us) / 1_000.0)
}

/// Processor seconds of the calling thread.
pub fn thread_seconds() -> Result<f64> {
    processor_seconds("/proc/thread-self/stat")
}

/// User and system time of what that file tells of.
pub fn processor_seconds(stat: &str) -> Result<f64> {
    let text = std::fs::read_to_string(stat)?;
    // The name in parentheses may hold anything; the numbers stand behind it.
    let (_, numbers) = text.rsplit_once(')').context("no name in stat")?;
    let numbers: Vec<f64> = numbers.split_whitespace().skip(1).filter_map(|n| n.parse().ok()).collect();
    let (user, system) = (numbers.get(10).context("no utime")?, numbers.get(11).context("no stime")?);
    Ok((user + system) / TICKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles() {
        let mut measured = Measured::default();
        for ms in [5u64, 1, 4, 2, 3] {
            measured.answered(200, Duration::from_millis(ms), None);
        }
        measured.answered(503, Duration::from_millis(9), None);
        measured.end(Duration::from_secs(1), 0.0);
        assert_eq!([0.2, 0.5, 0.99].map(|q| measured.quantile(q)), [1.0, 3.0, 5.0]);
        assert!(measured.quantile_from_due(0.5).is_nan());
        assert_eq!((measured.count(), measured.refused), (5, 1));
        assert!(measured.whole().is_err());
    }
}
