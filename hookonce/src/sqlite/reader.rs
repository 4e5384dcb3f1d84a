//! A reader: its own read-only connections to both files, and a time limit on what people ask.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use hookonce_core::claim::Claimed;
use hookonce_core::retain::Retention;
use hookonce_core::time::Micros;

use super::conn::{Conn, remedy};
use super::job::{Answer, Job};
use super::purge::{Going, Ripe, look};
use super::{Options, bodies, sweep};
use crate::clock::Clock;
use crate::read;
use crate::sql::call::Arg;
use crate::sql::sqlite as sql;
use crate::store::{Run, StoreError};
use crate::view::{Page, Query};

/// Steps of SQLite's machine between two looks at the clock.
const STEPS: i32 = 20_000;

#[derive(Debug)]
pub enum ReadAsk {
    Bodies(Vec<Claimed>),
    Due(i64),
    Suspects(i64),
    Ripe(Arc<Retention>),
    Going,
    Page(Query),
}

#[derive(Debug)]
pub enum ReadReply {
    /// The runs, and the rows whose payload is gone.
    Runs(Vec<Run>, Vec<Claimed>),
    Due(Option<Micros>, Micros),
    /// Heads that nobody has, and where the next stretch begins.
    Suspects(Vec<i64>, i64),
    Ripe(Vec<Ripe>),
    Going(Going),
    Page(Page),
}

pub type ReadJob = Job<ReadAsk, ReadReply>;

#[derive(Debug)]
pub struct Reader {
    pub inbox: Conn,
    pub work: Conn,
    clock: Arc<dyn Clock>,
    limit: Duration,
}

impl Reader {
    pub fn new(inbox: Conn, work: Conn, options: &Options) -> Reader {
        Reader { inbox, work, clock: options.clock.clone(), limit: options.read_limit }
    }

    pub fn answer(&self, job: ReadJob) {
        let Job { ask, answer, .. } = job;
        self.reply(answer, |reader| match ask {
            ReadAsk::Bodies(claimed) => {
                let (runs, gone) = bodies::runs(&reader.inbox, claimed)?;
                Ok(ReadReply::Runs(runs, gone))
            }
            ReadAsk::Due(consumer) => reader.due(consumer),
            ReadAsk::Suspects(after) => {
                let (found, next) = sweep::suspects(&reader.work, after)?;
                Ok(ReadReply::Suspects(found, next))
            }
            ReadAsk::Ripe(retention) => {
                look::ripe(&reader.inbox, &reader.work, &retention, reader.clock.now()).map(ReadReply::Ripe)
            }
            ReadAsk::Going => look::going(&reader.inbox, &reader.work).map(ReadReply::Going),
            ReadAsk::Page(query) => reader.page(&query),
        });
    }

    /// A question that makes our own code panic is answered no: it must not take the store along (S40).
    fn reply(&self, to: Answer<ReadAsk, ReadReply>, run: impl FnOnce(&Reader) -> Result<ReadReply, StoreError>) {
        let answer = catch_unwind(AssertUnwindSafe(|| run(self)));
        // Whoever asked may be gone.
        let _ =
            to.send((answer.unwrap_or_else(|_| Err(StoreError::Refused("the reader panicked on it".into()))), None));
    }

    fn due(&self, consumer: i64) -> Result<ReadReply, StoreError> {
        let row = self.work.row(sql::NEXT_DUE, &[Arg::Int(consumer)])?.unwrap_or_default();
        Ok(ReadReply::Due(row.opt_int(0)?, self.clock.now()))
    }

    /// A long reader keeps the log growing, so it is cut off.
    fn page(&self, query: &Query) -> Result<ReadReply, StoreError> {
        let until = Instant::now() + self.limit;
        let over = move || Instant::now() >= until;
        for conn in [&self.inbox, &self.work] {
            conn.driver().progress_handler(STEPS, Some(over)).map_err(remedy)?;
        }
        let page = read::page(self, query, self.clock.now()).now_or_never();
        for conn in [&self.inbox, &self.work] {
            conn.driver().progress_handler(0, None::<fn() -> bool>).map_err(remedy)?;
        }
        page.unwrap_or_else(|| Err(StoreError::Failed("a read of SQLite waited".into()))).map(ReadReply::Page)
    }
}
