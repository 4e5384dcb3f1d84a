//! The path of one request, from its head to its answer.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use hookonce_core::admit::Admission;
use hookonce_core::request::Request;
use hookonce_core::signature::handshake;
use http::header;
use http::request::Parts;
use hyper::body::Body;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_util::task::TaskTracker;

use crate::address::Addresses;
use crate::admitting::Admitting;
use crate::answer::{self, Answer, Declined};
use crate::budget::{Budget, Held};
use crate::examine::{Case, Examined, examine, probe};
use crate::intake::Intake;
use crate::limits::{Limits, OFFLOAD};
use crate::metrics::{self, Outcome};
use crate::sample::{self, Alarm, Refused};
use crate::source::{Door, Source, Sources};
use crate::{body, coding, framing, headers};

/// The ingest service. One per process; connections and routers share it.
pub struct Ingest {
    intake: Arc<dyn Intake>,
    pub(crate) sources: Sources,
    pub(crate) limits: Limits,
    buffered: Arc<Budget>,
    pub(crate) refused: Refused,
    addresses: Option<Addresses>,
    pub(crate) orphans: TaskTracker,
}

impl std::fmt::Debug for Ingest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ingest").field("sources", &self.sources).field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// Path and query as the client sent them, where a router in front has shortened the request's own.
#[derive(Clone)]
pub(crate) struct Target(pub String);

/// How a request ended that was not declined.
enum Taken {
    Handshake(handshake::Answer),
    Admitted(Admission),
}

impl Ingest {
    pub fn new(intake: Arc<dyn Intake>, sources: Vec<Source>, limits: Limits) -> Arc<Ingest> {
        Arc::new(Ingest {
            intake,
            sources: Sources::new(sources, &limits),
            buffered: Budget::new(limits.max_buffered),
            refused: Refused::default(),
            addresses: limits.address_rate.map(Addresses::new),
            orphans: TaskTracker::new(),
            limits,
        })
    }

    /// Other sources from now on. A request that has begun ends with the one that it began with.
    pub fn replace_sources(&self, sources: Vec<Source>) {
        self.sources.replace(sources, &self.limits);
    }

    /// Answers one request. Never fails, and panics on nothing that a request says.
    pub async fn receive<B>(&self, request: http::Request<B>, from: Option<IpAddr>) -> Answer
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let started = Instant::now();
        let (head, body) = request.into_parts();
        let version = head.version;
        let Some(door) = self.sources.find(head.uri.path()) else {
            metrics::unknown_source();
            return answer::unknown_source();
        };
        let taken = self.take(&door, head, body, from).await;
        let outcome = match &taken {
            Ok(Taken::Admitted(admission)) => Outcome::of(admission),
            Ok(Taken::Handshake(_)) => Outcome::Handshake,
            Err(declined) => Outcome::from(declined),
        };
        door.counters.ended(outcome, started.elapsed());
        hookonce_core::kill_point!("answering");
        match taken {
            Ok(Taken::Admitted(admission)) => answer::admitted(&admission, &door),
            Ok(Taken::Handshake(given)) => answer::probe(given),
            Err(declined) => answer::declined(&declined, &door, version),
        }
    }

    async fn take<B>(&self, door: &Arc<Door>, head: Parts, body: B, from: Option<IpAddr>) -> Result<Taken, Declined>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let noted = |declined| self.note(door, None, declined);
        let case = match self.load(door, head, body, from).await.map_err(noted)? {
            Loaded::Case(case) => case,
            Loaded::Probe(given) => return Ok(Taken::Handshake(given)),
        };
        hookonce_core::kill_point!("limits");
        let (case, examined) = examined_somewhere(case).await.map_err(noted)?;
        match examined {
            Ok(Examined::Handshake(given)) => Ok(Taken::Handshake(given)),
            Ok(Examined::Event { secret, mapped }) => {
                self.admit(case, secret, mapped).await.map(Taken::Admitted).map_err(noted)
            }
            Err(declined) => self.refuse(case, declined).await,
        }
    }

    /// Limits before work: nothing is read of a request that could not be taken anyway.
    async fn load<B>(&self, door: &Arc<Door>, head: Parts, body: B, from: Option<IpAddr>) -> Result<Loaded, Declined>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        if let (Some(addresses), Some(from)) = (&self.addresses, from) {
            addresses.allow(from)?;
        }
        framing::check(&head)?;
        let source = &door.source;
        if !source.methods.contains(&head.method) {
            let request = self.request(door, head, Bytes::new());
            return probe(door, &request).unwrap_or(Err(Declined::Method)).map(Loaded::Probe);
        }
        if source.verification.trouble(self.intake.now()).is_some() {
            return Err(Declined::NoSecret);
        }
        let coding = coding::of(&head.headers)?;
        let mut held = Held::new(&self.buffered, &door.budget);
        let body = body::read(body, source.max_body, self.limits.body, &mut held).await?;
        door.counters.body(body.len());
        Ok(Loaded::Case(Case { door: door.clone(), request: self.request(door, head, body), coding, held }))
    }

    fn request(&self, door: &Door, mut head: Parts, body: Bytes) -> Request {
        let target = match head.extensions.remove::<Target>() {
            Some(Target(whole)) => whole,
            None => head.uri.path_and_query().map_or("/", |p| p.as_str()).to_owned(),
        };
        let url = if door.signs_url { url(door, &head, &target) } else { String::new() };
        let decoded = body.clone();
        let headers = headers::in_order(head.headers);
        Request { received: self.intake.now(), method: head.method, target, url, headers, body, decoded }
    }

    async fn admit(
        &self,
        case: Case,
        secret: Option<Arc<str>>,
        mapped: Vec<hookonce_core::event::Mapped>,
    ) -> Result<Admission, Declined> {
        let deadline = case.door.source.ack_deadline;
        let (submission, held) = case.submit(secret, mapped);
        let admitting = Admitting::new(self.intake.clone(), submission, held, self.orphans.clone());
        match timeout(deadline, admitting).await {
            Ok(Ok(admission)) => Ok(admission),
            Ok(Err(unavailable)) => Err(Declined::Unavailable(unavailable.0.into())),
            Err(_) => Err(Declined::Late),
        }
    }

    /// A refused request changes no inbox (invariant 22).
    async fn refuse(&self, case: Case, declined: Declined) -> Result<Taken, Declined> {
        if hookonce_core::planted!("refused-writes") {
            let reason = "planted".to_owned();
            let unmapped = hookonce_core::event::Mapped::Unmapped { item: 0, span: None, reason };
            return self.admit(case, None, vec![unmapped]).await.map(Taken::Admitted);
        }
        Err(self.note(&case.door, Some(&case.request), declined))
    }

    /// Hands what was refused to the store, once a second, for ever. [`Server`](crate::Server) runs it; beside a router
    /// of one's own it is spawned.
    pub async fn report(self: Arc<Self>) {
        let mut every = interval(sample::EVERY);
        every.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            every.tick().await;
            self.report_now().await;
        }
    }

    /// The same, at once.
    pub async fn report_now(&self) {
        let Some(mut taken) = self.refused.take() else { return };
        for ((source, reason), times) in &taken.counts {
            tracing::warn!(source.name = %source, reason, times, "requests refused");
        }
        for ((source, alarm), Alarm { times, said }) in taken.alarms.drain() {
            tracing::error!(source.name = %source, alarm, times, said = said.as_deref(), "alarm");
        }
        if taken.counts.is_empty() {
            return;
        }
        if let Err(error) = self.intake.refused(taken.hand_over()).await {
            tracing::warn!(error = %error, "refused requests could not be recorded");
            self.refused.give_back(taken);
        }
    }

    fn note(&self, door: &Door, request: Option<&Request>, declined: Declined) -> Declined {
        if let Some(alarm) = declined.alarm() {
            let said = if let Declined::Unavailable(text) = &declined { Some(text.clone()) } else { None };
            metrics::alarm(&door.source.name, alarm);
            self.refused.alarm(&door.source.name, alarm, said);
        }
        if let Some(reason) = declined.reason() {
            self.refused.note(&door.source.name, reason, || request.map(|r| sample::sample(door, r, reason)));
        }
        declined
    }
}

enum Loaded {
    Case(Case),
    /// Answered from the head alone.
    Probe(handshake::Answer),
}

/// A small body is examined here: handing it over costs more than looking at it.
async fn examined_somewhere(mut case: Case) -> Result<(Case, Result<Examined, Declined>), Declined> {
    if case.request.body.len() < OFFLOAD {
        let examined = examine(&mut case);
        return Ok((case, examined));
    }
    let elsewhere = tokio::task::spawn_blocking(move || {
        let examined = examine(&mut case);
        (case, examined)
    });
    elsewhere.await.map_err(|failed| Declined::Unavailable(failed.to_string().into()))
}

/// The URL that the provider signed: its own, or what the request says of itself.
fn url(door: &Door, head: &Parts, target: &str) -> String {
    if let Some(public) = &door.source.public_url {
        return match target.split_once('?') {
            Some((_, query)) if !public.contains('?') => format!("{public}?{query}"),
            _ => public.clone(),
        };
    }
    let host = head.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let host = host.or(head.uri.authority().map(|a| a.as_str())).unwrap_or_default();
    format!("http://{host}{target}")
}
