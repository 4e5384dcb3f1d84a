//! The store as its users see it: each verb hands its value in and gives a future of the answer.

use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::{BoxFuture, FutureExt as _, ready};
use hookonce_core::admit::{Admission, Submission, Verdict};
use hookonce_core::claim::{Ask, Claimed};
use hookonce_core::command::{Command, Refused, Who};
use hookonce_core::consumer::Consumer;
use hookonce_core::event::{Digest, Mapped};
use hookonce_core::lease::Lease;
use hookonce_core::planted;
use hookonce_core::retain::Retention;
use hookonce_core::route::Routing;
use hookonce_core::settle::{self, Ending, Settled};
use hookonce_core::time::Micros;
use tokio::sync::oneshot;

use super::checkpoint::{self, Checked, Stop, Wal};
use super::desk::Desk;
use super::end::End;
use super::files::{Files, Handles};
use super::inbox::Inbox;
use super::job::{InboxAsk, InboxReply, WorkAsk, WorkReply};
use super::open::{self, OpenError, Opened};
use super::reader::{ReadAsk, ReadReply, Reader};
use super::settings::Effective;
use super::work::Work;
use super::writer::Failure;
use super::{Options, threads};
use crate::clock::Clock;
use crate::store::{Identity, Passed, Purged, Refusals, Run, Store, StoreError, Swept, Verb};
use crate::view::{Page, Query};

/// Requests that may wait for the inbox writer. Their bytes are bounded where they are received.
const INBOX_QUEUE: usize = 16_384;
/// Jobs that may wait for the work writer.
const WORK_QUEUE: usize = 4_096;
/// Reads that may wait.
const READ_QUEUE: usize = 1_024;
/// Threads that read for people; the engine's own reads have one for themselves.
const READERS: usize = 2;

#[derive(Debug)]
pub struct SqliteStore {
    identity: Identity,
    clock: Arc<dyn Clock>,
    pub(super) inbox: Desk<InboxAsk, InboxReply>,
    pub(super) work: Desk<WorkAsk, WorkReply>,
    bodies: Desk<ReadAsk, ReadReply>,
    pub(super) pages: Desk<ReadAsk, ReadReply>,
    inbox_wal: Arc<Wal>,
    work_wal: Arc<Wal>,
    failure: Failure,
    settings: Vec<Effective>,
    swept: AtomicI64,
    /// Only looked at by a planted bug.
    remembered: Mutex<HashSet<Digest>>,
    end: Arc<End>,
}

impl SqliteStore {
    /// Opens the store at `path` (the work file; the inbox file stands beside it), or makes a new one.
    pub fn open(path: &Path, options: Options) -> Result<SqliteStore, OpenError> {
        let Opened { inbox, work, files, handles, identity, settings, lock } = open::open(path, &options)?;
        let failure = Failure::default();
        let inbox_desk = Desk::new("inbox writer", INBOX_QUEUE, failure.clone());
        let work_desk = Desk::new("work writer", WORK_QUEUE, failure.clone());
        let [bodies, pages] = ["body reader", "readers"].map(|name| Desk::new(name, READ_QUEUE, failure.clone()));
        let end = End {
            stop: Stop::default(),
            inbox: inbox_desk.queue.clone(),
            work: work_desk.queue.clone(),
            reads: [bodies.queue.clone(), pages.queue.clone()],
            threads: Mutex::default(),
            held: Mutex::new(vec![handles.inbox.clone(), handles.work.clone(), Arc::new(lock)]),
        };
        let store = SqliteStore {
            identity: identity.clone(),
            clock: options.clock.clone(),
            inbox: inbox_desk,
            work: work_desk,
            bodies,
            pages,
            inbox_wal: Wal::new("inbox", &files.inbox, options.wal_start, failure.clone()),
            work_wal: Wal::new("work", &files.work, options.wal_start, failure.clone()),
            failure: failure.clone(),
            settings,
            swept: AtomicI64::new(0),
            remembered: Mutex::default(),
            end: Arc::new(end),
        };
        let inbox = Inbox::new(inbox, &options, failure.clone())?;
        let work = Work::new(work, open::reader(&files.inbox, &options)?, identity, &options, failure)?;
        store.start(inbox, work, &files, handles, &options)?;
        Ok(store)
    }

    fn start(
        &self,
        inbox: Inbox,
        work: Work,
        files: &Files,
        handles: Handles,
        options: &Options,
    ) -> Result<(), OpenError> {
        let spawned = |e| OpenError::Thread(e);
        let reader = || -> Result<Reader, OpenError> {
            let (inbox, work) = (open::reader(&files.inbox, options)?, open::reader(&files.work, options)?);
            Ok(Reader::new(inbox, work, options))
        };
        let checkpoints = [
            Checked {
                conn: open::checkpointer(&files.inbox, "inbox")?,
                wal: self.inbox_wal.clone(),
                data: handles.inbox,
            },
            Checked { conn: open::checkpointer(&files.work, "work")?, wal: self.work_wal.clone(), data: handles.work },
        ];
        let mut all = vec![
            threads::inbox(self.inbox.queue.clone(), inbox, self.inbox_wal.clone()).map_err(spawned)?,
            threads::work(self.work.queue.clone(), work, self.work_wal.clone()).map_err(spawned)?,
        ];
        let failure = || self.failure.clone();
        all.push(threads::reader("hookonce-bodies", self.bodies.queue.clone(), reader()?, failure()).map_err(spawned)?);
        for _ in 0..READERS {
            all.push(
                threads::reader("hookonce-read", self.pages.queue.clone(), reader()?, failure()).map_err(spawned)?,
            );
        }
        let end = self.end.clone();
        let run = move || checkpoint::run(&checkpoints, &end.stop);
        all.push(threads::watched("hookonce-checkpoint", failure(), run).map_err(spawned)?);
        *self.end.threads.lock().unwrap_or_else(PoisonError::into_inner) = all;
        Ok(())
    }

    /// The settings that the writers' own connections said they have (trap T6).
    pub fn settings(&self) -> &[Effective] {
        &self.settings
    }

    /// Frames in the logs of both files when they were last looked at: inbox, work.
    pub fn wal_frames(&self) -> (i64, i64) {
        (self.inbox_wal.frames(), self.work_wal.frames())
    }

    /// Jobs that wait for the writers: inbox, work.
    pub fn waiting(&self) -> (usize, usize) {
        (self.inbox.queue.len(), self.work.queue.len())
    }

    /// What was claimed, with its bodies. What has none any more is ended at once and does not come back; if they cannot
    /// be read now, the leases are given back: a run that never began is no lost run.
    async fn runs(&self, claimed: Vec<Claimed>) -> Result<Vec<Run>, StoreError> {
        if claimed.is_empty() {
            return Ok(Vec::new());
        }
        let leases = claimed.iter().map(|claimed| claimed.lease).collect();
        match self.bodies.ask(ReadAsk::Bodies(claimed)).await {
            Ok(ReadReply::Runs(runs, gone)) if gone.is_empty() => Ok(runs),
            Ok(ReadReply::Runs(runs, gone)) => {
                self.work.ask(WorkAsk::Settle(gone.iter().map(settle::purged).collect(), None)).await?;
                Ok(runs)
            }
            Ok(_) => Err(mixed()),
            Err(error) => {
                self.work.ask(WorkAsk::Release(leases)).await?;
                Err(error)
            }
        }
    }

    /// Planted bug: what a cache knows is answered without a commit of its own (trap T1).
    fn remembered(&self, submission: &Submission) -> Option<Admission> {
        let mut known = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        let items = submission.mapped.iter().filter_map(|mapped| match mapped {
            Mapped::Item(item) => Some(item.digest),
            Mapped::Unmapped { .. } => None,
        });
        let seen: Vec<bool> = items.map(|digest| !known.insert(digest)).collect();
        let all = !seen.is_empty() && seen.iter().all(|seen| *seen);
        all.then(|| Admission { verdicts: vec![Verdict::Duplicate { of: 0 }; seen.len()] })
    }
}

/// A writer answers each ask in kind.
pub(super) fn mixed() -> StoreError {
    StoreError::Failed("an answer of another kind".into())
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        self.end.come();
    }
}

impl Store for SqliteStore {
    fn identity(&self) -> Identity {
        self.identity.clone()
    }

    fn now(&self) -> Micros {
        self.clock.now()
    }

    fn admit(&self, submission: Submission) -> Verb<'_, Admission> {
        if planted!("dedupe-in-memory")
            && let Some(known) = self.remembered(&submission)
        {
            return ready(Ok(known)).boxed();
        }
        if self.inbox_wal.is_full() {
            return ready(Err(StoreError::Busy("the write-ahead log is full".into()))).boxed();
        }
        let asked = self.inbox.ask(InboxAsk::Admit(submission));
        async move {
            match asked.await? {
                InboxReply::Admitted(admission) => admission,
                _ => Err(mixed()),
            }
        }
        .boxed()
    }

    fn refused(&self, refusals: Refusals) -> Verb<'_, ()> {
        let asked = self.inbox.ask(InboxAsk::Refused(refusals));
        async move { asked.await.map(drop) }.boxed()
    }

    fn configure(&self, consumers: Vec<Consumer>) -> Verb<'_, Routing> {
        let asked = self.work.ask(WorkAsk::Configure(consumers));
        async move {
            match asked.await? {
                WorkReply::Configured(routing) => Ok(routing),
                _ => Err(mixed()),
            }
        }
        .boxed()
    }

    fn rule(&self, source: &str, definition: &str) -> Verb<'_, i64> {
        let (source, definition) = (source.to_owned(), definition.to_owned());
        let asked = self.inbox.ask(InboxAsk::Rule { source, definition });
        async move {
            match asked.await? {
                InboxReply::Number(number) => Ok(number),
                _ => Err(mixed()),
            }
        }
        .boxed()
    }

    fn route<'a>(&'a self, routing: &'a Routing) -> Verb<'a, Passed> {
        let asked = self.work.ask(WorkAsk::Route(Arc::new(routing.clone())));
        async move {
            match asked.await? {
                WorkReply::Passed(passed) => Ok(passed),
                _ => Err(mixed()),
            }
        }
        .boxed()
    }

    fn claim(&self, ask: Ask) -> Verb<'_, Vec<Run>> {
        let asked = self.work.ask(WorkAsk::Claim(ask));
        async move {
            match asked.await? {
                WorkReply::Claimed(claimed) => self.runs(claimed).await,
                _ => Err(mixed()),
            }
        }
        .boxed()
    }

    fn renew(&self, leases: Vec<Lease>, lease: Micros) -> Verb<'_, Vec<Lease>> {
        let asked = self.work.ask(WorkAsk::Renew(leases, lease));
        async move {
            match asked.await? {
                WorkReply::Lost(leases) => Ok(leases),
                _ => Err(mixed()),
            }
        }
        .boxed()
    }

    fn release(&self, leases: Vec<Lease>) -> Verb<'_, ()> {
        let asked = self.work.ask(WorkAsk::Release(leases));
        async move { asked.await.map(drop) }.boxed()
    }

    fn settle(&self, endings: Vec<Ending>, next: Option<Ask>) -> Verb<'_, (Vec<Settled>, Vec<Run>)> {
        let asked = self.work.ask(WorkAsk::Settle(endings, next));
        async move {
            match asked.await? {
                // What was settled is settled, whatever becomes of the next batch.
                WorkReply::Settled(settled, claimed) => Ok((settled, self.runs(claimed).await.unwrap_or_default())),
                _ => Err(mixed()),
            }
        }
        .boxed()
    }

    fn command(&self, command: Command, who: Who) -> Verb<'_, Result<i64, Refused>> {
        if let Command::UnmappedDrop { .. } = command {
            let asked = self.inbox.ask(InboxAsk::Command(command, who));
            return async move {
                match asked.await? {
                    InboxReply::Decided(decided) => Ok(decided),
                    _ => Err(mixed()),
                }
            }
            .boxed();
        }
        let asked = self.work.ask(WorkAsk::Command(command, who));
        async move {
            match asked.await? {
                WorkReply::Decided(decided) => Ok(decided),
                _ => Err(mixed()),
            }
        }
        .boxed()
    }

    fn sweep(&self) -> Verb<'_, Swept> {
        async move {
            let asked = self.pages.ask(ReadAsk::Suspects(self.swept.load(Ordering::Relaxed)));
            let ReadReply::Suspects(heads, next) = asked.await? else { return Err(mixed()) };
            self.swept.store(next, Ordering::Relaxed);
            match self.work.ask(WorkAsk::Sweep(heads)).await? {
                WorkReply::Swept(swept) => Ok(swept),
                _ => Err(mixed()),
            }
        }
        .boxed()
    }

    fn purge(&self, retention: Arc<Retention>) -> Verb<'_, Purged> {
        self.step(retention).boxed()
    }

    fn read(&self, query: Query) -> Verb<'_, Page> {
        let asked = self.pages.ask(ReadAsk::Page(query));
        async move {
            match asked.await? {
                ReadReply::Page(page) => Ok(page),
                _ => Err(mixed()),
            }
        }
        .boxed()
    }

    fn ready(&self) -> Verb<'_, ()> {
        // Not the work file: while somebody holds it, acks go on (F22), and no sender should be turned away.
        let inbox = self.inbox.ask(InboxAsk::Ready);
        async move { inbox.await.map(drop) }.boxed()
    }

    fn next_due(&self, consumer: i64) -> Verb<'_, (Option<Micros>, Micros)> {
        let asked = self.bodies.ask(ReadAsk::Due(consumer));
        async move {
            match asked.await? {
                ReadReply::Due(due, now) => Ok((due, now)),
                _ => Err(mixed()),
            }
        }
        .boxed()
    }

    fn close(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        let (end, (done, ended)) = (self.end.clone(), oneshot::channel());
        let spawned = std::thread::Builder::new().name("hookonce-close".into()).spawn(move || {
            end.come();
            // Whoever closed may have stopped waiting.
            let _ = done.send(());
        });
        async move {
            if spawned.is_err() || ended.await.is_err() {
                self.end.come();
            }
            self.failure.check()
        }
        .boxed()
    }
}
