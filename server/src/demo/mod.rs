//! `hookonce demo`: the real server as a process of its own, simulated providers in front of it, a small business behind
//! it, and everything that goes wrong between them. Each promise is one line with its evidence.
//!
//! `provider` sends and retries, `business` has the effects, `child` is the server, `story` what happens. Start at [`run`].

mod business;
mod child;
mod facts;
mod provider;
mod story;

use anyhow::{Context as _, Result};
use tempfile::TempDir;

use business::Business;
use child::Child;
pub use facts::Facts;

/// Secrets of the demo's sources: they protect nothing.
pub const CRM: &str = "demo-crm-secret-0123456789abcdef";
pub const STRIPE: &str = "whsec_demo_stripe_0123456789abcdef";
pub const GITHUB: &str = "demo-github-secret-0123456789abcdef";
pub const FORWARD: &str = "whsec_ZGVtby1mb3J3YXJkLXNlY3JldC0wMTIzNDU2Nzg5YWI=";

/// Everything on the stage.
pub struct Stage {
    pub server: Child,
    pub business: Business,
    pub client: reqwest::Client,
    pub seed: u64,
    // Last: the folder goes when everybody has left it.
    folder: TempDir,
}

/// What the caller prints: a line for people.
pub type Say<'a> = &'a (dyn Fn(&str) + Sync);

/// Plays the whole story. `stay` keeps the stage for a look around until the process is told to end.
pub async fn run(seed: u64, stay: bool, say: Say<'_>) -> Result<Facts<'_>> {
    let folder = TempDir::with_prefix("hookonce-demo-").context("cannot make a folder")?;
    let business = Business::open().await?;
    let server = Child::prepare(folder.path(), business.url())?;
    let client = reqwest::Client::builder().no_proxy().build()?;
    let mut stage = Stage { server, business, client, seed, folder };
    stage.server.start().await?;
    say(&format!("a fresh store in {}, seed {seed}", stage.folder.path().display()));
    say(&format!("ingest {}   admin {}", stage.server.ingest(), stage.server.admin()));
    let mut facts = Facts::new(say);
    story::play(&mut stage, &mut facts).await?;
    if stay {
        say(&format!("\nit goes on running. look around:  {}", stage.server.hint()));
        say("Ctrl-C ends it and removes the folder");
        tokio::signal::ctrl_c().await?;
    }
    stage.server.stop().await?;
    Ok(facts)
}
