//! Admissions that share commits. A group that fails is run again from its values: halved until the culprit stands alone,
//! or one by one where somebody else's transaction holds a key. An answer leaves behind a commit that is known to be one.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use hookonce_core::admit::{Origin, Submission};
use hookonce_core::event::{Digest, Mapped};
use hookonce_core::group;
use metrics::{Histogram, histogram};

use super::admit::{self, Done};
use super::conn::{Ended, Pool};
use super::listen::Hints;
use super::queue::{Job, Queue};
use super::{Options, fold};
use crate::alarm;
use crate::sql::call::Arg;
use crate::sql::postgres as sql;
use crate::store::StoreError;

/// Conflicts of transactions and lost connections that one group outlives.
const TRIES: usize = 8;
/// How long one that stands alone waits for a lock before it goes aside, so that the others do not wait with it.
const GLANCE: Duration = Duration::from_millis(100);
/// Characters kept of what the store said of a value that it cannot hold.
const WHY_MAX: usize = 300;
/// Groups between two looks at what can be folded.
const FOLD: u64 = 512;

/// What all writers of a store share.
#[derive(Debug)]
pub struct Writers {
    pub queue: Queue,
    pool: Pool,
    hints: Arc<Hints>,
    patience: Duration,
    /// Keys that somebody else's transaction holds, and how many wait for each: what comes for them goes aside at once.
    held: Mutex<HashMap<Digest, usize>>,
    groups: AtomicU64,
    instruments: Instruments,
}

struct Instruments {
    commit: Histogram,
    batch: Histogram,
}

impl std::fmt::Debug for Instruments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Instruments")
    }
}

/// What became of a group.
enum Fate {
    Done(Done),
    /// This value cannot be stored, whatever is tried.
    Refused(String),
    /// It waited for a lock, or for its statements, for too long.
    Blocked(StoreError),
    Failed(StoreError),
}

impl Writers {
    pub fn new(pool: Pool, hints: Arc<Hints>, options: &Options) -> Writers {
        let instruments = Instruments {
            commit: histogram!("hookonce_store_commit_duration_seconds", "file" => "inbox"),
            batch: histogram!("hookonce_store_commit_batch_events"),
        };
        Writers {
            queue: Queue::default(),
            pool,
            hints,
            patience: options.ack_patience,
            held: Mutex::default(),
            groups: AtomicU64::new(0),
            instruments,
        }
    }

    /// One writer: takes groups until the queue is closed and empty.
    pub async fn run(self: Arc<Self>) {
        while let Some(jobs) = self.queue.take().await {
            let (aside, jobs) = jobs.into_iter().partition(|job| self.is_held(&job.submission));
            self.set_aside(aside);
            self.all(jobs).await;
            if self.groups.fetch_add(1, Relaxed) % FOLD == FOLD - 1 {
                fold::tally(&self.pool).await;
            }
        }
    }

    /// Runs a group to its answers.
    async fn all(self: &Arc<Self>, jobs: Vec<Job>) {
        let mut groups = vec![jobs];
        while let Some(mut jobs) = groups.pop() {
            if jobs.is_empty() {
                continue;
            }
            match self.fate(&jobs, None).await {
                Fate::Done(done) => answer(jobs, done),
                Fate::Refused(why) => match group::halve(jobs.len()) {
                    Some(half) => {
                        let rest = jobs.split_off(half);
                        groups.extend([rest, jobs]);
                    }
                    None => self.culprit(jobs, &why).await,
                },
                Fate::Blocked(_) => self.one_by_one(jobs).await,
                Fate::Failed(error) => refuse(jobs, &error),
            }
        }
    }

    /// Somebody holds a key of the group. Each is tried by itself, and who meets the lock waits for it aside.
    async fn one_by_one(self: &Arc<Self>, jobs: Vec<Job>) {
        for job in jobs {
            let alone = [job];
            if self.is_held(&alone[0].submission) {
                self.set_aside(alone.into());
                continue;
            }
            match self.fate(&alone, Some(GLANCE)).await {
                Fate::Done(done) => answer(alone.into(), done),
                Fate::Refused(why) => self.culprit(alone.into(), &why).await,
                Fate::Blocked(_) => self.set_aside(alone.into()),
                Fate::Failed(error) => refuse(alone.into(), &error),
            }
        }
    }

    fn set_aside(self: &Arc<Self>, jobs: Vec<Job>) {
        for job in jobs {
            let digests = digests(&job.submission);
            digests.iter().for_each(|digest| *self.held().entry(*digest).or_default() += 1);
            let writers = self.clone();
            tokio::spawn(async move {
                writers.aside(job).await;
                writers.let_go(&digests);
            });
        }
    }

    /// Waits for the lock as long as its sender does.
    async fn aside(&self, job: Job) {
        let left = (job.asked + self.patience).saturating_duration_since(Instant::now());
        let alone = [job];
        match self.fate(&alone, Some(left)).await {
            Fate::Done(done) => answer(alone.into(), done),
            Fate::Refused(why) => self.culprit(alone.into(), &why).await,
            Fate::Blocked(error) | Fate::Failed(error) => refuse(alone.into(), &error),
        }
    }

    /// The bytes of a request that cannot be stored as what it says are kept as unmapped; what a person admits is
    /// unmapped already.
    async fn culprit(&self, jobs: Vec<Job>, why: &str) {
        for mut job in jobs {
            let refused = StoreError::Refused(why.to_owned());
            if job.submission.origin != Origin::Receive {
                job.answer(Err(refused));
                continue;
            }
            let reason = format!("it cannot be stored as an event: {refused}").chars().take(WHY_MAX).collect();
            job.submission.mapped = vec![Mapped::Unmapped { item: 0, span: None, reason }];
            let alone = [job];
            match self.fate(&alone, None).await {
                Fate::Done(done) => answer(alone.into(), done),
                Fate::Refused(_) => refuse(alone.into(), &refused),
                Fate::Blocked(error) | Fate::Failed(error) => refuse(alone.into(), &error),
            }
        }
    }

    /// Runs a group until it is known what became of it.
    async fn fate(&self, jobs: &[Job], patience: Option<Duration>) -> Fate {
        let submissions: Vec<&Submission> = jobs.iter().map(|job| &job.submission).collect();
        let began = Instant::now();
        let mut last = StoreError::Busy("the database is not to be had".into());
        for _ in 0..TRIES {
            match self.once(&submissions, patience).await {
                Tried::Known(Fate::Done(done)) => {
                    let items: usize = submissions.iter().map(|submission| submission.mapped.len()).sum();
                    self.instruments.commit.record(began.elapsed());
                    self.instruments.batch.record(items as f64);
                    self.hints.arrived();
                    return Fate::Done(done);
                }
                Tried::Known(fate) => return fate,
                Tried::Again(error) => last = error,
            }
        }
        Fate::Failed(last)
    }

    async fn once(&self, submissions: &[&Submission], patience: Option<Duration>) -> Tried {
        let conn = match self.pool.get().await {
            Ok(conn) => conn,
            Err(error) => return Tried::Known(Fate::Failed(error)),
        };
        let run = AssertUnwindSafe(admit::group(&conn, patience, submissions)).catch_unwind().await;
        let Ok(ended) = run else {
            // A value that makes our own code panic is a culprit like any other (S40).
            conn.spoil();
            return Tried::Known(Fate::Refused("the writer panicked on it".into()));
        };
        match ended {
            Ended::Committed(done) => Tried::Known(Fate::Done(done)),
            Ended::RolledBack(error) if conn.conflicted() => Tried::Again(error),
            Ended::RolledBack(error) if conn.blocked() => Tried::Known(Fate::Blocked(error)),
            Ended::RolledBack(StoreError::Refused(why)) => Tried::Known(Fate::Refused(why)),
            Ended::RolledBack(error) => Tried::Known(Fate::Failed(error)),
            Ended::Unknown(done, error) => {
                drop(conn);
                self.asked(done, error).await
            }
        }
    }

    /// A commit without a clear answer is asked for by its receipt, in a commit of its own. Not there, the group is run
    /// again; nothing known, nobody is told that it is.
    async fn asked(&self, done: Done, error: StoreError) -> Tried {
        let receipt = done.receipt;
        let asked = self.pool.tx(|conn| async move {
            let row = conn.row(sql::TALLY_ASK, &[Arg::Int(receipt)]).await?;
            row.unwrap_or_default().flag(0)
        });
        match asked.await {
            Ok(true) => Tried::Known(Fate::Done(done)),
            Ok(false) => Tried::Again(error),
            Err(_) => Tried::Known(Fate::Failed(error)),
        }
    }

    fn held(&self) -> MutexGuard<'_, HashMap<Digest, usize>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_held(&self, submission: &Submission) -> bool {
        let held = self.held();
        !held.is_empty() && digests(submission).iter().any(|digest| held.contains_key(digest))
    }

    fn let_go(&self, digests: &[Digest]) {
        let mut held = self.held();
        for digest in digests {
            if let Some(waiting) = held.get_mut(digest) {
                *waiting -= 1;
            }
        }
        held.retain(|_, waiting| *waiting > 0);
    }
}

enum Tried {
    Known(Fate),
    /// Nothing of it is there, and the same may pass now.
    Again(StoreError),
}

fn digests(submission: &Submission) -> Vec<Digest> {
    let digest = |mapped: &Mapped| match mapped {
        Mapped::Item(item) => Some(item.digest),
        Mapped::Unmapped { .. } => None,
    };
    submission.mapped.iter().filter_map(digest).collect()
}

fn answer(jobs: Vec<Job>, done: Done) {
    done.full.iter().for_each(|event| alarm::raise("conflicts_full", &admit::full(*event)));
    jobs.into_iter().zip(done.admissions).for_each(|(job, admission)| job.answer(Ok(admission)));
}

fn refuse(jobs: Vec<Job>, error: &StoreError) {
    jobs.into_iter().for_each(|job| job.answer(Err(error.clone())));
}
