//! What the tests stand on: a store in memory that decides as the engine does, sources, and a client that sends bytes.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use hookonce_core::admit::{Admission, Known, Submission, Taken, Verdict, taken};
use hookonce_core::event::{Digest, Mapped};
use hookonce_core::identify::{Rule, RuleSpec};
use hookonce_core::request::Headers;
use hookonce_core::sample::Refusals;
use hookonce_core::signature::{Keys, Options, Parts, Secret, catalog, sign};
use hookonce_core::source::Respond;
use hookonce_core::time::{Micros, SECOND};
use hookonce_http::{
    Ingest, Intake, Limits, Listener, MAX_BODY, Server, SignatureOver, Source, Unavailable, Verification,
};
use http::Method;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

pub const T0: i64 = 1_767_225_600;
pub const SECRET_A: &str = "field-test-secret-A-0123456789abcdef";
/// A test that waits so long hangs.
const HANGS: Duration = Duration::from_secs(60);

/// The store: verdicts by the engine's own rules, and switches for its troubles.
pub struct Memory {
    pub now: AtomicI64,
    pub broken: AtomicBool,
    /// Takes no counts of refused requests.
    pub refuses: AtomicBool,
    /// Commits wait for a permit here. Many of them, unless a test takes them away.
    pub commits: Semaphore,
    /// One permit for each admission that has begun.
    pub begun: Semaphore,
    pub submitted: Mutex<Vec<Submission>>,
    known: Mutex<HashMap<Digest, Known>>,
    pub refused: Mutex<Vec<Refusals>>,
}

impl Memory {
    fn new() -> Arc<Memory> {
        Arc::new(Memory {
            now: AtomicI64::new(T0 * SECOND),
            broken: AtomicBool::new(false),
            refuses: AtomicBool::new(false),
            commits: Semaphore::new(Semaphore::MAX_PERMITS / 2),
            begun: Semaphore::new(0),
            submitted: Mutex::default(),
            known: Mutex::default(),
            refused: Mutex::default(),
        })
    }

    pub fn stored(&self) -> Vec<Submission> {
        self.submitted.lock().unwrap().clone()
    }

    pub fn events(&self) -> usize {
        self.known.lock().unwrap().len()
    }

    /// Reason → how often, over all batches.
    pub fn reasons(&self) -> HashMap<String, u64> {
        let mut sums = HashMap::new();
        for batch in self.refused.lock().unwrap().iter() {
            for (_, reason, times) in &batch.counts {
                *sums.entry(reason.clone()).or_default() += times;
            }
        }
        sums
    }

    fn verdict(&self, mapped: &Mapped) -> Verdict {
        let Mapped::Item(item) = mapped else { return Verdict::Unmapped { id: 1, reason: "unmapped".to_owned() } };
        let mut known = self.known.lock().unwrap();
        let event = known.len() as i64 + 1;
        let fresh = Known {
            event,
            fingerprint: item.fingerprint,
            body_hash: item.body_hash,
            rule: item.rule,
            kind: item.kind.clone(),
            aggregate: item.aggregate.clone(),
            conflicts: Vec::new(),
        };
        match known.get(&item.digest).map(|held| taken(item, held)) {
            None => {
                known.insert(item.digest, fresh);
                Verdict::Accepted { event, hold: None }
            }
            Some(Taken::Duplicate { of, .. }) => Verdict::Duplicate { of },
            Some(Taken::Conflict { with, differs, .. }) => Verdict::Conflict { with, differs, kept: true },
            Some(Taken::Unknown { of }) => Verdict::Duplicate { of },
        }
    }
}

impl Intake for Memory {
    fn admit(&self, submission: Submission) -> BoxFuture<'_, Result<Admission, Unavailable>> {
        Box::pin(async move {
            self.begun.add_permits(1);
            self.commits.acquire().await.unwrap().forget();
            if self.broken.load(SeqCst) {
                return Err(Unavailable("disk full".to_owned()));
            }
            let verdicts = submission.mapped.iter().map(|m| self.verdict(m)).collect();
            self.submitted.lock().unwrap().push(submission);
            Ok(Admission { verdicts })
        })
    }

    fn refused(&self, refusals: Refusals) -> BoxFuture<'_, Result<(), Unavailable>> {
        Box::pin(async move {
            if self.refuses.load(SeqCst) {
                return Err(Unavailable("disk full".to_owned()));
            }
            self.refused.lock().unwrap().push(refusals);
            Ok(())
        })
    }

    fn now(&self) -> Micros {
        self.now.load(SeqCst)
    }
}

/// A server on a port of its own.
pub struct Bed {
    pub memory: Arc<Memory>,
    pub ingest: Arc<Ingest>,
    pub server: Server,
    pub address: SocketAddr,
}

impl Bed {
    pub fn new(sources: Vec<Source>) -> Bed {
        Bed::with(sources, Limits::default())
    }

    pub fn with(sources: Vec<Source>, limits: Limits) -> Bed {
        let memory = Memory::new();
        let ingest = Ingest::new(memory.clone(), sources, limits);
        let listener = Listener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        let address = listener.local_addr().unwrap();
        let server = Server::start(ingest.clone(), listener);
        Bed { memory, ingest, server, address }
    }

    pub async fn peer(&self) -> Peer {
        Peer { stream: TcpStream::connect(self.address).await.unwrap(), read: Vec::new(), of_head: false }
    }

    /// One request on a connection of its own.
    pub async fn ask(&self, request: &[u8]) -> Answer {
        let mut peer = self.peer().await;
        peer.of_head = request.starts_with(b"HEAD ");
        peer.send(request).await;
        peer.answer().await.expect("an answer")
    }

    pub async fn post(&self, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        self.ask(&request("POST", path, headers, body)).await
    }

    /// A signed push to the source `gh`.
    pub async fn push(&self, id: &str, body: &[u8]) -> Answer {
        self.ask(&push("/in/gh", id, body)).await
    }
}

pub struct Peer {
    pub stream: TcpStream,
    read: Vec<u8>,
    /// An answer to HEAD tells a length and has no body.
    of_head: bool,
}

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().skip(1).filter_map(|line| line.split_once(':'));
        lines.find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.trim())
    }
}

impl Peer {
    pub async fn send(&mut self, bytes: &[u8]) {
        // A server that has said no closes; the answer is read, not the error.
        let _ = self.stream.write_all(bytes).await;
    }

    /// The next answer; `None`: the connection is over.
    pub async fn answer(&mut self) -> Option<Answer> {
        let end = loop {
            if let Some(end) = self.read.windows(4).position(|w| w == b"\r\n\r\n") {
                break end;
            }
            self.more().await?;
        };
        let head = String::from_utf8(self.read.drain(..end + 4).collect()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut answer = Answer { status, head, body: Vec::new() };
        let length = answer.header("content-length").map_or(0, |n| n.parse().unwrap());
        let length = if self.of_head { 0 } else { length };
        while self.read.len() < length {
            self.more().await?;
        }
        answer.body = self.read.drain(..length).collect();
        if status == 100 { Box::pin(self.answer()).await } else { Some(answer) }
    }

    /// Reads to the end; whether there was nothing more.
    pub async fn is_closed(&mut self) -> bool {
        while self.more().await.is_some() {}
        self.read.is_empty()
    }

    /// Reads until these bytes have come.
    pub async fn until(&mut self, bytes: &[u8]) {
        while !self.read.windows(bytes.len()).any(|window| window == bytes) {
            self.more().await.expect("they come before the end");
        }
    }

    async fn more(&mut self) -> Option<()> {
        let mut bytes = [0; 4096];
        let read =
            tokio::time::timeout(HANGS, self.stream.read(&mut bytes)).await.expect("the server keeps us waiting");
        let read = read.unwrap_or(0);
        self.read.extend_from_slice(&bytes[..read]);
        (read > 0).then_some(())
    }
}

pub fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut text = format!("{method} {path} HTTP/1.1\r\nHost: hooks.test\r\n");
    for (name, value) in headers {
        text += &format!("{name}: {value}\r\n");
    }
    text += &format!("Content-Length: {}\r\n\r\n", body.len());
    [text.as_bytes(), body].concat()
}

pub fn push(path: &str, id: &str, body: &[u8]) -> Vec<u8> {
    let signature = signature(body);
    let headers = [("X-GitHub-Delivery", id), ("X-GitHub-Event", "push"), ("X-Hub-Signature-256", &*signature)];
    request("POST", path, &headers, body)
}

fn keys() -> Keys {
    Keys::new(catalog::GITHUB.schemes[0], &[Secret::new("a", SECRET_A)]).unwrap()
}

/// What GitHub would write into its header.
pub fn signature(body: &[u8]) -> String {
    let headers = Headers::default();
    let parts = Parts { method: "POST", target: "/", url: "", headers: &headers, body };
    sign(&keys(), &parts, T0).unwrap()[0].1.to_str().unwrap().to_owned()
}

/// The profile `gh` of the field cases.
pub fn gh() -> Source {
    let text = |text: &str| Some(vec![text.to_owned()]);
    let rule =
        RuleSpec { key: text("header:X-GitHub-Delivery"), kind: text("header:X-GitHub-Event"), ..RuleSpec::default() };
    source("gh", Verification::Keys(Box::new(keys())), &rule)
}

pub fn source(name: &str, verification: Verification, rule: &RuleSpec) -> Source {
    Source {
        name: name.into(),
        namespace: name.into(),
        methods: vec![Method::POST],
        max_body: MAX_BODY,
        verification,
        options: Options::default(),
        rule: Arc::new(Rule::compile(name, name, rule).unwrap()),
        signature_over: SignatureOver::Wire,
        handshakes: Vec::new(),
        respond: Respond::default(),
        ack_deadline: Source::ack_deadline(None),
        public_url: None,
        secret_headers: Vec::new(),
    }
}
