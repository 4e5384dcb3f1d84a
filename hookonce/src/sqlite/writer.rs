//! A writer's group: begin, run every job, commit, answer. A group that fails is run again from its values, halved,
//! until the culprit stands alone; the others never notice.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use hookonce_core::{group, planted};
use metrics::{Histogram, histogram};

use super::conn::Conn;
use super::job::Job;
use crate::alarm;
use crate::store::StoreError;

/// Set once, by the first write that failed; from then on nothing of this process is answered `Ok` (trap T4).
#[derive(Clone, Debug, Default)]
pub struct Failure(Arc<OnceLock<String>>);

impl Failure {
    pub fn set(&self, why: &str) {
        if self.0.set(why.to_owned()).is_ok() {
            alarm::raise("store_failed", &format!("nothing more is answered from it, the process must exit: {why}"));
        }
    }

    pub fn check(&self) -> Result<(), StoreError> {
        self.0.get().map_or(Ok(()), |why| Err(StoreError::Failed(why.clone())))
    }
}

/// What a writer tells of its commits, looked up once.
pub struct Instruments {
    commit: Histogram,
    /// Items in one commit; only the inbox file has any.
    batch: Histogram,
}

impl Instruments {
    pub fn new(file: &'static str) -> Instruments {
        Instruments {
            commit: histogram!("hookonce_store_commit_duration_seconds", "file" => file),
            batch: histogram!("hookonce_store_commit_batch_events"),
        }
    }

    fn committed(&self, took: Duration, items: usize) {
        self.commit.record(took);
        if items > 0 {
            self.batch.record(items as f64);
        }
    }
}

impl std::fmt::Debug for Instruments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Instruments").finish_non_exhaustive()
    }
}

/// What differs between the two files' writers.
pub trait Writer {
    type Ask;
    type Reply;

    fn conn(&self) -> &Conn;
    fn instruments(&self) -> &Instruments;
    /// Items that a job admits.
    fn items(ask: &Self::Ask) -> usize;
    fn failure(&self) -> &Failure;
    /// How long the group may wait for the write lock.
    fn lock_wait(&self) -> Duration;
    /// How long after it was asked a job may still be begun.
    fn patience(&self) -> Duration;
    /// A commit failed, and an error near it may hide one: what is remembered of the file is read again.
    fn doubt(&mut self) -> Result<(), StoreError>;
    /// Forgets what an earlier try of the group had counted.
    fn start(&mut self) -> Result<(), StoreError>;
    fn one(&mut self, ask: &Self::Ask) -> Result<Self::Reply, StoreError>;
    /// Rows that the group as a whole writes, before the commit.
    fn finish(&mut self) -> Result<(), StoreError>;
    /// The commit is durable.
    fn committed(&mut self);
    /// What is still done for the value that cannot be stored as it is; written like a group of one.
    fn instead(&mut self, ask: &Self::Ask, why: &StoreError) -> Option<Result<Self::Reply, StoreError>>;
}

type Jobs<W> = Vec<Job<<W as Writer>::Ask, <W as Writer>::Reply>>;

/// The planted bug's answers are out by then.
const RASH: Duration = Duration::from_millis(5);

/// Runs one group to its answers.
pub fn group<W: Writer>(writer: &mut W, jobs: Jobs<W>) {
    let jobs = begun(writer, jobs);
    if jobs.is_empty() {
        return;
    }
    if planted!("answer-before-commit") {
        return rashly(writer, jobs);
    }
    match transact(writer, &jobs) {
        Ok(replies) => jobs.into_iter().zip(replies).for_each(|(job, reply)| answer(job, Ok(reply))),
        Err(StoreError::Refused(why)) => bisect(writer, jobs, &why),
        Err(error) => refuse(writer, jobs, &error),
    }
}

/// Begins the transaction. While somebody else holds the lock it waits for the group, then only for those jobs whose
/// time is not over.
fn begun<W: Writer>(writer: &mut W, mut jobs: Jobs<W>) -> Jobs<W> {
    while !jobs.is_empty() {
        match writer.failure().check().and_then(|()| writer.conn().begin(wait(writer, &jobs))) {
            Ok(()) => break,
            Err(StoreError::Busy(why)) => {
                let (late, rest) = jobs.into_iter().partition(|job| job.asked.elapsed() >= writer.patience());
                refuse(writer, late, &StoreError::Busy(why));
                jobs = rest;
            }
            Err(error) => {
                refuse(writer, jobs, &error);
                return Vec::new();
            }
        }
    }
    jobs
}

/// Until the first of them is out of patience, at the most as long as a group waits.
fn wait<W: Writer>(writer: &W, jobs: &Jobs<W>) -> Duration {
    let now = Instant::now();
    let left = jobs.iter().map(|job| (job.asked + writer.patience()).saturating_duration_since(now)).min();
    left.unwrap_or_default().min(writer.lock_wait())
}

fn transact<W: Writer>(writer: &mut W, jobs: &Jobs<W>) -> Result<Vec<W::Reply>, StoreError> {
    let items = jobs.iter().map(|job| W::items(&job.ask)).sum();
    let replies = written(writer, jobs).and_then(|replies| committed(writer, items).map(|()| replies));
    if replies.is_err() {
        writer.conn().rollback();
    }
    replies
}

fn committed<W: Writer>(writer: &mut W, items: usize) -> Result<(), StoreError> {
    let began = Instant::now();
    if let Err(error) = writer.conn().commit() {
        writer.conn().rollback();
        return writer.doubt().and(Err(error));
    }
    writer.instruments().committed(began.elapsed(), items);
    writer.committed();
    Ok(())
}

/// Planted bug: the answers leave first.
fn rashly<W: Writer>(writer: &mut W, jobs: Jobs<W>) {
    let Ok(replies) = written(writer, &jobs) else { return writer.conn().rollback() };
    jobs.into_iter().zip(replies).for_each(|(job, reply)| answer(job, Ok(reply)));
    // The kernel keeps what a killed process wrote, so only answers that have left before the write show the bug.
    std::thread::park_timeout(RASH);
    if writer.conn().commit().is_ok() {
        writer.committed();
    }
}

fn written<W: Writer>(writer: &mut W, jobs: &Jobs<W>) -> Result<Vec<W::Reply>, StoreError> {
    writer.start()?;
    let replies = jobs.iter().map(|job| guarded(writer, &job.ask)).collect::<Result<Vec<_>, _>>()?;
    writer.finish()?;
    Ok(replies)
}

/// A value that makes our own code panic is a culprit like any other: it must not take the writer along (S40). What it
/// left half done is rolled back, and [`Writer::start`] forgets the rest.
fn guarded<W: Writer>(writer: &mut W, ask: &W::Ask) -> Result<W::Reply, StoreError> {
    caught(|| writer.one(ask))
}

fn caught<T>(run: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err(StoreError::Refused("the writer panicked on it".into())))
}

fn bisect<W: Writer>(writer: &mut W, mut jobs: Jobs<W>, why: &str) {
    match group::halve(jobs.len()) {
        Some(half) => {
            let rest = jobs.split_off(half);
            group(writer, jobs);
            group(writer, rest);
        }
        None => jobs.into_iter().for_each(|job| alone(writer, job, StoreError::Refused(why.to_owned()))),
    }
}

/// The culprit: what can be kept of it is kept, else it is refused.
fn alone<W: Writer>(writer: &mut W, job: Job<W::Ask, W::Reply>, why: StoreError) {
    let kept = writer.conn().begin(writer.lock_wait()).and_then(|()| {
        writer.start()?;
        let kept = caught(|| writer.instead(&job.ask, &why).unwrap_or_else(|| Err(why.clone())));
        let reply = kept?;
        writer.finish()?;
        committed(writer, W::items(&job.ask))?;
        Ok(reply)
    });
    if let Err(error) = &kept {
        writer.conn().rollback();
        note(writer, error);
    }
    answer(job, kept);
}

fn refuse<W: Writer>(writer: &W, jobs: Jobs<W>, error: &StoreError) {
    note(writer, error);
    jobs.into_iter().for_each(|job| answer(job, Err(error.clone())));
}

fn note<W: Writer>(writer: &W, error: &StoreError) {
    if let StoreError::Failed(why) = error {
        writer.failure().set(why);
    }
}

/// Whoever asked may be gone: the commit stands all the same.
fn answer<A, R>(job: Job<A, R>, reply: Result<R, StoreError>) {
    let _ = job.answer.send((reply, Some(job.ask)));
}
