//! The server on the stage: this very program in another process, so that killing it is a real kill.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde::de::DeserializeOwned;
use tokio::process::{Child as Process, Command};
use tokio::time::{Instant, sleep};

use super::{CRM, FORWARD, GITHUB, STRIPE};

/// A server on this machine that is not ready by then will not be.
const START: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(10);

pub struct Child {
    config: PathBuf,
    token: PathBuf,
    ingest: SocketAddr,
    admin: SocketAddr,
    process: Option<Process>,
    client: reqwest::Client,
}

fn free_port() -> Result<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

impl Child {
    /// Writes the configuration that a newcomer would have.
    pub fn prepare(folder: &Path, business: &str) -> Result<Child> {
        let (ingest, admin) = (free_port()?, free_port()?);
        let store = folder.join("hookonce.db");
        let text = format!(
            r#"[store]
url = "sqlite:{store}"
[ingest]
listen = "{ingest}"
[admin]
listen = "{admin}"

[sources.crm]
provider = "crmbridge"
secret = {{ env = "DEMO_CRM" }}
aggregate = "{{Business}}:{{Location}}:{{Entity}}:{{PrimaryKey}}"

[sources.billing]
provider = "stripe"
secret = {{ env = "DEMO_STRIPE" }}

[sources.code]
provider = "github"
secret = {{ env = "DEMO_GITHUB" }}

[consumers.app]
kind = "http"
on = ["crm/*", "billing/*", "code/*"]
url = "{business}"
allow_private = true
order = "arrival"
retry = {{ first = "50ms", max = "1s" }}
sign = {{ env = "DEMO_FORWARD" }}
"#,
            store = store.display()
        );
        let config = folder.join("hookonce.toml");
        fs::write(&config, text)?;
        let client = reqwest::Client::builder().no_proxy().build()?;
        Ok(Child { config, token: store.with_extension("token"), ingest, admin, process: None, client })
    }

    pub async fn start(&mut self) -> Result<()> {
        let mut command = Command::new(std::env::current_exe().context("where this program is")?);
        command
            .args(["serve", "--dev", "--log-level", "error", "--config"])
            .arg(&self.config)
            .envs([("DEMO_CRM", CRM), ("DEMO_STRIPE", STRIPE), ("DEMO_GITHUB", GITHUB), ("DEMO_FORWARD", FORWARD)])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let process = self.process.insert(command.spawn().context("cannot start the server")?);
        let end = Instant::now() + START;
        let ready = format!("http://{}/readyz", self.admin);
        while !self.client.get(&ready).send().await.is_ok_and(|a| a.status().is_success()) {
            if let Some(status) = process.try_wait()? {
                bail!("the server ended at once ({status}): {}", said(process).await);
            }
            if Instant::now() > end {
                bail!("the server is not ready after {START:?}");
            }
            sleep(POLL).await;
        }
        Ok(())
    }

    /// SIGKILL: no last word, no flush, no goodbye.
    pub async fn kill(&mut self) -> Result<()> {
        let mut process = self.process.take().context("the server does not run")?;
        process.kill().await.context("cannot kill the server")
    }

    /// SIGTERM, and waits for its end.
    pub async fn stop(&mut self) -> Result<()> {
        let Some(mut process) = self.process.take() else { return Ok(()) };
        if let Some(pid) = process.id().and_then(|id| rustix::process::Pid::from_raw(id.cast_signed())) {
            rustix::process::kill_process(pid, rustix::process::Signal::TERM)?;
        }
        process.wait().await?;
        Ok(())
    }

    pub fn source(&self, name: &str) -> String {
        format!("http://{}/in/{name}", self.ingest)
    }

    pub fn ingest(&self) -> String {
        format!("http://{}/in/<source>", self.ingest)
    }

    pub fn admin(&self) -> String {
        format!("http://{}/", self.admin)
    }

    pub fn hint(&self) -> String {
        format!("hookonce events list --config {}", self.config.display())
    }

    /// Asks the API, as the CLI does.
    pub async fn api<T: DeserializeOwned>(&self, path: &str) -> Result<T> {
        let token = fs::read_to_string(&self.token).context("the token file")?;
        let answer = self.client.get(format!("http://{}{path}", self.admin)).bearer_auth(token.trim()).send().await?;
        let bytes = answer.error_for_status()?.bytes().await?;
        serde_json::from_slice(&bytes).with_context(|| format!("the answer to {path}"))
    }
}

async fn said(process: &mut Process) -> String {
    use tokio::io::AsyncReadExt as _;
    let mut text = String::new();
    if let Some(stderr) = process.stderr.as_mut() {
        let _ = stderr.read_to_string(&mut text).await;
    }
    text
}
