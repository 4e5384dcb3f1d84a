//! A link to the database that can be cut: at once, behind the commit and before its answer, or without a word.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::SeqCst};

use hookonce::sql::call::Tap;
use hookonce::store::StoreError;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Cut {
    /// Nothing is cut.
    Whole,
    /// What is sent now does not reach the server.
    Before,
    /// The server has committed, and nobody hears of it.
    Behind,
    /// Nothing passes any more, and nobody is told.
    Hole,
}

/// Cuts each connection once it sees a commit: that one connection, or all that it is told to.
#[derive(Debug, Default)]
pub struct Link {
    how: AtomicU8,
    pub cuts: AtomicU8,
}

impl Link {
    fn how(&self) -> Cut {
        [Cut::Whole, Cut::Before, Cut::Behind, Cut::Hole][usize::from(self.how.load(SeqCst))]
    }

    /// The next flight with a commit is cut so.
    pub fn cut(&self, how: Cut) {
        self.how.store(how as u8, SeqCst);
    }

    /// Whole again, for whoever connects now.
    fn done(&self) {
        self.how.store(Cut::Whole as u8, SeqCst);
        self.cuts.fetch_add(1, SeqCst);
    }

    /// Stands between clients and the server; answers its address.
    pub fn open(self: &Arc<Self>, runtime: &Runtime, server: &str) -> String {
        let host = server.split('@').next_back().unwrap().split('/').next().unwrap().to_owned();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let here = listener.local_addr().unwrap();
        let link = self.clone();
        let to = host.clone();
        runtime.spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(&to).await.unwrap();
                let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
                let (up, down) = (link.clone(), link.clone());
                tokio::spawn(async move { up.up(from_client, to_server).await });
                tokio::spawn(async move { down.down(from_server, to_client).await });
            }
        });
        // It has to see what passes.
        format!("{}?sslmode=disable", server.replace(&host, &here.to_string()))
    }

    /// The commit of the engine is told by the tap, before it is sent.
    async fn up(&self, mut from: OwnedReadHalf, mut to: OwnedWriteHalf) {
        let mut bytes = vec![0; 1 << 16];
        while let Ok(n @ 1..) = from.read(&mut bytes).await {
            match self.how() {
                Cut::Before => {
                    self.done();
                    return;
                }
                Cut::Hole => {
                    self.done();
                    // Held open for ever: whoever waits must give up by himself.
                    std::future::pending::<()>().await;
                }
                Cut::Whole | Cut::Behind => {
                    if to.write_all(&bytes[..n]).await.is_err() {
                        return;
                    }
                }
            }
        }
    }

    async fn down(&self, mut from: OwnedReadHalf, mut to: OwnedWriteHalf) {
        let (mut bytes, mut seen) = (vec![0; 1 << 16], Vec::new());
        while let Ok(n @ 1..) = from.read(&mut bytes).await {
            if self.how() == Cut::Behind {
                seen.extend_from_slice(&bytes[..n]);
                if seen.windows(7).any(|tag| tag == b"COMMIT\0") {
                    self.done();
                    return;
                }
                continue;
            }
            if to.write_all(&bytes[..n]).await.is_err() {
                return;
            }
        }
    }
}

/// Cuts the link at the n-th commit from when it was set.
#[derive(Debug, Default)]
pub struct AtCommit {
    pub link: Arc<Link>,
    next: std::sync::Mutex<Option<Cut>>,
}

impl AtCommit {
    pub fn set(&self, how: Cut) {
        *self.next.lock().unwrap() = Some(how);
    }
}

impl Tap for AtCommit {
    fn before(&self, statement: &'static str) -> Result<(), StoreError> {
        if statement == "commit"
            && let Some(how) = self.next.lock().unwrap().take()
        {
            self.link.cut(how);
        }
        Ok(())
    }
}
