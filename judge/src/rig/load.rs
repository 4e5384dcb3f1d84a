//! The load: senders that behave like a provider at its worst. Everything sent is written down before it leaves, and
//! what came back, or that nothing came back, after it.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use super::Clock;
use super::traffic::{Letter, Occurrence, invent};
use super::wire::{self, Message};
use crate::dice::Dice;
use crate::history::{Books, Entry, Kind, Sent, Validity};
use crate::sign;

/// How a provider sends.
#[derive(Debug, Clone, Copy)]
pub struct Habits {
    /// Its patience. The usual one is longer than the server's own ack deadline.
    pub patience: Duration,
    /// Between two sends of one sender.
    pub pause: Duration,
}

impl Default for Habits {
    fn default() -> Self {
        Self { patience: Duration::from_secs(8), pause: Duration::ZERO }
    }
}

/// Before the next try when nobody listens.
const REFUSED_PAUSE: Duration = Duration::from_millis(20);
/// Occurrences that can still come again.
const REMEMBERED: usize = 256;
/// Copies that leave at once.
const PARALLEL: usize = 4;

/// Shared by all senders of a run and kept over restarts of the server, like the provider itself.
#[derive(Debug)]
pub struct Provider {
    /// Servers of one store; whoever does not listen is left out.
    to: Vec<SocketAddr>,
    turn: AtomicUsize,
    habits: Habits,
    books: Arc<Books>,
    clock: Clock,
    next: AtomicU64,
    stop: AtomicBool,
    /// Sends left in this round.
    budget: AtomicU64,
    memory: Mutex<Memory>,
}

#[derive(Debug, Default)]
struct Memory {
    sent: VecDeque<Occurrence>,
    /// Outcome unknown: to be sent again, as every provider does.
    again: VecDeque<Occurrence>,
}

impl Provider {
    pub fn new(to: SocketAddr, books: Arc<Books>, clock: Clock) -> Self {
        Self::among(vec![to], Habits::default(), books, clock)
    }

    /// As a load balancer sends: in turns, and past those that do not listen.
    pub fn among(to: Vec<SocketAddr>, habits: Habits, books: Arc<Books>, clock: Clock) -> Self {
        let (next, budget, turn) = (AtomicU64::new(1), AtomicU64::new(0), AtomicUsize::new(0));
        let stop = AtomicBool::new(false);
        Self { to, turn, habits, books, clock, next, stop, budget, memory: Mutex::default() }
    }

    /// A round of load by `senders` tasks, until `sends` are spent or [`Self::halt`].
    pub async fn round(self: &Arc<Self>, senders: u64, sends: u64, dice: &Dice) -> Result<()> {
        self.stop.store(false, Ordering::SeqCst);
        self.budget.store(sends, Ordering::SeqCst);
        let mut tasks = tokio::task::JoinSet::new();
        for n in 0..senders {
            let (me, dice) = (self.clone(), dice.fork(n));
            tasks.spawn(async move { me.sender(dice).await });
        }
        while let Some(ended) = tasks.join_next().await {
            ended??;
        }
        Ok(())
    }

    /// Sends every unknown one again until none is left or nobody listens any more.
    pub async fn settle(&self) -> Result<()> {
        let mut line = Line::default();
        while let Some(what) = self.unsure() {
            let letter = Letter { what, kind: Kind::Retry, validity: Validity::Valid };
            if !self.send(&letter, &mut line).await? {
                return Ok(());
            }
        }
        Ok(())
    }

    fn unsure(&self) -> Option<Occurrence> {
        self.memory().again.pop_front()
    }

    /// The one whose turn it is.
    pub fn to(&self) -> SocketAddr {
        let turn = self.turn.fetch_add(1, Ordering::SeqCst);
        self.to[turn % self.to.len()]
    }

    async fn connect(&self, line: &mut Line) -> bool {
        for _ in 0..self.to.len() {
            if line.open(self.to()).await {
                return true;
            }
        }
        false
    }

    pub fn halt(&self) {
        self.stop.store(true, Ordering::SeqCst);
    }

    fn memory(&self) -> std::sync::MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spend(&self) -> bool {
        !self.stop.load(Ordering::SeqCst)
            && self.budget.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |b| b.checked_sub(1)).is_ok()
    }

    async fn sender(self: Arc<Self>, mut dice: Dice) -> Result<()> {
        let mut line = Line::default();
        while self.spend() {
            let letters = self.think(&mut dice);
            if let [letter] = letters.as_slice() {
                self.send(letter, &mut line).await?;
            } else {
                self.at_once(letters).await?;
            }
            sleep(self.habits.pause).await;
        }
        Ok(())
    }

    /// What to send next.
    fn think(&self, dice: &mut Dice) -> Vec<Letter> {
        let mut memory = self.memory();
        if dice.below(2) == 0
            && let Some(what) = memory.again.pop_front()
        {
            return vec![Letter { what, kind: Kind::Retry, validity: Validity::Valid }];
        }
        let n = memory.sent.len() as u64;
        let known = memory.sent.get(dice.below(n) as usize).cloned();
        let fresh = self.invent(dice);
        let (kind, copies) = match dice.below(100) {
            0..64 => (Kind::First, 1),
            64..76 => (Kind::Duplicate, 1),
            76..82 => (Kind::Parallel, PARALLEL),
            82..90 => (Kind::Conflict, 1),
            _ => (Kind::Forged, 1),
        };
        let (what, validity) = match (kind, known) {
            (Kind::Duplicate, Some(known)) => (known, Validity::Valid),
            (Kind::Conflict, Some(known)) => (known.contradict(), Validity::Valid),
            (Kind::Forged, Some(known)) if dice.below(2) == 0 => (known, Validity::WrongSignature),
            (Kind::Forged, _) => (fresh, Validity::Tampered),
            _ => (fresh, Validity::Valid),
        };
        if matches!(kind, Kind::First | Kind::Parallel) {
            memory.sent.push_back(what.clone());
            if memory.sent.len() > REMEMBERED {
                memory.sent.pop_front();
            }
        }
        vec![Letter { what, kind, validity }; copies]
    }

    /// Several copies over connections of their own.
    async fn at_once(&self, letters: Vec<Letter>) -> Result<()> {
        let send = |letter: Letter| async move { self.send(&letter, &mut Line::default()).await };
        let mut letters = letters.into_iter();
        let (a, b) = (letters.next(), letters.next());
        let (c, d) = (letters.next(), letters.next());
        let maybe = |letter: Option<Letter>| async move {
            match letter {
                Some(letter) => send(letter).await,
                None => Ok(false),
            }
        };
        let (a, b, c, d) = tokio::join!(maybe(a), maybe(b), maybe(c), maybe(d));
        for sent in [a, b, c, d] {
            sent?;
        }
        Ok(())
    }

    /// Sends one letter; `false` if nobody listened, in which case nothing left us and nothing is written down.
    async fn send(&self, letter: &Letter, line: &mut Line) -> Result<bool> {
        match self.post(letter, line).await? {
            Told::Nobody => {
                if letter.kind == Kind::Retry {
                    self.remember(letter);
                }
                sleep(REFUSED_PAUSE).await;
                return Ok(false);
            }
            Told::Answer(answer) if answer.status()? < 500 => {}
            Told::Answer(_) | Told::Unknown => self.remember(letter),
        }
        Ok(true)
    }

    /// Sends one letter, writes down what came of it, and says so.
    pub async fn post(&self, letter: &Letter, line: &mut Line) -> Result<Told> {
        if !self.connect(line).await {
            return Ok(Told::Nobody);
        }
        let n = self.next.fetch_add(1, Ordering::SeqCst);
        self.books.history.append(&Entry::Send(self.record(n, letter)))?;
        let answer = line.exchange(&letter.request(self.to[0], &self.clock), self.habits.patience).await;
        let (entry, told) = match answer.and_then(|a| Ok((a.status()?, a))) {
            Ok((status, answer)) => (Entry::Answer { n, status, at: self.clock.now() }, Told::Answer(answer)),
            Err(why) => (Entry::Unknown { n, why: format!("{why:#}"), at: self.clock.now() }, Told::Unknown),
        };
        self.books.history.append(&entry)?;
        Ok(told)
    }

    /// Sends one letter over a connection of its own and goes away without waiting for the answer.
    pub async fn post_and_leave(&self, letter: &Letter, after: Duration) -> Result<()> {
        let mut line = Line::default();
        if !self.connect(&mut line).await {
            bail!("nobody listens at {:?}", self.to);
        }
        let n = self.next.fetch_add(1, Ordering::SeqCst);
        self.books.history.append(&Entry::Send(self.record(n, letter)))?;
        if let Some(mut stream) = line.0.take() {
            stream.write_all(&letter.request(self.to[0], &self.clock)).await?;
            sleep(after).await;
        }
        self.books.history.append(&Entry::Unknown { n, why: "went away".to_owned(), at: self.clock.now() })
    }

    /// A new occurrence of this provider.
    pub fn invent(&self, dice: &mut Dice) -> Occurrence {
        invent(self.next.fetch_add(1, Ordering::SeqCst), dice)
    }

    pub fn remember(&self, letter: &Letter) {
        if letter.validity == Validity::Valid {
            self.memory().again.push_back(letter.what.clone());
        }
    }

    fn record(&self, n: u64, letter: &Letter) -> Sent {
        let what = &letter.what;
        Sent {
            n,
            source: what.source.name().to_owned(),
            key: what.key.clone(),
            event_type: what.event_type.clone(),
            aggregate: what.aggregate.clone(),
            digest: sign::digest(&letter.body()),
            copy: letter.kind,
            validity: letter.validity,
            at: self.clock.now(),
        }
    }
}

/// What came of one letter.
#[derive(Debug, Clone)]
pub enum Told {
    /// Nobody listened.
    Nobody,
    Answer(Message),
    Unknown,
}

/// A keep-alive connection that is opened when needed and given up at the first trouble.
#[derive(Debug, Default)]
pub struct Line(Option<BufReader<TcpStream>>);

impl Line {
    pub async fn open(&mut self, to: SocketAddr) -> bool {
        if self.0.is_none() {
            self.0 = TcpStream::connect(to).await.ok().map(BufReader::new);
        }
        self.0.is_some()
    }

    async fn exchange(&mut self, request: &[u8], patience: Duration) -> Result<Message> {
        let mut stream = self.0.take().context("not connected")?;
        let answer = timeout(patience, async {
            stream.write_all(request).await?;
            wire::read(&mut stream).await?.context("closed without an answer")
        });
        let answer = answer.await??;
        if answer.header("connection").is_none_or(|v| !v.eq_ignore_ascii_case("close")) {
            self.0 = Some(stream);
        }
        Ok(answer)
    }
}
