//! Jobs: re-runnable values with the place where their answer goes. The answer leaves after the commit, never before.

use std::sync::Arc;
use std::time::Instant;

use hookonce_core::admit::{Admission, Submission};
use hookonce_core::claim::{Ask, Claimed};
use hookonce_core::command::{Command, Refused, Who};
use hookonce_core::consumer::Consumer;
use hookonce_core::event::EventNo;
use hookonce_core::lease::Lease;
use hookonce_core::retain::Retention;
use hookonce_core::route::Routing;
use hookonce_core::settle::{Ending, Settled};
use hookonce_core::time::Micros;
use tokio::sync::oneshot;

use super::purge::{Ripe, Survivors};
use crate::store::{Passed, Refusals, StoreError, Swept};

/// The answer, and with it what a writer was asked: it was made on the asker's side and is given up there, for a thread
/// that others wait for has better things to do.
pub type Answer<A, R> = oneshot::Sender<(Result<R, StoreError>, Option<A>)>;

#[derive(Debug)]
pub struct Job<A, R> {
    pub ask: A,
    pub asked: Instant,
    pub answer: Answer<A, R>,
}

/// What the inbox file's writer is asked for.
#[derive(Debug)]
pub enum InboxAsk {
    Admit(Submission),
    Refused(Refusals),
    Rule {
        source: String,
        definition: String,
    },
    Command(Command, Who),
    /// Deletes a part of what was said to go.
    Purge(Arc<Retention>, Part),
    /// Deletes what goes by its age alone.
    Aged(Arc<Retention>),
    /// Nothing but a commit.
    Ready,
}

/// As much as one commit deletes beside admissions.
#[derive(Debug)]
pub enum Part {
    Payloads(Vec<i64>),
    Events(Vec<EventNo>),
}

#[derive(Debug)]
pub enum InboxReply {
    /// The inner error is the answer to this request alone; nothing was written for it.
    Admitted(Result<Admission, StoreError>),
    Number(i64),
    Decided(Result<i64, Refused>),
    Survived(Survivors),
    /// Whether there may be more.
    Aged(bool),
    Done,
}

/// What the work file's writer is asked for.
#[derive(Debug)]
pub enum WorkAsk {
    Settle(Vec<Ending>, Option<Ask>),
    Renew(Vec<Lease>, Micros),
    Release(Vec<Lease>),
    Route(Arc<Routing>),
    Claim(Ask),
    Configure(Vec<Consumer>),
    Command(Command, Who),
    /// Lanes that a reader found without a head: tested again, then mended.
    Sweep(Vec<i64>),
    /// Judges what may be old enough, and says what goes.
    PurgeSay(Arc<Retention>, Vec<Ripe>),
    /// What went leaves nothing behind.
    PurgeForget(Survivors),
}

#[derive(Debug)]
pub enum WorkReply {
    Settled(Vec<Settled>, Vec<Claimed>),
    /// Leases that no longer hold.
    Lost(Vec<Lease>),
    Passed(Passed),
    Claimed(Vec<Claimed>),
    Configured(Routing),
    Decided(Result<i64, Refused>),
    Swept(Swept),
    Done,
}

pub type InboxJob = Job<InboxAsk, InboxReply>;
pub type WorkJob = Job<WorkAsk, WorkReply>;
