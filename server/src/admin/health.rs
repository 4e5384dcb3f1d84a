//! Whether the process lives, whether it may be sent traffic, and its numbers.

use std::sync::atomic::{AtomicBool, Ordering};

use axum::Extension;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

use super::Admin;

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
    match admin.store.ready().await {
        Ok(()) => "ready\n".into_response(),
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "store cannot write now\n").into_response(),
    }
}

pub async fn metrics(Extension(admin): Extension<Admin>) -> Response {
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], admin.metrics.render()).into_response()
}
