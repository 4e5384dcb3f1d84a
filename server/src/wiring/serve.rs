//! The server's life: open the store, start the loops, open the doors, wait, drain. In this order, so that nothing is
//! answered before it can be stored and nothing is closed while somebody is still answered.

use std::future::IntoFuture as _;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use arc_swap::ArcSwap;
use hookonce::chance;
use hookonce::engine::Engine;
use hookonce_core::time::Micros;
use hookonce_http::{Ingest, Limits, Listener, Server, Source, Verification};
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::reload::{Fixed, Reload};
use super::roles::Roles;
use super::{changes, consumers, sources, store, telemetry};
use crate::admin::{self, Admin, Readiness, auth};
use crate::config::{Config, Flags, meant};

#[derive(Clone, Debug)]
pub struct Options {
    pub roles: Roles,
    pub drain_delay: Duration,
    pub shutdown_timeout: Duration,
    pub log_level: String,
    pub log_json: bool,
    pub colour: bool,
}

/// How a server's life ended.
#[derive(Debug)]
pub enum Ended {
    Drained,
    StoreFailed(String),
}

/// What a person is told while it starts.
pub type Say<'a> = &'a (dyn Fn(&str) + Sync);

pub async fn run(mut config: Config, flags: Flags, options: Options, say: Say<'_>) -> Result<Ended> {
    telemetry::logs(&options.log_level, options.log_json, options.colour)?;
    let metrics = telemetry::metrics()?;
    let mut signals = Signals::new()?;
    let store = store::open(&config.store, say).await?;
    for change in changes::at_start(&config, &*store).await? {
        say(&format!("change    {change}"));
    }
    let retention = config.retention();
    let (doors, rules) = sources::sources(std::mem::take(&mut config.sources), &*store).await?;
    let rules = Arc::new(ArcSwap::from_pointee(rules));
    let (posts, pulled) = (consumers::posts(&config.consumers)?, consumers::pulled(&config.consumers));
    let loops = options.roles.loops();
    let engine = Engine::start_loops(store.clone(), posts, pulled, Arc::new(chance::System), loops).await?;
    engine.handle().retain(retention);
    let readiness = Arc::new(Readiness::default());
    let admin = Admin {
        store: store.clone(),
        commands: engine.handle(),
        rules: rules.clone(),
        readiness: readiness.clone(),
        metrics,
    };
    let admin = open_admin(&config, admin, options.roles).await?;
    greet(&config, options.roles, &doors, store.now(), say);
    let (ingest, server) = match options.roles.ingest {
        true => open_doors(&config, &engine, doors).map(|(ingest, server)| (Some(ingest), Some(server)))?,
        false => (None, None),
    };
    let reload = config.file.clone().map(|file| Reload {
        file,
        flags,
        fixed: Fixed::of(&config),
        ingest,
        store: store.clone(),
        engine: engine.handle(),
        rules,
    });
    let reloading = tokio::spawn(on_hangup(reload, signal(SignalKind::hangup())?));
    telemetry::reloaded(Some(store.now()));
    readiness.open();
    say("ready     (Ctrl-C stops, nothing is lost)");

    let ended = tokio::select! {
        () = signals.next() => Ended::Drained,
        why = engine.failed() => Ended::StoreFailed(why),
    };
    if let Ended::StoreFailed(_) = ended {
        // A page cache that has lied once is not asked again: no drain, no last commit (trap T4). The store is not dropped
        // either: its threads may hang in the disk, and this process must be gone within a second.
        readiness.fail();
        std::mem::forget(store);
        return Ok(ended);
    }
    readiness.drain();
    telemetry::draining(true);
    say("draining  (a second signal ends it at once)");
    tokio::select! {
        () = drain(&options, server, engine) => {}
        () = signals.next() => {}
    }
    reloading.abort();
    admin.abort();
    store.close().await.context("cannot close the store")?;
    Ok(ended)
}

async fn open_admin(config: &Config, admin: Admin, roles: Roles) -> Result<JoinHandle<std::io::Result<()>>> {
    let listener = TcpListener::bind(config.admin.listen)
        .await
        .with_context(|| format!("cannot listen on {} for the admin API", config.admin.listen))?;
    let token = roles.admin.then(|| auth::write_token(&config.token_file())).transpose()?;
    let router = admin::router(admin, token);
    Ok(tokio::spawn(axum::serve(listener, router).into_future()))
}

fn open_doors(config: &Config, engine: &Engine, doors: Vec<Source>) -> Result<(Arc<Ingest>, Server)> {
    sources::alarm_troubles(&doors, engine.store().now());
    let listener = Listener::bind(config.ingest.listen)
        .with_context(|| format!("cannot listen on {} for webhooks", config.ingest.listen))?;
    hookonce_http::describe();
    hookonce::gauges::describe();
    let ingest = Ingest::new(Arc::new(engine.inbox()), doors, limits(&config.ingest));
    Ok((ingest.clone(), Server::start(ingest, listener)))
}

fn limits(written: &meant::Ingest) -> Limits {
    Limits {
        first_byte: written.first_byte,
        head: written.head,
        body: written.body,
        idle: written.idle,
        max_buffered: usize::try_from(written.max_buffered).unwrap_or(usize::MAX),
        ..Limits::default()
    }
}

fn greet(config: &Config, roles: Roles, doors: &[Source], now: Micros, say: Say<'_>) {
    for door in doors.iter().filter(|_| roles.ingest) {
        let note = match (&door.verification, door.verification.trouble(now)) {
            (_, Some(why)) => format!("   answers 503: {why}"),
            (Verification::None, None) => "   not verified: anybody may send".to_owned(),
            _ => String::new(),
        };
        say(&format!("ingest    http://{}/in/{}{note}", config.ingest.listen, door.name));
    }
    let token = match roles.admin {
        true => format!("token in {}", config.token_file().display()),
        false => "health and numbers only".to_owned(),
    };
    say(&format!("admin     http://{}/   {token}", config.admin.listen));
}

/// Without a file there is nothing to read again, and the signal must not end the process all the same.
async fn on_hangup(reload: Option<Reload>, mut hangup: Signal) {
    while hangup.recv().await.is_some() {
        match &reload {
            Some(reload) => reload.run().await,
            None => tracing::warn!("there is no configuration file to read again"),
        }
    }
}

/// Load balancers notice an unready node only after a while; until then it goes on taking requests. Then the doors close,
/// and last of all the loops, which give back what they hold.
async fn drain(options: &Options, server: Option<Server>, engine: Engine) {
    tokio::time::sleep(options.drain_delay).await;
    let end = Instant::now() + options.shutdown_timeout;
    let cut = match server {
        Some(server) => server.drain(options.shutdown_timeout).await,
        None => 0,
    };
    if cut > 0 {
        tracing::warn!(connections = cut, "connections were cut at the end of the drain, none of them answered 2xx");
    }
    engine.shutdown(end.saturating_duration_since(Instant::now())).await;
}

/// SIGTERM and SIGINT, each a wish to end.
struct Signals {
    term: Signal,
    int: Signal,
}

impl Signals {
    fn new() -> Result<Signals> {
        Ok(Signals { term: signal(SignalKind::terminate())?, int: signal(SignalKind::interrupt())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.term.recv() => {}
            _ = self.int.recv() => {}
        }
    }
}
