//! Hints between nodes, over a connection of their own: what this one has committed is told, what others tell is heard.
//!
//! Never inside a transaction that is awaited, where telling would serialise everybody's commits; and nothing is ever
//! needed: what is not told is found by polling. Behind a pooler that lends sessions by the transaction nobody hears.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::sync::mpsc::{Sender, channel};
use tokio::time::{Instant, sleep_until};

use super::conn::Maker;
use crate::sql::call::Arg;
use crate::sql::postgres as sql;
use crate::store::{Hint, StoreError};

/// Between two that are told: what comes meanwhile is told together.
const EVERY: Duration = Duration::from_millis(10);
/// Hints that are heard and not taken yet. One more is lost.
pub const HEARD: usize = 256;
/// Consumers that are told by their ids; more are told as all.
const NAMED: usize = 256;
/// First and longest pause before the connection is tried again.
const AGAIN: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(30));

/// What is to be told with the next message.
#[derive(Debug, Default)]
pub struct Hints {
    untold: Mutex<Untold>,
    rung: Notify,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Untold {
    arrived: bool,
    all: bool,
    due: BTreeSet<i64>,
}

impl Hints {
    /// There is something to route.
    pub fn arrived(&self) {
        self.tell(|untold| untold.arrived = true);
    }

    /// There is work for those consumers.
    pub fn due(&self, consumers: &[i64]) {
        if !consumers.is_empty() {
            self.tell(|untold| untold.due.extend(consumers));
        }
    }

    /// Something changed that anybody may have waited for.
    pub fn all(&self) {
        self.tell(|untold| untold.all = true);
    }

    fn tell(&self, what: impl FnOnce(&mut Untold)) {
        what(&mut self.untold());
        self.rung.notify_one();
    }

    fn take(&self) -> Option<String> {
        std::mem::take(&mut *self.untold()).words()
    }

    fn untold(&self) -> MutexGuard<'_, Untold> {
        self.untold.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Untold {
    /// The words of one message; none: there is nothing to tell.
    fn words(self) -> Option<String> {
        if self.all || self.due.len() > NAMED {
            return Some("all".to_owned());
        }
        let arrived = self.arrived.then(|| "arrived".to_owned());
        let words: Vec<String> = arrived.into_iter().chain(self.due.iter().map(i64::to_string)).collect();
        (!words.is_empty()).then(|| words.join(" "))
    }
}

/// A word of a message. One that is not known is a later version's.
fn heard(word: &str) -> Hint {
    match (word, word.parse()) {
        ("arrived", _) => Hint::Arrived,
        (_, Ok(consumer)) => Hint::Due(consumer),
        _ => Hint::All,
    }
}

/// Tells and hears until whoever hears is gone, whatever becomes of the connection.
pub async fn run(maker: Maker, hints: Arc<Hints>, into: Sender<Hint>) {
    let mut pause = AGAIN.0;
    loop {
        let began = Instant::now();
        let over = tokio::select! {
            () = into.closed() => return,
            over = connected(&maker, &hints, &into) => over,
        };
        if let Err(error) = over {
            tracing::debug!("no hints between nodes for now, all is found by polling: {error}");
        }
        pause = if began.elapsed() > AGAIN.1 { AGAIN.0 } else { (pause * 2).min(AGAIN.1) };
        tokio::select! {
            () = into.closed() => return,
            () = sleep_until(Instant::now() + pause) => {}
        }
    }
}

/// As long as the connection lasts. What was told before it was there may have been missed.
async fn connected(maker: &Maker, hints: &Hints, into: &Sender<Hint>) -> Result<(), StoreError> {
    let (said, mut says) = channel(HEARD);
    let conn = maker.hearing(said).await?;
    conn.rows(sql::LISTEN, &[]).await?;
    let own = conn.row(sql::SESSION, &[]).await?.unwrap_or_default().int(0)?;
    let _ = into.try_send(Hint::All);
    let mut next = Instant::now();
    loop {
        // In this order: a ring that was waited for is not forgotten when something is heard first.
        let rung = async {
            sleep_until(next).await;
            hints.rung.notified().await;
        };
        tokio::select! {
            said = says.recv() => match said {
                None => return Ok(()),
                Some((session, _)) if session == own => {}
                Some((_, words)) => {
                    // One more than fits is lost.
                    words.split(' ').for_each(|word| into.try_send(heard(word)).unwrap_or(()));
                }
            },
            () = rung => {
                next = Instant::now() + EVERY;
                if let Some(words) = hints.take() {
                    conn.rows(sql::NOTIFY, &[Arg::Text(&words)]).await?;
                }
            }
        }
    }
}

/// Who spoke, and what.
pub type Said = (i64, String);

/// What one connection hears goes there; one more than it holds is lost.
pub type Ear = Sender<Said>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_what_is_heard() {
        let hints = Hints::default();
        assert_eq!(hints.take(), None);
        hints.due(&[7, 3]);
        hints.arrived();
        hints.due(&[3]);
        let words = hints.take().unwrap();
        let said: Vec<Hint> = words.split(' ').map(heard).collect();
        assert_eq!(said, [Hint::Arrived, Hint::Due(3), Hint::Due(7)]);
        hints.due(&(0..1_000).collect::<Vec<_>>());
        assert_eq!(hints.take().as_deref().map(heard), Some(Hint::All));
        assert_eq!(heard("a word of a later version"), Hint::All);
    }
}
