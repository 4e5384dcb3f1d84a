//! The private listener: health, metrics and the minimal `/v1` that the CLI speaks to.
//!
//! Never on the public port. Everything under `/v1` wants the token (`auth`); what comes out is `wire`, what goes wrong
//! is `problem`. A command goes straight to the store: its change and its audit row are one commit there.

pub mod auth;
mod commands;
mod health;
mod lists;
mod problem;
mod readmit;
mod sentence;
pub mod wire;

use std::sync::Arc;

use arc_swap::ArcSwap;
use axum::middleware::{from_fn_with_state, map_response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use hookonce::engine::Handle;
use hookonce::store::Store;
use metrics_exporter_prometheus::PrometheusHandle;
use secrecy::SecretString;

use crate::wiring::sources::Rules;

pub use health::Readiness;
pub use problem::Problem;

/// What the handlers stand on.
#[derive(Clone)]
pub struct Admin {
    pub store: Arc<dyn Store>,
    /// Decisions go through the engine, so that they take effect at once.
    pub commands: Handle,
    /// Identity rules by source name, for what is mapped again.
    pub rules: Arc<ArcSwap<Rules>>,
    pub readiness: Arc<Readiness>,
    pub metrics: PrometheusHandle,
}

/// Without a token there is no `/v1`.
pub fn router(admin: Admin, token: Option<SecretString>) -> Router {
    let router = Router::new()
        .route("/livez", get(health::live))
        .route("/readyz", get(health::ready))
        .route("/healthz", get(health::ready))
        .route("/metrics", get(health::metrics));
    let router = match token {
        Some(token) => router.nest("/v1", v1().layer(from_fn_with_state(Arc::new(token), auth::require))),
        None => router,
    };
    router
        .fallback(|| async { Problem::not_found("path") })
        .layer(map_response(problem::shaped))
        .layer(Extension(admin))
}

fn v1() -> Router {
    Router::new()
        .route("/events", get(lists::events))
        .route("/events/{id}", get(lists::event))
        .route("/events/{id}/raw", get(lists::event_raw))
        .route("/events/{id}/why", get(lists::why))
        .route("/requests", get(lists::requests))
        .route("/requests/{id}", get(lists::request))
        .route("/requests/{id}/raw", get(lists::request_raw))
        .route("/requests/{id}/admit", post(readmit::admit))
        .route("/requests/{id}/drop", post(commands::drop_unmapped))
        .route("/deliveries", get(lists::deliveries))
        .route("/deliveries/{event}/{consumer}/{generation}", get(lists::delivery))
        .route("/deliveries/{event}/{consumer}/{generation}/retry", post(commands::retry))
        .route("/dead", get(lists::dead))
        .route("/held", get(lists::held))
        .route("/held/{event}/release", post(commands::release))
        .route("/held/{event}/drop", post(commands::drop_held))
        .route("/consumers", get(lists::consumers))
        .route("/consumers/{name}/pause", post(commands::pause))
        .route("/consumers/{name}/resume", post(commands::resume))
        .route("/tally", get(lists::tally))
}
