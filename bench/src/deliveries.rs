//! `http` deliveries a second, with everything that makes them safe ÷ a bare client loop against the same receiver.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::bed::Bed;
use crate::child::Server;
use crate::load::{self, Load, Until};
use crate::receiver::count;
use crate::report::Line;
use crate::stats::Ratio;

const CONCURRENCY: usize = 256;
/// No delivery in this time: something stands still.
const STALL: Duration = Duration::from_secs(60);
/// Between two looks at the receiver's count.
const LOOK: Duration = Duration::from_millis(20);
/// Deliveries before the clock starts: connections are made, and the pipeline is full.
const RUN_UP: u64 = 1_000;

pub async fn ratio(bed: &Bed) -> Result<Vec<Line>> {
    let receiver = Server::role("receiver").await?;
    let (mut ratios, mut seen) = (Vec::new(), Vec::new());
    for pair in 0..bed.scale.pairs as u64 {
        let bare = bare(receiver.ingest, bed.scale.deliveries).await?;
        let ours = product(bed, receiver.ingest, pair).await?;
        ratios.push(ours.rate / bare);
        seen.push(json!({ "bare_per_s": bare.round(), "ours_per_s": ours.rate.round(), "server_cpu_us": ours.cpu_us }));
    }
    receiver.stop()?;
    let ratio = Ratio::of(ratios);
    let what = format!("http deliveries, concurrency {CONCURRENCY} ÷ a bare client loop");
    Ok(vec![Line::new(&what, ratio.median, bed.scale.at_least(0.35), ratio.detail(seen))])
}

/// The same number in flight and the same body size: nothing stored, nothing signed, nothing judged.
async fn bare(address: SocketAddr, deliveries: u64) -> Result<f64> {
    let client = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(CONCURRENCY).build()?;
    let body = bytes::Bytes::from(vec![b'x'; 1_100]);
    let left = Arc::new(AtomicU64::new(RUN_UP + deliveries));
    let already = count(address).await?;
    let mut tasks = JoinSet::new();
    for _ in 0..CONCURRENCY {
        let (client, left, body) = (client.clone(), left.clone(), body.clone());
        tasks.spawn(async move {
            while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_ok() {
                let answer = client.post(format!("http://{address}/hook")).body(body.clone()).send().await?;
                answer.error_for_status()?;
            }
            anyhow::Ok(())
        });
    }
    let rate = arrivals(address, already, deliveries).await?;
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    Ok(rate)
}

/// Arrivals a second at the receiver, from the end of the run-up to the last of them.
async fn arrivals(receiver: SocketAddr, already: u64, deliveries: u64) -> Result<f64> {
    let begin = reach(receiver, already + RUN_UP).await?;
    let end = reach(receiver, already + RUN_UP + deliveries).await?;
    ensure!(end.1 > begin.1, "{deliveries} deliveries are too few to be timed");
    Ok((end.1 - begin.1) as f64 / (end.0 - begin.0).as_secs_f64())
}

async fn reach(receiver: SocketAddr, count_to: u64) -> Result<(Instant, u64)> {
    let began = Instant::now();
    loop {
        let (now, got) = (Instant::now(), count(receiver).await?);
        if got >= count_to {
            return Ok((now, got));
        }
        if began.elapsed() > STALL {
            bail!("the receiver has {got} and waits for {count_to}");
        }
        sleep(LOOK).await;
    }
}

struct Ours {
    rate: f64,
    /// The server's processor time for one delivery.
    cpu_us: f64,
}

/// Stores and routes the events first, with the consumer paused, then lets it go.
async fn product(bed: &Bed, receiver: SocketAddr, pair: u64) -> Result<Ours> {
    let consumer = format!(
        "[consumers.app]\nkind = \"http\"\non = [\"crm/*\"]\nurl = \"http://{receiver}/hook\"\nallow_private = true\n\
         concurrency = {CONCURRENCY}\n"
    );
    let folder = bed.folder()?;
    let server = Server::product(&bed.binary, folder.path(), &consumer).await?;
    server.consumer("app", "pause").await?;
    let events = RUN_UP + bed.scale.deliveries;
    let load = Load { address: server.ingest, until: Until::Sent(events), rate: None, seed: 700 + pair };
    let stored = load::run(load).await?.whole()?.count();
    ensure!(stored == events, "{stored} of {events} events were stored");
    routed(&server, events).await?;
    let (before, cpu) = (count(receiver).await?, server.processor_seconds()?);
    server.consumer("app", "resume").await?;
    let rate = arrivals(receiver, before, bed.scale.deliveries).await?;
    let cpu_us = (server.processor_seconds()? - cpu) * 1e6 / (count(receiver).await? - before) as f64;
    bed.keep_peak(&server)?;
    server.stop()?;
    Ok(Ours { rate, cpu_us: cpu_us.round() })
}

/// Until every event has its delivery: the router's work is measured elsewhere.
async fn routed(server: &Server, events: u64) -> Result<()> {
    let began = Instant::now();
    while began.elapsed() < STALL {
        let answer = server.api("GET /v1/consumers", "").await?;
        let (_, body) = answer.split_once("\r\n\r\n").context("no body")?;
        let list: serde_json::Value = serde_json::from_str(body).with_context(|| answer.clone())?;
        let ready = list.pointer("/items/0/ready").and_then(serde_json::Value::as_u64).context("no `ready`")?;
        if ready == events {
            return Ok(());
        }
        sleep(LOOK).await;
    }
    bail!("the events were not routed within {STALL:?}")
}
