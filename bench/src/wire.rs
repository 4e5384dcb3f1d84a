//! Single requests to a server under test, each on a connection of its own.

use std::net::SocketAddr;

use anyhow::Result;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// A plain GET: the whole answer as text, head and body.
pub async fn get(address: SocketAddr, path: &str) -> Result<String> {
    exchange(address, &format!("GET {path} HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n")).await
}

pub async fn exchange(address: SocketAddr, request: &str) -> Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(request.as_bytes()).await?;
    let mut text = Vec::new();
    stream.read_to_end(&mut text).await?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
