//! `http` deliveries a second, with everything that makes them safe ÷ a bare client loop against the same receiver.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Result, bail};
use serde_json::json;
use tempfile::TempDir;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::child::{Config, Server};
use crate::load::{self, Load};
use crate::report::Line;
use crate::scale::Scale;
use crate::stats::Ratio;

const CONCURRENCY: usize = 256;
/// No delivery in this time: something stands still.
const STALL: Duration = Duration::from_secs(60);

/// The trivial receiver: counts and says 204.
struct Receiver {
    address: SocketAddr,
    got: Arc<AtomicU64>,
}

async fn receiver() -> Result<Receiver> {
    let got = Arc::new(AtomicU64::new(0));
    let seen = got.clone();
    let take = move |body: axum::body::Bytes| {
        seen.fetch_add(u64::from(!body.is_empty()), Ordering::Relaxed);
        std::future::ready(axum::http::StatusCode::NO_CONTENT)
    };
    let app = axum::Router::new().route("/hook", axum::routing::post(take));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move { axum::serve(listener, app).await });
    Ok(Receiver { address, got })
}

pub async fn ratio(binary: &Path, scale: &Scale) -> Result<Vec<Line>> {
    let receiver = receiver().await?;
    let (mut ratios, mut seen) = (Vec::new(), Vec::new());
    for pair in 0..scale.pairs as u64 {
        let bare = bare(receiver.address, scale.deliveries).await?;
        let ours = product(binary, scale, &receiver, pair).await?;
        ratios.push(ours / bare);
        seen.push([bare.round(), ours.round()]);
    }
    let ratio = Ratio::of(ratios);
    let detail = json!({ "low": ratio.low, "high": ratio.high, "bare_and_ours_per_s": seen });
    let what = format!("http deliveries, concurrency {CONCURRENCY} ÷ a bare client loop");
    Ok(vec![Line::new(&what, ratio.median, scale.at_least(0.35), detail)])
}

/// The same client library, the same number in flight, the same body size: nothing stored, nothing signed.
async fn bare(address: SocketAddr, count: u64) -> Result<f64> {
    let client = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(CONCURRENCY).build()?;
    let left = Arc::new(AtomicU64::new(count));
    let body = bytes::Bytes::from(vec![b'x'; 1_100]);
    let began = Instant::now();
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
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    Ok(count as f64 / began.elapsed().as_secs_f64())
}

/// Stores the events first, with the consumer paused, then lets it go.
async fn product(binary: &Path, scale: &Scale, receiver: &Receiver, pair: u64) -> Result<f64> {
    let folder = TempDir::new()?;
    let consumers = format!(
        "[consumers.app]\nkind = \"http\"\non = [\"crm/*\"]\nurl = \"http://{}/hook\"\nallow_private = true\nconcurrency = {CONCURRENCY}\n",
        receiver.address
    );
    let server = Server::product(binary, folder.path(), &Config { consumers }).await?;
    server.consumer("app", "pause").await?;
    let (mut stored, mut seed) = (0u64, 700 + 100 * pair);
    while stored < scale.deliveries {
        seed += 1;
        let load = Load { address: server.ingest, source: "crm", seconds: 0.2, rate: None, seed, lanes: 0 };
        stored += load::run(load).await?.latencies.len() as u64;
    }
    let before = receiver.got.load(Ordering::Relaxed);
    let began = Instant::now();
    server.consumer("app", "resume").await?;
    while receiver.got.load(Ordering::Relaxed) < before + scale.deliveries {
        if began.elapsed() > STALL {
            bail!("only {} of {stored} deliveries came", receiver.got.load(Ordering::Relaxed) - before);
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let rate = scale.deliveries as f64 / began.elapsed().as_secs_f64();
    server.stop()?;
    Ok(rate)
}
