//! The receiver: what stands behind `http` consumers. It writes down every arrival before it answers, and keeps the
//! business table of a customer who recognises repeats by the message id.

use std::collections::{HashSet, VecDeque};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::Clock;
use super::config::APP_SECRET;
use super::wire::{self, Message};
use crate::dice::Dice;
use crate::history::{Arrival, Books, Effect, Reply};
use crate::sign;

/// How long a silent receiver holds a connection.
const SILENCE: Duration = Duration::from_millis(150);

/// How it treats what arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// Always 200.
    Kind,
    /// Mostly 200; some 500, some done and silent, some silent.
    Rough,
    /// Nothing is done, 500 always.
    Down,
}

#[derive(Debug)]
pub struct Receiver {
    books: Arc<Books>,
    clock: Clock,
    manner: AtomicU8,
    /// How long a good answer is kept back.
    delay: AtomicU64,
    dice: Mutex<Dice>,
    done: Mutex<HashSet<(String, String)>>,
    last: AtomicU64,
    arrived: watch::Sender<u64>,
    /// Replies that come before the manner has its say.
    script: Mutex<VecDeque<Reply>>,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl Receiver {
    pub async fn start(at: SocketAddr, books: Arc<Books>, clock: Clock, dice: Dice) -> Result<Arc<Self>> {
        let listener = TcpListener::bind(at).await?;
        let me = Arc::new(Self {
            books,
            clock,
            manner: AtomicU8::new(Manner::Kind as u8),
            delay: AtomicU64::new(0),
            dice: Mutex::new(dice),
            done: Mutex::default(),
            last: AtomicU64::new(clock.now()),
            arrived: watch::Sender::new(0),
            script: Mutex::default(),
            task: Mutex::default(),
        });
        let serving = tokio::spawn(me.clone().serve(listener));
        *me.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(serving);
        Ok(me)
    }

    pub fn behave(&self, manner: Manner) {
        self.manner.store(manner as u8, Ordering::SeqCst);
    }

    /// Answers come only after `delay`, silence lasts as long; the arrival is on record and the effect done before.
    pub fn hold(&self, delay: Duration) {
        self.delay.store(u64::try_from(delay.as_millis()).unwrap_or(u64::MAX), Ordering::SeqCst);
    }

    /// The next arrivals are answered so, whatever the manner is.
    pub fn script(&self, replies: impl IntoIterator<Item = Reply>) {
        self.script.lock().unwrap_or_else(PoisonError::into_inner).extend(replies);
    }

    /// Waits until `count` requests have arrived since the start; an error after `limit`.
    pub async fn arrivals(&self, count: u64, limit: Duration) -> Result<()> {
        let mut seen = self.arrived.subscribe();
        let waited = timeout(limit, seen.wait_for(|n| *n >= count)).await;
        waited.with_context(|| format!("fewer than {count} arrivals within {limit:?}"))??;
        Ok(())
    }

    /// When something arrived last.
    pub fn last(&self) -> u64 {
        self.last.load(Ordering::SeqCst)
    }

    pub fn stop(&self) {
        if let Some(task) = self.task.lock().unwrap_or_else(PoisonError::into_inner).take() {
            task.abort();
        }
    }

    async fn serve(self: Arc<Self>, listener: TcpListener) {
        // The set ends with this task: what is open then is cut, like everything of a receiver that goes away.
        let mut open = tokio::task::JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            open.spawn(self.clone().connection(stream));
            while open.try_join_next().is_some() {}
        }
    }

    async fn connection(self: Arc<Self>, stream: TcpStream) {
        let mut stream = BufReader::new(stream);
        while let Ok(Some(request)) = wire::read(&mut stream).await {
            let answered = match self.take(&request) {
                Ok(reply) => self.reply(&mut stream, reply).await,
                Err(why) => panic!("evidence cannot be written: {why:#}"),
            };
            if !answered {
                return;
            }
        }
    }

    /// Writes the arrival down and does the business, once per message id.
    fn take(&self, request: &Message) -> Result<Reply> {
        let reply = self.decide();
        let arrival = self.arrival(request, reply);
        self.books.sink.append(&arrival)?;
        self.arrived.send_modify(|n| *n += 1);
        let (consumer, message) = (arrival.consumer, arrival.message);
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        if reply.did_it() && done.insert((consumer.clone(), message.clone())) {
            self.books.effects.append(&Effect { consumer, message, digest: arrival.digest, at: arrival.at })?;
        }
        Ok(reply)
    }

    fn arrival(&self, request: &Message, reply: Reply) -> Arrival {
        let text = |name: &str| request.header(name).unwrap_or("").to_owned();
        let at = self.clock.now();
        self.last.store(at, Ordering::SeqCst);
        let (message, time, signatures) = (text("webhook-id"), text("webhook-timestamp"), text("webhook-signature"));
        Arrival {
            consumer: request.second().trim_start_matches('/').to_owned(),
            signed: sign::standard_holds(APP_SECRET, &message, &time, &request.body, &signatures),
            message,
            source: text("hookonce-source"),
            key: text("hookonce-key"),
            event: text("hookonce-event"),
            version: request.header("hookonce-version").map(str::to_owned),
            digest: sign::digest(&request.body),
            reply,
            at,
        }
    }

    fn decide(&self) -> Reply {
        if let Some(reply) = self.script.lock().unwrap_or_else(PoisonError::into_inner).pop_front() {
            return reply;
        }
        let drawn = self.dice.lock().unwrap_or_else(PoisonError::into_inner).below(100);
        match self.manner.load(Ordering::SeqCst) {
            m if m == Manner::Down as u8 => Reply::Failed,
            m if m == Manner::Rough as u8 => match drawn {
                0..6 => Reply::Failed,
                6..9 => Reply::DoneThenSilence,
                9..11 => Reply::Silence,
                _ => Reply::Done,
            },
            _ => Reply::Done,
        }
    }

    fn held(&self) -> Duration {
        Duration::from_millis(self.delay.load(Ordering::SeqCst))
    }

    /// Whether the connection goes on.
    async fn reply(&self, stream: &mut BufReader<TcpStream>, reply: Reply) -> bool {
        let status = match reply {
            Reply::Done => 200,
            Reply::Failed => 500,
            Reply::DoneThenSilence => return false,
            Reply::Silence => {
                sleep(SILENCE.max(self.held())).await;
                return false;
            }
        };
        if !self.held().is_zero() {
            sleep(self.held()).await;
        }
        stream.write_all(&wire::answer(status)).await.is_ok()
    }
}
