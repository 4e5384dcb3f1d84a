//! The servers under test, as processes of their own: the real binary, and the same HTTP stack that only verifies.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use tokio::time::Instant;

use crate::body::SECRET;

/// A server that is not up after this long will not come.
const START: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub struct Server {
    child: Child,
    pub ingest: SocketAddr,
    pub admin: SocketAddr,
    pub store: PathBuf,
}

/// What a product server is started with.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// TOML of consumers.
    pub consumers: String,
}

pub fn free_port() -> Result<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

impl Server {
    /// `hookonce serve` on a store in `folder` (which may hold one already).
    pub async fn product(binary: &Path, folder: &Path, config: &Config) -> Result<Server> {
        let (ingest, admin) = (free_port()?, free_port()?);
        let store = folder.join("hookonce.db");
        let text = format!(
            "[store]\nurl = \"sqlite:{}\"\n[ingest]\nlisten = \"{ingest}\"\n[admin]\nlisten = \"{admin}\"\n\
             [sources.crm]\nprovider = \"crmbridge\"\nsecret = {{ env = \"BENCH_SECRET\" }}\n{}",
            store.display(),
            config.consumers
        );
        let file = folder.join("hookonce.toml");
        fs::write(&file, text)?;
        let mut command = Command::new(binary);
        command.arg("serve").arg("--config").arg(&file).current_dir(folder);
        Server::start(command, ingest, admin, store).await
    }

    /// The bench's own binary in the role of the server that stores nothing.
    pub async fn verify_only() -> Result<Server> {
        let address = free_port()?;
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("verify-only").arg(address.to_string());
        Server::start(command, address, address, PathBuf::new()).await
    }

    async fn start(mut command: Command, ingest: SocketAddr, admin: SocketAddr, store: PathBuf) -> Result<Server> {
        command.env("BENCH_SECRET", SECRET).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().context("cannot start the server")?;
        let said = child.stderr.take().context("the server has no stderr")?;
        std::thread::spawn(move || pass_on(BufReader::new(said)));
        let mut server = Server { child, ingest, admin, store };
        server.ready().await?;
        Ok(server)
    }

    async fn ready(&mut self) -> Result<()> {
        let end = Instant::now() + START;
        loop {
            if let Some(status) = self.child.try_wait()? {
                bail!("the server ended at once: {status}");
            }
            if get(self.admin, "/readyz").await.is_ok_and(|a| self.listens(&a)) {
                return Ok(());
            }
            if Instant::now() > end {
                bail!("the server is not ready after {START:?}");
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The server that only verifies has no admin listener: any answer shows that it is up.
    fn listens(&self, answer: &str) -> bool {
        answer.starts_with("HTTP/1.1 200") || (self.admin == self.ingest && answer.starts_with("HTTP/1.1"))
    }

    pub fn resident_mib(&self) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:")).context("no VmRSS")?;
        let kib: f64 = line.trim().trim_end_matches(" kB").parse()?;
        Ok(kib / 1_024.0)
    }

    /// One number of `/metrics`, the sum over its labels.
    pub async fn metric(&self, name: &str) -> Result<f64> {
        let text = get(self.admin, "/metrics").await?;
        let values = text.lines().filter(|l| l.starts_with(name)).filter_map(|l| l.rsplit(' ').next()?.parse::<f64>().ok());
        Ok(values.sum())
    }

    /// `pause` or `resume` of a consumer, through the API as a person would.
    pub async fn consumer(&self, name: &str, action: &str) -> Result<()> {
        let token = fs::read_to_string(self.store.with_extension("token"))?;
        let body = r#"{"actor":"bench","reason":"bench"}"#;
        let request = format!(
            "POST /v1/consumers/{name}/{action} HTTP/1.1\r\nHost: bench\r\nConnection: close\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            token.trim(),
            body.len()
        );
        let answer = exchange(self.admin, request).await?;
        if !answer.starts_with("HTTP/1.1 200") {
            bail!("`{action}` of `{name}`: {answer}");
        }
        Ok(())
    }

    pub fn stop(mut self) -> Result<()> {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM)?;
        self.child.wait()?;
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

/// A plain GET over a connection of its own.
pub async fn get(address: SocketAddr, path: &str) -> Result<String> {
    exchange(address, format!("GET {path} HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n")).await
}

async fn exchange(address: SocketAddr, request: String) -> Result<String> {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let mut stream = tokio::net::TcpStream::connect(address).await?;
    stream.write_all(request.as_bytes()).await?;
    let mut text = Vec::new();
    stream.read_to_end(&mut text).await?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
