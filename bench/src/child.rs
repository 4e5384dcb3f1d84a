//! The servers under test, as processes of their own: the real binary, the same HTTP stack that only verifies, and the
//! trivial receiver.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use tokio::time::Instant;

use crate::body::SECRET;
use crate::measured::processor_seconds;
use crate::wire::{exchange, get};

/// A server that is not up after this long will not come.
const START: Duration = Duration::from_secs(30);
/// A port that was free may be taken before the server has it; then others are tried.
const TRIES: usize = 5;
const LOOK: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub struct Server {
    child: Child,
    pub ingest: SocketAddr,
    admin: SocketAddr,
    pub store: PathBuf,
}

/// Two ports that are free now, held at once so that they differ.
fn free_ports() -> Result<[SocketAddr; 2]> {
    let held = [TcpListener::bind("127.0.0.1:0")?, TcpListener::bind("127.0.0.1:0")?];
    Ok([held[0].local_addr()?, held[1].local_addr()?])
}

impl Server {
    /// `hookonce serve` on a store in `folder` (which may hold one already), with these consumers.
    pub async fn product(binary: &Path, folder: &Path, consumers: &str) -> Result<Server> {
        let mut tried = Server::on_free_ports(binary, folder, consumers).await;
        for _ in 1..TRIES {
            if tried.is_ok() {
                break;
            }
            tried = Server::on_free_ports(binary, folder, consumers).await;
        }
        tried
    }

    async fn on_free_ports(binary: &Path, folder: &Path, consumers: &str) -> Result<Server> {
        let [ingest, admin] = free_ports()?;
        let store = folder.join("hookonce.db");
        let text = format!(
            "[store]\nurl = \"sqlite:{}\"\n[ingest]\nlisten = \"{ingest}\"\n[admin]\nlisten = \"{admin}\"\n\
             [sources.crm]\nprovider = \"crmbridge\"\nsecret = {{ env = \"BENCH_SECRET\" }}\n{consumers}",
            store.display(),
        );
        let file = folder.join("hookonce.toml");
        fs::write(&file, text)?;
        let mut command = Command::new(binary);
        command.arg("serve").arg("--config").arg(&file).args(["--drain-delay", "0s"]).current_dir(folder);
        Server::start(command, ingest, admin, store, "HTTP/1.1 200").await
    }

    /// The bench's own binary in one of its other roles. They have one listener and no `/readyz`: any answer shows that
    /// they are up.
    pub async fn role(role: &str) -> Result<Server> {
        let [address, _] = free_ports()?;
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(role).arg(address.to_string());
        Server::start(command, address, address, PathBuf::new(), "HTTP/1.1").await
    }

    async fn start(
        mut command: Command,
        ingest: SocketAddr,
        admin: SocketAddr,
        store: PathBuf,
        up: &str,
    ) -> Result<Server> {
        command.env("BENCH_SECRET", SECRET).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().context("cannot start the server")?;
        let said = child.stderr.take().context("the server has no stderr")?;
        std::thread::spawn(move || pass_on(BufReader::new(said)));
        let mut server = Server { child, ingest, admin, store };
        server.ready(up).await?;
        Ok(server)
    }

    async fn ready(&mut self, up: &str) -> Result<()> {
        let end = Instant::now() + START;
        while Instant::now() < end {
            if let Some(status) = self.child.try_wait()? {
                bail!("the server ended at once: {status}");
            }
            if get(self.admin, "/readyz").await.is_ok_and(|answer| answer.starts_with(up)) {
                return Ok(());
            }
            tokio::time::sleep(LOOK).await;
        }
        bail!("the server is not ready after {START:?}")
    }

    /// Resident memory now, and the most that it ever was.
    pub fn resident_mib(&self) -> Result<[f64; 2]> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let mib = |name: &str| -> Result<f64> {
            let line = status.lines().find_map(|l| l.strip_prefix(name)).with_context(|| format!("no {name}"))?;
            Ok(line.trim().trim_end_matches(" kB").parse::<f64>()? / 1_024.0)
        };
        Ok([mib("VmRSS:")?, mib("VmHWM:")?])
    }

    /// Processor time of all its threads: it says more than a rate where others use the machine too.
    pub fn processor_seconds(&self) -> Result<f64> {
        processor_seconds(&format!("/proc/{}/stat", self.child.id()))
    }

    /// One number of `/metrics`, the sum over its labels. A name that is not there is an error: 0 would look measured.
    pub async fn metric(&self, name: &str) -> Result<f64> {
        let text = get(self.admin, "/metrics").await?;
        let of_name = |line: &&str| line.strip_prefix(name).is_some_and(|rest| rest.starts_with([' ', '{']));
        let values =
            text.lines().filter(of_name).map(|line| line.rsplit(' ').next().unwrap_or_default().parse::<f64>());
        let values: Vec<f64> = values.collect::<Result<_, _>>()?;
        if values.is_empty() {
            bail!("the server has no metric `{name}`");
        }
        Ok(values.iter().sum())
    }

    /// `pause` or `resume` of a consumer, through the API as a person would.
    pub async fn consumer(&self, name: &str, action: &str) -> Result<()> {
        let body = r#"{"actor":"bench","reason":"bench"}"#;
        let answer = self.api(&format!("POST /v1/consumers/{name}/{action}"), body).await?;
        if !answer.starts_with("HTTP/1.1 200") {
            bail!("`{action}` of `{name}`: {answer}");
        }
        Ok(())
    }

    pub async fn api(&self, line: &str, body: &str) -> Result<String> {
        let token = fs::read_to_string(self.store.with_extension("token"))?;
        let request = format!(
            "{line} HTTP/1.1\r\nHost: bench\r\nConnection: close\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            token.trim(),
            body.len()
        );
        exchange(self.admin, &request).await
    }

    /// Ends it in order and waits.
    pub fn stop(mut self) -> Result<()> {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM)?;
        let status = self.child.wait()?;
        if !status.success() {
            bail!("a server ended with {status}");
        }
        Ok(())
    }
}

impl Drop for Server {
    /// A bench that fails leaves no server behind.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the server says is shown only where it is a complaint.
fn pass_on(said: impl BufRead) {
    for line in said.lines().map_while(Result::ok) {
        if line.contains("ERROR") || line.contains("panicked") || line.starts_with("error") {
            eprintln!("  server: {line}");
        }
    }
}
