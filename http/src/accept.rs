//! The accept loop: slots for connections, and a drain that ends them in order. What a connection does with its time is
//! in `connection`.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::connection::{Http, http, serve};
use crate::limits::BACKLOG;
use crate::pulse::Pulse;
use crate::receive::Ingest;

/// Without descriptors `accept` fails at once, and again: then it waits for some to come free (X8).
const BREATH: Duration = Duration::from_millis(100);
/// For commits whose senders are gone, after the last connection.
const LAST_COMMITS: Duration = Duration::from_secs(5);

/// A bound socket, not yet served.
#[derive(Debug)]
pub struct Listener(TcpListener);

impl Listener {
    pub fn bind(address: SocketAddr) -> io::Result<Listener> {
        let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        Ok(Listener(socket.listen(BACKLOG)?))
    }

    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

impl From<TcpListener> for Listener {
    fn from(listener: TcpListener) -> Listener {
        Listener(listener)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Open,
    Draining,
    Cut,
}

/// What all connections look at, and where they are counted.
#[derive(Debug, Default)]
pub struct Gate {
    stage: AtomicU8,
    live: Mutex<Live>,
}

#[derive(Debug, Default)]
struct Live {
    next: u64,
    pulses: HashMap<u64, Arc<Pulse>>,
    addresses: HashMap<IpAddr, usize>,
}

impl Gate {
    pub fn stage(&self) -> Stage {
        match self.stage.load(Ordering::Relaxed) {
            0 => Stage::Open,
            1 => Stage::Draining,
            _ => Stage::Cut,
        }
    }

    fn set(&self, stage: Stage) {
        self.stage.store(stage as u8, Ordering::SeqCst);
        for pulse in self.lock().pulses.values() {
            pulse.waker.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `None`: the address has as many connections as it may.
    fn enter(self: &Arc<Gate>, from: IpAddr, limit: Option<usize>, pulse: &Arc<Pulse>) -> Option<Entry> {
        let mut live = self.lock();
        let of_address = live.addresses.entry(from).or_default();
        if limit.is_some_and(|limit| *of_address >= limit) {
            return None;
        }
        *of_address += 1;
        let number = live.next;
        live.next += 1;
        live.pulses.insert(number, pulse.clone());
        Some(Entry { gate: self.clone(), number, from })
    }
}

/// A connection on the list.
struct Entry {
    gate: Arc<Gate>,
    number: u64,
    from: IpAddr,
}

impl Drop for Entry {
    fn drop(&mut self) {
        let mut live = self.gate.lock();
        live.pulses.remove(&self.number);
        if let Some(count) = live.addresses.get_mut(&self.from) {
            *count -= 1;
            if *count == 0 {
                live.addresses.remove(&self.from);
            }
        }
    }
}

/// A listener at work.
#[derive(Debug)]
pub struct Server {
    ingest: Arc<Ingest>,
    gate: Arc<Gate>,
    stop: CancellationToken,
    connections: TaskTracker,
    accepting: JoinHandle<()>,
    reporting: JoinHandle<()>,
}

impl Server {
    pub fn start(ingest: Arc<Ingest>, listener: Listener) -> Server {
        let (gate, stop, connections) = (Arc::default(), CancellationToken::new(), TaskTracker::new());
        let doorman = Doorman {
            ingest: ingest.clone(),
            gate: Arc::clone(&gate),
            http: Arc::new(http()),
            slots: Arc::new(Semaphore::new(ingest.limits.connections)),
            connections: connections.clone(),
        };
        let accepting = tokio::spawn(doorman.run(listener.0, stop.clone()));
        let reporting = tokio::spawn(ingest.clone().report());
        Server { ingest, gate, stop, connections, accepting, reporting }
    }

    /// Takes no more connections, ends those without a request at once, and the others as their requests end; what is
    /// left after `grace` is cut. Commits that have begun are waited for. Answers how many connections were cut.
    pub async fn drain(self, grace: Duration) -> usize {
        self.stop.cancel();
        // It only ever ends by that token.
        let _ = self.accepting.await;
        self.gate.set(Stage::Draining);
        self.connections.close();
        let in_order = timeout(grace, self.connections.wait()).await;
        let cut = if in_order.is_ok() { 0 } else { self.connections.len() };
        self.gate.set(Stage::Cut);
        self.connections.wait().await;
        self.ingest.orphans.close();
        if timeout(LAST_COMMITS, self.ingest.orphans.wait()).await.is_err() {
            tracing::error!("commits without a waiting sender have not ended; their senders will repeat");
        }
        self.reporting.abort();
        self.ingest.report_now().await;
        cut
    }
}

struct Doorman {
    ingest: Arc<Ingest>,
    gate: Arc<Gate>,
    http: Arc<Http>,
    slots: Arc<Semaphore>,
    connections: TaskTracker,
}

impl Doorman {
    async fn run(self, listener: TcpListener, stop: CancellationToken) {
        let accept = async {
            let mut failing = false;
            loop {
                // Who comes while all slots are taken waits in the kernel's queue, which costs us nothing.
                let Ok(slot) = self.slots.clone().acquire_owned().await else { return };
                match listener.accept().await {
                    Ok((stream, from)) => {
                        failing = false;
                        self.admit(stream, from.ip(), slot);
                    }
                    Err(error) if is_of_peer(&error) => {}
                    Err(error) => {
                        if !std::mem::replace(&mut failing, true) {
                            tracing::error!(error = %error, "cannot accept connections");
                        }
                        sleep(BREATH).await;
                    }
                }
            }
        };
        stop.run_until_cancelled(accept).await;
    }

    fn admit(&self, stream: TcpStream, from: IpAddr, slot: OwnedSemaphorePermit) {
        let (ingest, http, gate) = (self.ingest.clone(), self.http.clone(), self.gate.clone());
        let pulse = Pulse::new(&ingest.limits);
        let Some(entry) = gate.enter(from, ingest.limits.connections_per_address, &pulse) else { return };
        self.connections.spawn(async move {
            serve(&http, stream, from, ingest, &gate, pulse).await;
            drop((entry, slot));
        });
    }
}

/// The peer went away before we took it: nothing to wait for.
fn is_of_peer(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}
