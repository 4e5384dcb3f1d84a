//! What stands between a server and its database, or its receiver: a line that can be cut.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    Whole,
    /// All connections end, and nobody gets through.
    Both,
    /// What the server says is swallowed from now on: statements arrive, their answers do not.
    Answers,
}

#[derive(Debug)]
pub struct Line {
    pub listen: SocketAddr,
    cut: watch::Sender<Cut>,
    /// Bytes that went out by it.
    carried: Arc<AtomicU64>,
    task: JoinHandle<()>,
}

impl Line {
    /// To the server of that url (`postgres://user@host:port`).
    pub async fn open(server: &str) -> Result<Self> {
        let to = server.rsplit(['@', '/']).next().context("a url of a server")?.to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let (listen, cut) = (listener.local_addr()?, watch::Sender::new(Cut::Whole));
        let (state, carried) = (cut.clone(), Arc::<AtomicU64>::default());
        let count = carried.clone();
        let task = tokio::spawn(async move {
            let mut open = tokio::task::JoinSet::new();
            while let Ok((near, _)) = listener.accept().await {
                if *state.borrow() != Cut::Both {
                    open.spawn(carry(near, to.clone(), state.subscribe(), count.clone()));
                }
                while open.try_join_next().is_some() {}
            }
        });
        Ok(Self { listen, cut, carried, task })
    }

    /// The same database by this way.
    pub fn url(&self, server: &str, name: &str) -> String {
        let user = server.split_once("://").and_then(|(_, rest)| rest.rsplit_once('@')).map_or("postgres", |(u, _)| u);
        format!("postgres://{user}@{}/{name}", self.listen)
    }

    pub fn carried(&self) -> u64 {
        self.carried.load(Ordering::SeqCst)
    }

    pub fn cut(&self, how: Cut) {
        self.cut.send_replace(how);
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn carry(near: TcpStream, to: String, mut cut: watch::Receiver<Cut>, count: Arc<AtomicU64>) {
    let Ok(far) = TcpStream::connect(&to).await else { return };
    let ((from_near, to_near), (from_far, to_far)) = (near.into_split(), far.into_split());
    let (answers, nobody) = (cut.clone(), AtomicU64::new(0));
    tokio::select! {
        () = copy(from_near, to_far, None, &count) => {}
        () = copy(from_far, to_near, Some(answers), &nobody) => {}
        _ = cut.wait_for(|cut| *cut == Cut::Both) => {}
    }
}

/// What was swallowed once is never made up for: such a connection stays dumb.
async fn copy(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, cut: Option<watch::Receiver<Cut>>, count: &AtomicU64) {
    let (mut bytes, mut dumb) = (vec![0; 1 << 16], false);
    while let Ok(n @ 1..) = from.read(&mut bytes).await {
        dumb |= cut.as_ref().is_some_and(|cut| *cut.borrow() == Cut::Answers);
        count.fetch_add(n as u64, Ordering::SeqCst);
        if !dumb && to.write_all(&bytes[..n]).await.is_err() {
            return;
        }
    }
}
