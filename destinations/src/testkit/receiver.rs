//! A tiny HTTP receiver on a loopback socket: it keeps everything that arrives, and answers what a script says, also
//! what no sane server would. It reads HTTP by itself, so that nothing hides what was on the wire.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufStream};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A body that is longer is a bug of the sender.
const BODY_MAX: usize = 64 * 1_024 * 1_024;

/// A request as it stood on the wire.
#[derive(Clone, Debug, Default)]
pub struct Received {
    pub line: String,
    /// In their order, names as sent.
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

impl Received {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str())
    }
}

/// What it answers.
#[derive(Clone, Debug)]
pub enum Reply {
    Status(u16),
    /// Status, header lines, body.
    Full(u16, Vec<(&'static str, String)>, Bytes),
    /// These bytes, then the connection is closed.
    Raw(Vec<u8>),
    /// Nothing, and the connection is reset.
    Reset,
    /// Nothing, and the connection stays open.
    Silence,
    /// These bytes, then nothing more, and the connection stays open.
    Stall(Vec<u8>),
    /// These bytes, then the last of them over and over, as long as somebody reads.
    Endless(Vec<u8>),
}

type Script = dyn Fn(usize, &Received) -> Reply + Send + Sync;

#[derive(Debug)]
pub struct Receiver {
    pub address: SocketAddr,
    seen: Arc<Seen>,
    accepting: JoinHandle<()>,
}

#[derive(Debug)]
struct Seen {
    requests: Mutex<Vec<Received>>,
    connections: AtomicUsize,
    count: watch::Sender<usize>,
}

impl Receiver {
    /// Answers each request by the script, which gets its number (from 0) and the request.
    pub async fn start(script: impl Fn(usize, &Received) -> Reply + Send + Sync + 'static) -> io::Result<Receiver> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let seen = Seen { requests: Mutex::default(), connections: AtomicUsize::new(0), count: watch::Sender::new(0) };
        let seen = Arc::new(seen);
        let accepting = tokio::spawn(accept(listener, Arc::clone(&seen), Arc::new(script)));
        Ok(Receiver { address, seen, accepting })
    }

    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    pub fn requests(&self) -> Vec<Received> {
        self.seen.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn connections(&self) -> usize {
        self.seen.connections.load(Ordering::SeqCst)
    }

    /// Ends when so many have arrived.
    pub async fn arrived(&self, count: usize) -> Vec<Received> {
        let mut seen = self.seen.count.subscribe();
        // The sender lives in `seen`, which this holds.
        let _ = seen.wait_for(|n| *n >= count).await;
        self.requests()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, seen: Arc<Seen>, script: Arc<Script>) {
    while let Ok((stream, _)) = listener.accept().await {
        let (seen, script) = (Arc::clone(&seen), Arc::clone(&script));
        seen.connections.fetch_add(1, Ordering::SeqCst);
        tokio::spawn(async move {
            // A sender that goes away is what these tests are about.
            let _ = serve(stream, &seen, &*script).await;
        });
    }
}

async fn serve(stream: TcpStream, seen: &Seen, script: &Script) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut stream = BufStream::new(stream);
    while let Some(request) = read(&mut stream).await? {
        let reply = {
            let mut requests = seen.requests.lock().unwrap_or_else(PoisonError::into_inner);
            requests.push(request.clone());
            script(requests.len() - 1, &request)
        };
        seen.count.send_modify(|count| *count += 1);
        if !answer(&mut stream, reply).await? {
            return Ok(());
        }
    }
    Ok(())
}

async fn read(stream: &mut BufStream<TcpStream>) -> io::Result<Option<Received>> {
    let mut received = Received::default();
    if stream.read_line(&mut received.line).await? == 0 {
        return Ok(None);
    }
    received.line.truncate(received.line.trim_end().len());
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        received.headers.push((name.to_owned(), value.to_owned()));
    }
    let length = received.header("content-length").and_then(|v| v.parse().ok()).unwrap_or(0).min(BODY_MAX);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    received.body = body.into();
    Ok(Some(received))
}

/// Whether the connection can be used again.
async fn answer(stream: &mut BufStream<TcpStream>, reply: Reply) -> io::Result<bool> {
    match reply {
        Reply::Status(status) => full(stream, status, &[], &[]).await,
        Reply::Full(status, headers, body) => full(stream, status, &headers, &body).await,
        Reply::Raw(bytes) => {
            stream.write_all(&bytes).await?;
            stream.flush().await?;
            Ok(false)
        }
        Reply::Reset => {
            stream.get_ref().set_zero_linger()?;
            Ok(false)
        }
        Reply::Silence => stalled(stream, &[]).await,
        Reply::Stall(bytes) => stalled(stream, &bytes).await,
        Reply::Endless(bytes) => {
            let last = [*bytes.last().unwrap_or(&b'x'); 1_024];
            stream.write_all(&bytes).await?;
            loop {
                stream.write_all(&last).await?;
                stream.flush().await?;
            }
        }
    }
}

async fn full(
    stream: &mut BufStream<TcpStream>,
    status: u16,
    headers: &[(&'static str, String)],
    body: &[u8],
) -> io::Result<bool> {
    let mut head = format!("HTTP/1.1 {status} x\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body).await?;
    stream.flush().await?;
    Ok(true)
}

/// Until the other side closes.
async fn stalled(stream: &mut BufStream<TcpStream>, bytes: &[u8]) -> io::Result<bool> {
    stream.write_all(bytes).await?;
    stream.flush().await?;
    let mut rest = [0; 1_024];
    while stream.read(&mut rest).await? > 0 {}
    Ok(false)
}
