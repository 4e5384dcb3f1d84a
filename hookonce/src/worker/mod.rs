//! A consumer's loop. One `step`: register for hints, put at most one question to the store, wait for whatever comes
//! first: its answer, the end of a run, a hint, the clock.
//!
//! `round` is the question, `look` says when to ask for work, `flights` holds the leases, `run` is one run. What an
//! outcome means is decided in `hookonce_core::settle`, what a claimed row is given in `hookonce_core::claim`.

mod flights;
mod look;
mod report;
mod round;
mod run;

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{BoxFuture, OptionFuture};
use hookonce_core::claim::{Ask, Triage, triage};
use hookonce_core::delivery::Outcome;
use hookonce_core::destination::Sent;
use hookonce_core::lease::Lease;
use hookonce_core::settle::{self, Ending, How, Settled};
use hookonce_core::time::Micros;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use self::flights::{Flight, Flights};
use self::look::Look;
use self::round::{Answer, Question, SETTLE_MAX};
use crate::engine::Post;
use crate::node::{After, Node, Patience};
use crate::store::Run;
use crate::wake::Bell;
use crate::{alarm, chance};

pub(crate) struct Worker {
    node: Arc<Node>,
    post: Arc<Post>,
    bell: Arc<Bell>,
    stop: CancellationToken,
    abandon: CancellationToken,
    runs: JoinSet<Sent>,
    flights: Flights,
    endings: Vec<Ending>,
    /// When the events came that these endings are the success of, by the delivery's place.
    received: HashMap<i64, Micros>,
    pausing: Option<String>,
    giving_back: Vec<Lease>,
    question: Option<BoxFuture<'static, Answer>>,
    look: Look,
    patience: Patience,
    /// Endings still to be written one by one, because one among them is refused by the store.
    singly: usize,
}

/// What a step waited for.
enum Came {
    Answer(Box<Answer>),
    Run(Result<(Id, Sent), JoinError>),
    Hint,
    Time,
    Stop,
    Abandon,
}

impl Worker {
    pub fn new(node: Arc<Node>, post: Arc<Post>, stop: CancellationToken, abandon: CancellationToken) -> Worker {
        Worker {
            bell: node.hub.bell(post.consumer.id),
            flights: Flights::new(post.lease),
            node,
            post,
            stop,
            abandon,
            runs: JoinSet::new(),
            endings: Vec::new(),
            received: HashMap::new(),
            pausing: None,
            giving_back: Vec::new(),
            question: None,
            look: Look::new(),
            patience: Patience::default(),
            singly: 0,
        }
    }

    pub async fn run(mut self) {
        while self.step().await.is_continue() {}
        let mut leases = self.flights.leases();
        leases.append(&mut self.giving_back);
        self.runs.shutdown().await;
        if !leases.is_empty() && self.node.store.release(leases).await.is_err() {
            tracing::warn!(consumer = &*self.post.consumer.name, "leases were not given back: they end by themselves");
        }
    }

    async fn step(&mut self) -> ControlFlow<()> {
        let bell = Arc::clone(&self.bell);
        // Registered before the question: a hint that comes while it is under way is not lost.
        let hint = bell.rung();
        self.ask();
        if self.idle() && self.stop.is_cancelled() {
            return ControlFlow::Break(());
        }
        let came = self.wait(hint).await;
        self.take(came)
    }

    /// Nothing in the air and nothing to be written.
    fn idle(&self) -> bool {
        let written = self.endings.is_empty() && self.giving_back.is_empty() && self.pausing.is_none();
        written && self.question.is_none() && self.flights.len() == 0
    }

    async fn wait(&mut self, hint: tokio::sync::futures::Notified<'_>) -> Came {
        let time = self.next_time();
        let answer: OptionFuture<_> = self.question.as_mut().into();
        tokio::select! {
            Some(answer) = answer => Came::Answer(Box::new(answer)),
            Some(ended) = self.runs.join_next_with_id() => Came::Run(ended),
            () = hint => Came::Hint,
            () = sleep_until(time) => Came::Time,
            () = self.abandon.cancelled() => Came::Abandon,
            () = self.stop.cancelled(), if !self.stop.is_cancelled() => Came::Stop,
        }
    }

    fn next_time(&self) -> Instant {
        let mut next = Instant::now() + look::POLL;
        if let (None, Some(until)) = (&self.question, self.patience.until) {
            next = until;
        } else if self.question.is_none() && self.may_claim() {
            // Only then: where the time is over and nothing was asked, it is not time that is missing.
            next = next.min(self.look.at);
        }
        if self.flights.len() > 0 { next.min(self.flights.next_look) } else { next }
    }

    fn take(&mut self, came: Came) -> ControlFlow<()> {
        match came {
            Came::Answer(answer) => {
                self.question = None;
                return self.answered(*answer);
            }
            Came::Run(ended) => {
                self.ended(ended);
                while let Some(ended) = self.runs.try_join_next_with_id() {
                    self.ended(ended);
                }
            }
            Came::Hint => self.look.now = true,
            Came::Time => self.give_up_late(&[]),
            Came::Stop => {}
            Came::Abandon => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }

    /// Puts the next question, if there is none under way and something to ask.
    fn ask(&mut self) {
        let now = Instant::now();
        if self.question.is_some() || !self.patience.over(now) {
            return;
        }
        let consumer = self.post.consumer.id;
        let most = if self.singly > 0 { 1 } else { SETTLE_MAX };
        let endings: Vec<Ending> = self.endings.drain(..self.endings.len().min(most)).collect();
        let question = Question {
            renew: self.flights.due(now),
            lease: run::micros(self.post.lease),
            pause: self.pausing.take().map(|why| (consumer, why)),
            release: std::mem::take(&mut self.giving_back),
            ask: self.wanted(now, !endings.is_empty()),
            endings,
        };
        if !question.is_empty() {
            self.question = Some(Box::pin(round::put(Arc::clone(&self.node), consumer, question)));
        }
    }

    fn may_claim(&self) -> bool {
        let free = self.flights.len() < self.post.concurrency;
        let stands =
            self.stop.is_cancelled() || self.bell.paused() || self.flights.suspect() || self.node.stands_still();
        free && !stands
    }

    /// Work is asked for when it is time to look, and with every settle: there it costs no commit.
    fn wanted(&self, now: Instant, settling: bool) -> Option<Ask> {
        if !self.may_claim() || !(settling || self.look.due(now)) {
            return None;
        }
        let quiet = self.look.quiet;
        let free = if quiet { 1 } else { self.post.concurrency - self.flights.len() };
        Some(Ask {
            consumer: self.post.consumer.id,
            tokens: (0..free).map(|_| chance::token(&*self.node.chance)).collect(),
            lease: run::micros(self.post.lease),
            owner: self.node.store.identity().instance,
            quiet,
        })
    }

    fn answered(&mut self, answer: Answer) -> ControlFlow<()> {
        if let Some(renewed) = &answer.renewed {
            self.flights.renewed(&renewed.asked, &renewed.lost, renewed.at);
            self.give_up_late(&renewed.lost);
        }
        self.pausing = self.pausing.take().or(answer.pause.map(|(_, why)| why));
        self.giving_back.extend(answer.release);
        if let Some(error) = answer.error {
            return self.trouble(&error, answer.endings);
        }
        self.patience.success();
        self.singly = self.singly.saturating_sub(answer.endings.len());
        self.settled(&answer.endings, &answer.settled);
        if let Some((asked, quiet)) = answer.asked {
            self.look.answered(asked, quiet, answer.runs.len(), answer.due);
        }
        let suspects = answer.asked.is_some_and(|(_, quiet)| quiet);
        for run in answer.runs {
            self.begin(run, answer.asked_at, suspects);
        }
        ControlFlow::Continue(())
    }

    /// The endings are written again: that they were, before the error, then shows as a lost lease and changes nothing.
    fn trouble(&mut self, error: &crate::store::StoreError, mut endings: Vec<Ending>) -> ControlFlow<()> {
        match self.patience.trouble(&self.node, error) {
            After::End => return ControlFlow::Break(()),
            After::Without if endings.len() == 1 => {
                alarm::raise("settle_refused", &format!("an ending is lost and its delivery runs again: {error}"));
                self.singly = self.singly.saturating_sub(1);
                self.received.retain(|seq, _| endings.iter().all(|ending| ending.lease.seq != *seq));
                return ControlFlow::Continue(());
            }
            After::Without => {
                self.singly = endings.len();
                self.look.within(look::POLL);
            }
            After::Again => {}
        }
        endings.append(&mut self.endings);
        self.endings = endings;
        ControlFlow::Continue(())
    }

    fn settled(&mut self, endings: &[Ending], settled: &[Settled]) {
        for (ending, settled) in endings.iter().zip(settled) {
            let received = self.received.remove(&ending.lease.seq);
            match settled {
                Settled::Kept => {
                    report::kept(&self.post.consumer.name, ending, received);
                    if let How::Later { delay, .. } = ending.how {
                        self.look.within(Duration::from_micros(u64::try_from(delay).unwrap_or(0)));
                    }
                }
                Settled::Fenced => report::fenced(&self.post.consumer.name, ending.event, ending.lease.epoch),
            }
        }
    }

    /// Gives a claimed row what it is to be given.
    fn begin(&mut self, run: Run, asked_at: Instant, suspects: bool) {
        match triage(&run.claimed) {
            Triage::Cancelled => self.endings.push(settle::cancelled(&run.claimed)),
            Triage::Dead => {
                let (consumer, event) = (&self.post.consumer, run.claimed.event);
                alarm::raise(
                    "worker_lost",
                    &format!("event {event} ended {} runs of `{}`", run.claimed.lost, consumer.name),
                );
                self.endings.push(settle::worker_lost(&run.claimed, consumer));
            }
            // A send has no transaction that others could share: alone in it is how every run is.
            Triage::Run | Triage::Alone => self.launch(run, asked_at, false),
            Triage::Quiet if suspects => self.launch(run, asked_at, true),
            // This very claim made it a suspect, perhaps among many. Those that only waited for their turn would be
            // counted with the one that ends the process: so they are given back, and asked for one by one.
            Triage::Quiet => {
                self.giving_back.push(run.claimed.lease);
                self.look.quiet = true;
            }
        }
    }

    fn launch(&mut self, run: Run, asked_at: Instant, quiet: bool) {
        let claimed = (run.claimed.clone(), run.event.received);
        let run = run::run(Arc::clone(&self.node), Arc::clone(&self.post), run, asked_at, quiet);
        let abort = self.runs.spawn(run);
        self.flights.add(claimed, quiet, asked_at, abort);
    }

    fn ended(&mut self, ended: Result<(Id, Sent), JoinError>) {
        let (id, sent) = match ended {
            Ok(ended) => ended,
            Err(e) => (e.id(), report::panicked(e)),
        };
        // Not there: given up before, so whatever it says, the work is somebody else's.
        let Some(Flight { claimed, claimed_at, received, .. }) = self.flights.remove(id) else { return };
        if let Some(why) = sent.pause {
            self.node.hub.pause(self.post.consumer.id, true);
            self.pausing = Some(why);
        }
        let took = run::micros(claimed_at.elapsed());
        let dice = chance::dice(&*self.node.chance);
        if sent.outcome == Outcome::Done {
            self.received.insert(claimed.lease.seq, received);
        }
        self.endings.push(settle::plan(&claimed, &sent.outcome, &self.post.consumer, took, dice));
    }

    fn give_up_late(&mut self, lost: &[Lease]) {
        for flight in self.flights.give_up(Instant::now(), lost) {
            report::lost(&self.post.consumer.name, flight.claimed.event, flight.claimed.lease.epoch);
        }
    }
}
