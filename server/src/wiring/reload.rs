//! SIGHUP: the configuration is read again. Sources and their secrets change at once and as a whole; a bad file changes
//! nothing and says so; what needs a restart is named, not half done.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use arc_swap::ArcSwap;
use hookonce::alarm;
use hookonce::engine::Handle;
use hookonce::store::Store;
use hookonce_core::request::Headers;
use hookonce_core::signature::{Parts, sign};
use hookonce_http::Ingest;
use http::{HeaderName, HeaderValue};

use super::sources::{self, Rules};
use super::{changes, telemetry};
use crate::config::{self, Config, Flags, meant};

/// What stays as it was until the next start, in a form that can be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    /// As a whole: its password is compared and not shown.
    store: meant::Store,
    parts: [(&'static str, String); 3],
}

impl Fixed {
    pub fn of(config: &Config) -> Fixed {
        let consumers: Vec<String> = config.consumers.iter().map(shape).collect();
        Fixed {
            store: config.store.clone(),
            parts: [
                ("[ingest]", format!("{:?}", config.ingest)),
                ("[admin]", format!("{:?}", config.admin)),
                ("[consumers]", consumers.join("\n")),
            ],
        }
    }

    fn changed(&self, other: &Fixed) -> Vec<&'static str> {
        let store = (self.store != other.store).then_some("[store]");
        let pairs = self.parts.iter().zip(&other.parts);
        store.into_iter().chain(pairs.filter(|(a, b)| a.1 != b.1).map(|(a, _)| a.0)).collect()
    }
}

/// Keys show their names only. What they make of a constant tells whether a signing secret was rotated.
fn shape(consumer: &meant::Consumer) -> String {
    let mark = consumer.http().and_then(|http| http.sign.as_ref()).map(|keys| {
        let id = (HeaderName::from_static("webhook-id"), HeaderValue::from_static("shape"));
        let headers = Headers(vec![id]);
        let parts = Parts { method: "POST", target: "/", url: "", headers: &headers, body: b"" };
        sign(keys, &parts, 0)
    });
    format!("{consumer:?} {mark:?}")
}

pub struct Reload {
    pub file: PathBuf,
    pub flags: Flags,
    pub fixed: Fixed,
    /// Of a node that takes webhooks.
    pub ingest: Option<Arc<Ingest>>,
    pub store: Arc<dyn Store>,
    pub engine: Handle,
    pub rules: Arc<ArcSwap<Rules>>,
}

impl Reload {
    /// Once for each signal. Whatever goes wrong, the server goes on as it was.
    pub async fn run(&self) {
        match self.again().await {
            Ok(said) => {
                telemetry::reloaded(Some(self.store.now()));
                tracing::info!(sources = said.sources, "configuration reloaded");
                for part in said.restart {
                    tracing::warn!(part, "this part has changed and takes effect at the next start only");
                }
            }
            Err(why) => {
                telemetry::reloaded(None);
                alarm::raise("config_reload_failed", &format!("nothing was changed: {why:#}"));
            }
        }
    }

    async fn again(&self) -> Result<Said> {
        let (config, _) = match config::load(&self.file, &self.flags) {
            Ok(loaded) => loaded,
            Err(report) => bail!("{}", report.render(false)),
        };
        let restart = self.fixed.changed(&Fixed::of(&config));
        for change in changes::at_reload(&config, &self.rules.load_full(), &*self.store).await? {
            tracing::info!("the configuration changes: {change}");
        }
        let retention = config.retention();
        let (doors, rules) = sources::sources(config.sources, &*self.store).await.context("sources")?;
        let sources = doors.len();
        sources::alarm_troubles(&doors, self.store.now());
        self.rules.store(Arc::new(rules));
        self.engine.retain(retention);
        if let Some(ingest) = &self.ingest {
            ingest.replace_sources(doors);
        }
        Ok(Said { sources, restart })
    }
}

struct Said {
    sources: usize,
    restart: Vec<&'static str>,
}
