//! The real binary in a folder of its own, and what a test does to it from outside: send, ask, signal.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use hookonce_core::request::Headers;
use hookonce_core::signature::{Keys, Parts, Scheme, Secret, catalog, sign};
use http::{HeaderName, HeaderValue};
use serde_json::Value;
use tempfile::TempDir;

/// When to give up, not how long anything should take.
pub const PATIENCE: Duration = Duration::from_secs(60);

pub struct Bed {
    pub folder: TempDir,
    /// Where it keeps things; `None`: in files of its folder.
    database: Option<String>,
    pub ingest: SocketAddr,
    admin: SocketAddr,
    env: Vec<(String, String)>,
    server: Option<(Child, Receiver<String>)>,
}

fn free() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address")
}

impl Bed {
    /// Not started yet. `config` stands behind the sections that every server needs.
    pub fn new(config: &str, env: &[(&str, &str)]) -> Bed {
        Bed::on(None, config, env)
    }

    /// A node on that database.
    pub fn node(url: &str, config: &str, env: &[(&str, &str)]) -> Bed {
        Bed::on(Some(url.to_owned()), config, env)
    }

    fn on(database: Option<String>, config: &str, env: &[(&str, &str)]) -> Bed {
        let bed = Bed {
            folder: TempDir::new().expect("a folder"),
            database,
            ingest: free(),
            admin: free(),
            env: env.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect(),
            server: None,
        };
        bed.configure(config);
        bed
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn configure(&self, config: &str) {
        let files = || format!("sqlite:{}", self.file("hookonce.db").display());
        let head = format!(
            "[store]\nurl = \"{}\"\n[ingest]\nlisten = \"{}\"\n[admin]\nlisten = \"{}\"\n",
            self.database.clone().unwrap_or_else(files),
            self.ingest,
            self.admin
        );
        fs::write(self.file("hookonce.toml"), head + config).expect("the configuration");
    }

    /// One of the program's commands, in the bed's folder.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hookonce"));
        let env = self.env.iter().map(|(n, v)| (n.as_str(), v.as_str()));
        command.args(args).current_dir(self.folder.path()).envs(env).stdin(Stdio::null());
        command
    }

    pub fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("the program")
    }

    /// What a command prints as JSON; it must end well.
    pub fn json(&self, args: &[&str]) -> Value {
        let out = self.run(&[args, &["--json"]].concat());
        assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
        serde_json::from_slice(&out.stdout).expect("JSON on stdout")
    }

    /// Asks until it is so.
    pub fn until<T>(&self, what: &str, ask: impl Fn(&Bed) -> Option<T>) -> T {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(answer) = ask(self) {
                return answer;
            }
            assert!(Instant::now() < end, "waited for {what}, in vain");
        }
    }

    pub fn start(&mut self, args: &[&str]) {
        self.start_and_hear(args);
    }

    /// The same; answers what was said until it was ready.
    pub fn start_and_hear(&mut self, args: &[&str]) -> Vec<String> {
        let at_once: &[&str] = if args.contains(&"--drain-delay") { &[] } else { &["--drain-delay", "0s"] };
        let command = self.command(&[&["serve"], at_once, args].concat());
        self.begin(command)
    }

    /// As `start`, but no file of the server may grow beyond so many KiB: a write that fails, for real.
    pub fn start_cramped(&mut self, kib: u64) {
        let mut command = Command::new("bash");
        let env = self.env.iter().map(|(n, v)| (n.as_str(), v.as_str()));
        let line = format!("trap '' XFSZ; ulimit -f {kib}; exec \"$0\" serve --drain-delay 0s");
        command.args(["-c", &line, env!("CARGO_BIN_EXE_hookonce")]).current_dir(self.folder.path()).envs(env);
        self.begin(command);
    }

    fn begin(&mut self, mut command: Command) -> Vec<String> {
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the server");
        let pipe = child.stderr.take().expect("a pipe");
        let (send, said) = channel();
        std::thread::spawn(move || BufReader::new(pipe).lines().map_while(Result::ok).try_for_each(|l| send.send(l)));
        self.server = Some((child, said));
        self.hear("ready     (")
    }

    /// Waits for a line of the server's talk that begins or goes on with that.
    pub fn wait_for(&self, text: &str) -> String {
        self.hear(text).pop().expect("the line that was waited for")
    }

    /// All lines up to that one.
    pub fn hear(&self, text: &str) -> Vec<String> {
        let (_, said) = self.server.as_ref().expect("a running server");
        let end = Instant::now() + PATIENCE;
        let mut all = Vec::new();
        while let Ok(line) = said.recv_timeout(end.saturating_duration_since(Instant::now())) {
            let found = line.contains(text);
            all.push(line);
            if found {
                return all;
            }
        }
        panic!("the server did not say `{text}`: {all:#?}");
    }

    pub fn signal(&self, name: &str) {
        let (child, _) = self.server.as_ref().expect("a running server");
        let status = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().expect("kill");
        assert!(status.success());
    }

    /// Waits for its end; answers the exit code.
    pub fn ended(&mut self) -> Option<i32> {
        let (mut child, _) = self.server.take().expect("a running server");
        child.wait().expect("an end").code()
    }

    /// What a scraper reads.
    pub fn metrics(&self) -> String {
        let mut stream = TcpStream::connect(self.admin).expect("the server listens");
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n").expect("a request");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("an answer");
        text
    }

    pub fn send(&self, source: &str, letter: &Letter) -> Answer {
        let mut stream = TcpStream::connect(self.ingest).expect("the server listens");
        stream.write_all(&letter.bytes(source)).expect("a request");
        let mut text = Vec::new();
        stream.read_to_end(&mut text).expect("an answer");
        Answer(String::from_utf8_lossy(&text).into_owned())
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        if let Some((mut child, _)) = self.server.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A whole answer, as text.
#[derive(Debug)]
pub struct Answer(String);

impl Answer {
    pub fn status(&self) -> u16 {
        self.0.get(9..12).and_then(|s| s.parse().ok()).unwrap_or(0)
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let line = self.0.lines().find(|l| l.to_ascii_lowercase().starts_with(&format!("{name}: ")))?;
        line.split_once(": ").map(|(_, value)| value)
    }

    pub fn verdict(&self) -> &str {
        self.header("hookonce-verdict").unwrap_or_default()
    }
}

/// A signed request.
#[derive(Clone, Debug)]
pub struct Letter {
    pub headers: Vec<(HeaderName, HeaderValue)>,
    pub body: String,
}

impl Letter {
    pub fn signed(scheme: &str, secret: &str, headers: &[(&'static str, &str)], body: &str) -> Letter {
        let scheme: &Scheme = catalog::scheme(scheme).expect("a known scheme");
        let keys = Keys::new(scheme, &[Secret::new("test", secret.to_owned())]).expect("keys");
        let plain = |(n, v): &(&'static str, &str)| {
            (HeaderName::from_static(n), HeaderValue::from_str(v).expect("a header value"))
        };
        let mut all: Vec<_> = headers.iter().map(plain).collect();
        let held = Headers(all.clone());
        let parts = Parts { method: "POST", target: "/", url: "", headers: &held, body: body.as_bytes() };
        let now = jiff::Timestamp::now().as_second();
        all.extend(sign(&keys, &parts, now).expect("a signature"));
        Letter { headers: all, body: body.to_owned() }
    }

    fn bytes(&self, source: &str) -> Vec<u8> {
        let mut text = format!(
            "POST /in/{source} HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Length: {}\r\n",
            self.body.len()
        );
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {}\r\n", value.to_str().expect("text")));
        }
        text.push_str("\r\n");
        text.push_str(&self.body);
        text.into_bytes()
    }
}

/// A receiver that answers what it is told to.
pub fn receiver(status: Arc<AtomicU16>, calls: Arc<AtomicUsize>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut buffer = [0u8; 16_384];
            let _ = stream.read(&mut buffer);
            calls.fetch_add(1, Ordering::SeqCst);
            let answer = format!(
                "HTTP/1.1 {} x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
                status.load(Ordering::SeqCst)
            );
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    port
}
