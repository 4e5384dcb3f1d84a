//! The same service inside a server of somebody else.

use std::net::SocketAddr;

use axum::Router;
use axum::extract::ConnectInfo;
use bytes::Bytes;
use hookonce_core::source::Respond;
use hookonce_http::{IngestService, Limits, Rate, router};
use http::{Request, StatusCode};
use http_body_util::Full;
use tower::ServiceExt as _;

use crate::bed::{Bed, gh, signature};

fn push(path: &str, id: &str) -> Request<Full<Bytes>> {
    let request = Request::post(path).header("Host", "h").header("X-GitHub-Delivery", id);
    request.header("X-Hub-Signature-256", signature(b"{}")).body(Full::from("{}")).unwrap()
}

fn routed(request: Request<Full<Bytes>>) -> Request<axum::body::Body> {
    request.map(axum::body::Body::new)
}

#[tokio::test]
async fn a_router_serves_sources_and_nothing_else() {
    let bed = Bed::new(vec![gh()]);
    let app = Router::new().merge(router(bed.ingest.clone())).fallback(|| async { StatusCode::IM_A_TEAPOT });
    let ask = |request| app.clone().oneshot(routed(request));
    assert_eq!(ask(push("/in/gh", "d-1")).await.unwrap().status(), 200);
    assert_eq!(ask(push("/in/gh/", "d-2")).await.unwrap().status(), 200);
    assert_eq!(ask(push("/in/none", "d-3")).await.unwrap().status(), 404);
    assert_eq!(ask(push("/else", "d-3")).await.unwrap().status(), 418);
    assert_eq!(bed.memory.events(), 2);
}

#[tokio::test]
async fn a_nested_router_keeps_the_path_that_its_sender_used() {
    let bed = Bed::new(vec![gh()]);
    let app = Router::new().nest("/hooks", router(bed.ingest.clone()));
    assert_eq!(app.oneshot(routed(push("/hooks/in/gh?x=1", "d-1"))).await.unwrap().status(), 200);
    assert_eq!(bed.memory.stored()[0].target, "POST /hooks/in/gh?x=1");
}

#[tokio::test]
async fn a_plain_service_limits_by_the_address_that_its_server_knows() {
    let mut source = gh();
    source.respond = Respond { retry_429: true, ..Respond::default() };
    let limits = Limits { address_rate: Some(Rate { per_second: 0.0, burst: 1.0 }), ..Limits::default() };
    let bed = Bed::with(vec![source], limits);
    let service = IngestService::new(bed.ingest.clone());
    for (address, id, status) in [("10.0.0.1:1", "d-1", 200), ("10.0.0.1:2", "d-2", 429), ("10.0.0.2:1", "d-3", 200)] {
        let mut request = push("/in/gh", id);
        request.extensions_mut().insert(ConnectInfo(address.parse::<SocketAddr>().unwrap()));
        assert_eq!(service.clone().oneshot(request).await.unwrap().status(), status, "{id}");
    }
}
