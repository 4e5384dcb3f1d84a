//! HTTP/1.1 by hand, both sides: what is sent is exactly the bytes that were written down, and no client library
//! retries, pools or re-frames behind our back.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Longest head that either side sends here.
const HEAD_MAX: usize = 64 * 1024;
/// Longest body.
const BODY_MAX: usize = 4 * 1024 * 1024;
/// One question to the admin listener.
const GET_LIMIT: Duration = Duration::from_secs(2);

/// A request or a response: its first line, its headers as they came, its body.
#[derive(Debug, Clone, Default)]
pub struct Message {
    pub start: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Message {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str())
    }

    /// The second word: a request's target, a response's status.
    pub fn second(&self) -> &str {
        self.start.split(' ').nth(1).unwrap_or("")
    }

    pub fn status(&self) -> Result<u16> {
        self.second().parse().with_context(|| format!("not a status line: `{}`", self.start))
    }
}

/// Reads one message; none if the other side closed before its first byte.
pub async fn read<S: AsyncRead + Unpin>(from: &mut BufReader<S>) -> Result<Option<Message>> {
    let Some(head) = read_head(from).await? else { return Ok(None) };
    let mut message = parse_head(&head)?;
    let length: usize = match message.header("content-length") {
        Some(text) => text.trim().parse().with_context(|| format!("content-length `{text}`"))?,
        None if message.header("transfer-encoding").is_some() => bail!("a chunked body, which nobody sends here"),
        None => 0,
    };
    if length > BODY_MAX {
        bail!("a body of {length} bytes");
    }
    message.body = vec![0; length];
    from.read_exact(&mut message.body).await.context("the body ended early")?;
    Ok(Some(message))
}

async fn read_head<S: AsyncRead + Unpin>(from: &mut BufReader<S>) -> Result<Option<Vec<u8>>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() > HEAD_MAX {
            bail!("a head of more than {HEAD_MAX} bytes");
        }
        match from.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(e) if head.is_empty() && e.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(e) => return Err(e).context("the head ended early"),
        }
    }
    Ok(Some(head))
}

fn parse_head(head: &[u8]) -> Result<Message> {
    let text = String::from_utf8(head.to_vec()).context("the head is not text")?;
    let mut lines = text.split("\r\n");
    let start = lines.next().unwrap_or("").to_owned();
    let headers = lines.filter_map(|l| l.split_once(':')).map(|(n, v)| (n.to_owned(), v.trim().to_owned())).collect();
    Ok(Message { start, headers, body: Vec::new() })
}

/// A POST as bytes.
pub fn post(host: SocketAddr, path: &str, headers: &[(String, String)], body: &[u8]) -> Vec<u8> {
    let lines: String = headers.iter().map(|(n, v)| format!("{n}: {v}\r\n")).collect();
    let mut bytes = format!("POST {path} HTTP/1.1\r\nhost: {host}\r\n{lines}content-length: {}\r\n\r\n", body.len());
    // One write: a head that arrives alone would only measure the kernel.
    bytes.reserve(body.len());
    let mut bytes = bytes.into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

/// An answer without a body.
pub fn answer(status: u16) -> Vec<u8> {
    let word = if status < 300 { "OK" } else { "Failed" };
    format!("HTTP/1.1 {status} {word}\r\ncontent-length: 0\r\n\r\n").into_bytes()
}

/// The status of a GET over a connection of its own.
pub async fn get(at: SocketAddr, path: &str) -> Result<u16> {
    let ask = async {
        let mut stream = BufReader::new(TcpStream::connect(at).await?);
        let request = format!("GET {path} HTTP/1.1\r\nhost: {at}\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        read(&mut stream).await?.context("closed without an answer")?.status()
    };
    timeout(GET_LIMIT, ask).await?
}
