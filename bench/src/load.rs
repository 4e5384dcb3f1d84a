//! The load generator: closed loop (as fast as answers come) and open loop (at a rate, whatever comes).
//!
//! One thread with a runtime of its own: on a machine of two cores a second one would only take turns with the server.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use crate::body::Sender;
use crate::measured::{Measured, thread_seconds};

/// What the design's bars are measured with.
pub const CONNECTIONS: u64 = 64;
/// An answer larger than this is not one of ours.
const ANSWER: usize = 4_096;
/// Every server of the bench has this source.
const SOURCE: &str = "crm";

/// When a load is over.
#[derive(Clone, Copy, Debug)]
pub enum Until {
    Seconds(f64),
    /// So many were sent.
    Sent(u64),
}

#[derive(Clone, Copy, Debug)]
pub struct Load {
    pub address: SocketAddr,
    pub until: Until,
    /// `None`: closed loop. Else requests a second in all.
    pub rate: Option<f64>,
    pub seed: u64,
}

/// Runs the load to its end.
pub async fn run(load: Load) -> Result<Measured> {
    let generate = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(connections(load))
    };
    tokio::task::spawn_blocking(generate).await?
}

async fn connections(load: Load) -> Result<Measured> {
    let (left, end) = match load.until {
        Until::Seconds(seconds) => (u64::MAX, Some(Duration::from_secs_f64(seconds))),
        Until::Sent(count) => (count, None),
    };
    let mut streams = Vec::new();
    for _ in 0..CONNECTIONS {
        let stream = TcpStream::connect(load.address).await.context("the server does not listen")?;
        stream.set_nodelay(true)?;
        streams.push(stream);
    }
    let (left, start, cpu) = (Arc::new(AtomicU64::new(left)), Instant::now(), thread_seconds()?);
    let mut tasks = JoinSet::new();
    for (stream, n) in streams.into_iter().zip(0u64..) {
        let pace = load.rate.map(|rate| Pace { step: CONNECTIONS as f64 / rate, first: n as f64 / rate });
        let sender = Sender::new(SOURCE, load.seed.wrapping_mul(CONNECTIONS).wrapping_add(n) << 20);
        let link = Link { stream, buffer: vec![0; ANSWER], start, end: end.map(|e| start + e), left: left.clone() };
        tasks.spawn(link.run(sender, pace));
    }
    let mut all = Measured::default();
    while let Some(done) = tasks.join_next().await {
        all.add(done??);
    }
    all.end(start.elapsed(), thread_seconds()? - cpu);
    Ok(all)
}

/// When one connection's requests are due, in seconds after the start.
#[derive(Clone, Copy, Debug)]
struct Pace {
    step: f64,
    first: f64,
}

struct Link {
    stream: TcpStream,
    buffer: Vec<u8>,
    start: Instant,
    end: Option<Instant>,
    left: Arc<AtomicU64>,
}

impl Link {
    async fn run(mut self, mut sender: Sender, pace: Option<Pace>) -> Result<Measured> {
        let mut measured = Measured::default();
        for n in 0u32.. {
            let request = sender.next();
            let due = pace.map(|p| self.start + Duration::from_secs_f64(p.first + p.step * f64::from(n)));
            let began = begun(due).await;
            if self.over(began) {
                break;
            }
            self.stream.write_all(request).await?;
            let status = self.answer().await?;
            measured.answered(status, began.elapsed(), due.map(|due| due.elapsed()));
        }
        Ok(measured)
    }

    fn over(&self, now: Instant) -> bool {
        let none = || self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_err();
        self.end.is_some_and(|end| now >= end) || none()
    }

    /// Reads one whole answer; connections are kept alive and nothing is pipelined.
    async fn answer(&mut self) -> Result<u16> {
        let mut filled = 0;
        loop {
            let n = self.stream.read(self.buffer.get_mut(filled..).unwrap_or_default()).await?;
            if n == 0 {
                bail!("the server closed the connection after {filled} bytes of an answer");
            }
            filled += n;
            let got = &self.buffer[..filled];
            let Some(head) = got.windows(4).position(|w| w == b"\r\n\r\n") else { continue };
            let text = std::str::from_utf8(&got[..head]).context("the answer's head is no text")?;
            if filled >= head + 4 + length(text) {
                return text.get(9..12).and_then(|s| s.parse().ok()).context("the answer has no status");
            }
        }
    }
}

/// Waits until a request is due, and says when its clock starts: when it was due if the answer before it came later
/// than that, for a stall is paid by all who wait behind it; else now, for a timer that wakes late is ours alone.
async fn begun(due: Option<Instant>) -> Instant {
    match due {
        Some(due) if due <= Instant::now() => due,
        Some(due) => {
            sleep_until(due).await;
            Instant::now()
        }
        None => Instant::now(),
    }
}

fn length(head: &str) -> usize {
    let value = |line: &str| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    };
    head.lines().find_map(value).unwrap_or(0)
}
