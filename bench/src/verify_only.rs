//! The same HTTP stack, the same verification and identification, and a store that says yes and keeps nothing: what the
//! product's acks are compared with.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result};
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};
use hookonce_core::admit::{Admission, Submission, Verdict};
use hookonce_core::identify::{Rule, RuleSpec};
use hookonce_core::sample::Refusals;
use hookonce_core::signature::{Keys, Options, Secret, catalog::CRMBRIDGE};
use hookonce_core::source::Respond;
use hookonce_core::time::Micros;
use hookonce_http::{Ingest, Intake, Limits, Listener, Server, SignatureOver, Source, Unavailable, Verification};

use crate::body::SECRET;

#[derive(Debug, Default)]
struct Nothing {
    events: AtomicI64,
}

impl Intake for Nothing {
    fn admit(&self, submission: Submission) -> BoxFuture<'_, Result<Admission, Unavailable>> {
        let one = |_| Verdict::Accepted { event: self.events.fetch_add(1, Ordering::Relaxed), hold: None };
        let verdicts = submission.mapped.iter().map(one).collect();
        ready(Ok(Admission { verdicts })).boxed()
    }

    fn refused(&self, _: Refusals) -> BoxFuture<'_, Result<(), Unavailable>> {
        ready(Ok(())).boxed()
    }

    fn now(&self) -> Micros {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Micros::try_from(since.as_micros()).unwrap_or(Micros::MAX)
    }
}

fn source() -> Result<Source> {
    let scheme = CRMBRIDGE.schemes.first().context("a scheme")?;
    let keys = Keys::new(scheme, &[Secret::new("bench", SECRET.to_owned())])?;
    let spec = RuleSpec::default().with_defaults(&CRMBRIDGE);
    let rule = Rule::compile("crm", "crm", &spec).map_err(|e| anyhow::anyhow!("{e:?}"))?;
    Ok(Source {
        name: "crm".into(),
        namespace: "crm".into(),
        methods: vec![axum::http::Method::POST],
        max_body: hookonce_http::MAX_BODY,
        verification: Verification::Keys(Box::new(keys)),
        options: Options::default(),
        rule: Arc::new(rule),
        signature_over: SignatureOver::Wire,
        handshakes: Vec::new(),
        respond: Respond::default(),
        ack_deadline: Source::ack_deadline(None),
        public_url: None,
        secret_headers: Vec::new(),
    })
}

/// Serves until it is told to end. Whoever asks for `/readyz` is told 404, which is an answer: it listens.
pub async fn serve(address: SocketAddr) -> Result<()> {
    let ingest = Ingest::new(Arc::new(Nothing::default()), vec![source()?], Limits::default());
    let server = Server::start(ingest, Listener::bind(address)?);
    let mut term = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    term.recv().await;
    server.drain(std::time::Duration::from_secs(1)).await;
    Ok(())
}
