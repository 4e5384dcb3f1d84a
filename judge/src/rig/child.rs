//! The accused: a server process, started, watched and killed.

use std::fs::OpenOptions;
use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use tokio::time::{Instant, sleep, timeout};

use super::{Place, config, wire};

/// From start to ready. Far above what recovery takes (invariant 24 is measured elsewhere), only to end a hang.
const READY_LIMIT: Duration = Duration::from_secs(30);
/// Between two questions whether it is ready.
const READY_STEP: Duration = Duration::from_millis(10);
/// From a signal to the end.
const EXIT_LIMIT: Duration = Duration::from_secs(30);

/// How a child is started.
#[derive(Debug, Clone, Default)]
pub struct Launch {
    pub binary: PathBuf,
    /// `HOOKONCE_KILL_AT`: the name of a kill point and which pass of it ends the process.
    pub kill_at: Option<String>,
    /// `HOOKONCE_STOP_AT`: the same, where the process stops and is not ended.
    pub stop_at: Option<String>,
    /// `HOOKONCE_PLANT`: a bug that the test build carries.
    pub plant: Option<String>,
    /// `HOOKONCE_LEASE_MS`: instead of the usual lease.
    pub lease: Option<Duration>,
}

impl Launch {
    fn hooks(&self) -> [(&'static str, Option<String>); 4] {
        let lease = self.lease.map(|lease| lease.as_millis().to_string());
        [
            ("HOOKONCE_KILL_AT", self.kill_at.clone()),
            ("HOOKONCE_STOP_AT", self.stop_at.clone()),
            ("HOOKONCE_PLANT", self.plant.clone()),
            ("HOOKONCE_LEASE_MS", lease),
        ]
    }
}

#[derive(Debug)]
pub struct Child {
    process: tokio::process::Child,
    admin: SocketAddr,
}

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// By SIGKILL, ours or its own at a kill point.
    Killed,
    /// Any other way: a bug of the server.
    Otherwise(ExitStatus),
}

impl Child {
    /// Starts it; the configuration must be written already. Its talk is appended to the run's log.
    pub fn spawn(place: &Place, launch: &Launch) -> Result<Self> {
        let log = OpenOptions::new().create(true).append(true).open(place.log())?;
        let mut command = tokio::process::Command::new(&launch.binary);
        command.args(["serve", "--drain-delay", "200ms", "--config"]).arg(place.config()).current_dir(&place.store);
        command.envs(config::SECRETS).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).kill_on_drop(true);
        for (name, value) in launch.hooks() {
            command.env_remove(name).envs(value.map(|value| (name, value)));
        }
        let process = command.spawn();
        let process = process.with_context(|| format!("cannot start `{}`", launch.binary.display()))?;
        Ok(Self { process, admin: place.admin() })
    }

    /// Waits until it says that it can serve. `false`: it died before (a kill point may lie in the start).
    pub async fn ready(&mut self) -> Result<bool> {
        let until = Instant::now() + READY_LIMIT;
        while Instant::now() < until {
            if self.process.try_wait()?.is_some() {
                return Ok(false);
            }
            if let Ok(200) = wire::get(self.admin, "/readyz").await {
                return Ok(true);
            }
            sleep(READY_STEP).await;
        }
        bail!("the server was not ready within {READY_LIMIT:?}")
    }

    /// Waits for its end up to `limit`; none: it lives.
    pub async fn ended(&mut self, limit: Duration) -> Result<Option<End>> {
        match timeout(limit, self.process.wait()).await {
            Ok(status) => Ok(Some(end(status?))),
            Err(_) => Ok(None),
        }
    }

    /// SIGKILL, then the end. What comes back tells whether it had died by itself before.
    pub async fn kill(&mut self) -> Result<End> {
        if let Some(status) = self.process.try_wait()? {
            return Ok(end(status));
        }
        self.process.start_kill()?;
        Ok(end(self.process.wait().await?))
    }

    pub fn signal(&self, signal: Signal) -> Result<()> {
        let pid = self.process.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        Ok(kill_process(pid.context("the server is gone")?, signal)?)
    }

    /// Waits until it has stopped itself; `false`: it went on for so long.
    pub async fn stopped(&self, limit: Duration) -> Result<bool> {
        let id = self.process.id().context("the server is gone")?;
        let until = Instant::now() + limit;
        while Instant::now() < until {
            // The state stands behind the name, which stands in brackets.
            let stat = std::fs::read_to_string(format!("/proc/{id}/stat"))?;
            if stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('T')) {
                return Ok(true);
            }
            sleep(READY_STEP).await;
        }
        Ok(false)
    }

    /// A graceful end; whether it was one.
    pub async fn drain(&mut self) -> Result<bool> {
        self.signal(Signal::TERM)?;
        match timeout(EXIT_LIMIT, self.process.wait()).await {
            Ok(status) => Ok(status?.success()),
            Err(_) => bail!("the server did not stop within {EXIT_LIMIT:?} of SIGTERM"),
        }
    }
}

fn end(status: ExitStatus) -> End {
    if status.signal() == Some(Signal::KILL.as_raw()) { End::Killed } else { End::Otherwise(status) }
}
