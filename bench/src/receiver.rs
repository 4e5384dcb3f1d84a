//! The trivial receiver, as a process of its own: counts the bodies and says 204. The product's deliveries and the bare
//! client's requests meet the same one.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context as _, Result};
use axum::Router;
use axum::body::Bytes;
use axum::http::StatusCode;
use axum::routing::{get, post};

use crate::wire;

/// Serves until it is told to end.
pub async fn serve(address: SocketAddr) -> Result<()> {
    let got = Arc::new(AtomicU64::new(0));
    let counted = got.clone();
    let take = move |body: Bytes| {
        counted.fetch_add(u64::from(!body.is_empty()), Ordering::Relaxed);
        std::future::ready(StatusCode::NO_CONTENT)
    };
    let count = move || std::future::ready(got.load(Ordering::Relaxed).to_string());
    let app = Router::new().route("/hook", post(take)).route("/count", get(count));
    let mut term = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    let listener = tokio::net::TcpListener::bind(address).await?;
    tokio::select! {
        served = axum::serve(listener, app) => served.context("the receiver ended"),
        _ = term.recv() => Ok(()),
    }
}

/// How many it has got.
pub async fn count(receiver: SocketAddr) -> Result<u64> {
    let answer = wire::get(receiver, "/count").await?;
    let (_, count) = answer.split_once("\r\n\r\n").context("no body")?;
    count.trim().parse().context("no count")
}
