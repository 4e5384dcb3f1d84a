//! The same service for a program with a server of its own: as a tower service, and as an axum router to merge or nest.
//! Time-outs and caps of connections are then that server's; limits of requests, bodies and buffers hold here too.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Router;
use axum::extract::{ConnectInfo, OriginalUri};
use axum::routing::any_service;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use hyper::body::Body;

use crate::answer::Answer;
use crate::receive::{Ingest, Target};

/// `POST /in/<source>` as a service. A path that is none of these is answered 404.
#[derive(Clone, Debug)]
pub struct IngestService(Arc<Ingest>);

impl IngestService {
    pub fn new(ingest: Arc<Ingest>) -> IngestService {
        IngestService(ingest)
    }
}

impl<B> tower::Service<http::Request<B>> for IngestService
where
    B: Body<Data = Bytes> + Unpin + Send + 'static,
{
    type Response = Answer;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Answer, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: http::Request<B>) -> Self::Future {
        let ingest = self.0.clone();
        // A nested router has shortened the path; some providers sign the whole of it.
        if let Some(OriginalUri(whole)) = request.extensions().get() {
            let target = Target(whole.path_and_query().map_or("/", |p| p.as_str()).to_owned());
            request.extensions_mut().insert(target);
        }
        let from = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip());
        Box::pin(async move { Ok(ingest.receive(request, from).await) })
    }
}

/// The public routes, and no others. As on a socket, a request without a Host is refused. Refused requests are reported to the store for as long as somebody runs
/// [`Ingest::report`].
pub fn router(ingest: Arc<Ingest>) -> Router {
    let service = any_service(IngestService::new(ingest));
    Router::new().route("/in/{source}", service.clone()).route("/in/{source}/", service)
}
