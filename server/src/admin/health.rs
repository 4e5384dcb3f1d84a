//! Whether the process lives, whether it may be sent traffic, and its numbers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Extension;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use tokio::time::timeout;

use super::Admin;

/// A prober waits a second by default and takes silence for death; a store that needs longer is not ready.
const READY_LIMIT: Duration = Duration::from_millis(800);

/// Set by `serve`: open after the store is writable and the listener stands, closed at the first sign of an end.
#[derive(Debug, Default)]
pub struct Readiness {
    open: AtomicBool,
    failed: AtomicBool,
}

impl Readiness {
    pub fn open(&self) {
        self.open.store(true, Ordering::Release);
    }

    pub fn drain(&self) {
        self.open.store(false, Ordering::Release);
    }

    /// The store failed: nothing is answered 2xx any more, and the process is about to exit.
    pub fn fail(&self) {
        self.failed.store(true, Ordering::Release);
    }

    fn says(&self) -> Result<(), &'static str> {
        match (self.failed.load(Ordering::Acquire), self.open.load(Ordering::Acquire)) {
            (true, _) => Err("store failed\n"),
            (false, false) => Err("starting or draining\n"),
            (false, true) => Ok(()),
        }
    }
}

pub async fn live() -> &'static str {
    "live\n"
}

/// Ready means that a webhook sent now would be stored: the store is asked, not assumed.
pub async fn ready(Extension(admin): Extension<Admin>) -> Response {
    if let Err(why) = admin.readiness.says() {
        return (StatusCode::SERVICE_UNAVAILABLE, why).into_response();
    }
    match timeout(READY_LIMIT, admin.store.ready()).await {
        Ok(Ok(())) => "ready\n".into_response(),
        Ok(Err(_)) | Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "store cannot write now\n").into_response(),
    }
}

pub async fn metrics(Extension(admin): Extension<Admin>) -> Response {
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], admin.metrics.render()).into_response()
}
