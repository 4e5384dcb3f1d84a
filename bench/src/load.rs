//! The load generator: closed loop (as fast as answers come) and open loop (at a rate, whatever comes).

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::body::Sender;

/// What the design's bars are measured with.
pub const CONNECTIONS: u64 = 64;
/// An answer larger than this is not one of ours.
const ANSWER: usize = 4_096;

#[derive(Clone, Copy, Debug)]
pub struct Load<'a> {
    pub address: SocketAddr,
    pub source: &'a str,
    pub seconds: f64,
    /// `None`: closed loop. Else requests a second in all.
    pub rate: Option<f64>,
    pub seed: u64,
    pub lanes: u64,
}

/// Latencies in microseconds, sorted, and what was not a 200.
#[derive(Debug, Default)]
pub struct Measured {
    pub latencies: Vec<u32>,
    pub refused: u64,
    pub seconds: f64,
}

impl Measured {
    pub fn rate(&self) -> f64 {
        self.latencies.len() as f64 / self.seconds
    }

    /// Milliseconds below which that share of the answers came.
    pub fn quantile(&self, q: f64) -> f64 {
        let at = ((self.latencies.len() as f64 * q).ceil() as usize).saturating_sub(1);
        self.latencies.get(at).map_or(f64::NAN, |us| f64::from(*us) / 1_000.0)
    }
}

pub async fn run(load: Load<'_>) -> Result<Measured> {
    let start = Instant::now();
    let mut tasks = JoinSet::new();
    for n in 0..CONNECTIONS {
        let (address, source) = (load.address, load.source.to_owned());
        let sender = Sender::new(load.seed.wrapping_mul(1_000_003).wrapping_add(n), load.lanes);
        let pace = load.rate.map(|rate| Pace { step: CONNECTIONS as f64 / rate, first: n as f64 / rate });
        let until = start + Duration::from_secs_f64(load.seconds);
        tasks.spawn(async move { connection(address, &source, sender, pace, start, until).await });
    }
    let mut all = Measured { seconds: load.seconds, ..Measured::default() };
    while let Some(done) = tasks.join_next().await {
        let (latencies, refused) = done??;
        all.latencies.extend(latencies);
        all.refused += refused;
    }
    all.latencies.sort_unstable();
    Ok(all)
}

/// When one connection's requests are due, in seconds after the start.
#[derive(Clone, Copy, Debug)]
struct Pace {
    step: f64,
    first: f64,
}

async fn connection(
    address: SocketAddr,
    source: &str,
    mut sender: Sender,
    pace: Option<Pace>,
    start: Instant,
    until: Instant,
) -> Result<(Vec<u32>, u64)> {
    let mut stream = TcpStream::connect(address).await.context("the server does not listen")?;
    stream.set_nodelay(true)?;
    let (mut latencies, mut refused, mut n) = (Vec::new(), 0, 0u32);
    let mut buffer = vec![0u8; ANSWER];
    loop {
        let due = pace.map(|p| start + Duration::from_secs_f64(p.first + p.step * f64::from(n)));
        n += 1;
        sender.next(source);
        if let Some(due) = due {
            tokio::time::sleep_until(due).await;
        }
        // The clock starts when the request was due, not when it got its turn: a stall is paid by all who wait behind it.
        let began = due.unwrap_or_else(Instant::now);
        if began >= until {
            return Ok((latencies, refused));
        }
        stream.write_all(&sender.request).await?;
        let status = answer(&mut stream, &mut buffer).await?;
        if status == 200 {
            latencies.push(u32::try_from(began.elapsed().as_micros()).unwrap_or(u32::MAX));
        } else {
            refused += 1;
        }
    }
}

/// Reads one whole answer; connections are kept alive and nothing is pipelined.
async fn answer(stream: &mut TcpStream, buffer: &mut [u8]) -> Result<u16> {
    let mut filled = 0;
    loop {
        let n = stream.read(buffer.get_mut(filled..).unwrap_or_default()).await?;
        if n == 0 {
            bail!("the server closed the connection after {filled} bytes of an answer");
        }
        filled += n;
        let got = &buffer[..filled];
        let Some(head) = got.windows(4).position(|w| w == b"\r\n\r\n") else { continue };
        let text = std::str::from_utf8(&got[..head]).context("the answer's head is no text")?;
        if filled >= head + 4 + length(text) {
            return text.get(9..12).and_then(|s| s.parse().ok()).context("the answer has no status");
        }
    }
}

fn length(head: &str) -> usize {
    let line = head.lines().find(|l| l.len() > 15 && l[..15].eq_ignore_ascii_case("content-length:"));
    line.and_then(|l| l[15..].trim().parse().ok()).unwrap_or(0)
}
