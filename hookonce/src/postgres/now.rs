//! The database's clock, without asking it each time: how far ours is from it.

use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::sync::{Arc, Weak};
use std::time::Duration;

use hookonce_core::time::Micros;

use super::conn::Pool;
use crate::clock::{Clock, SystemClock};
use crate::sql::postgres as sql;
use crate::store::StoreError;

/// Clocks drift apart by less than a millisecond in this time.
const EVERY: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub struct Now {
    clock: Arc<dyn Clock>,
    /// The database's minus ours.
    ahead: AtomicI64,
}

impl Now {
    /// With a test's clock, which the database follows, or with this machine's.
    pub fn new(clock: Option<Arc<dyn Clock>>) -> Now {
        Now { clock: clock.unwrap_or_else(|| Arc::new(SystemClock)), ahead: AtomicI64::new(0) }
    }

    pub fn now(&self) -> Micros {
        self.clock.now().saturating_add(self.ahead.load(Relaxed))
    }
}

/// Asks the database. The answer is taken for the middle of the time that it took.
pub async fn look(pool: &Pool, now: &Now) -> Result<(), StoreError> {
    let conn = pool.get().await?;
    let before = now.clock.now();
    let there = conn.row(sql::NOW, &[]).await?.unwrap_or_default().int(0)?;
    let here = before.midpoint(now.clock.now());
    now.ahead.store(there.saturating_sub(here), Relaxed);
    Ok(())
}

/// Asks again and again, as long as somebody has use for it. While the database is away the last answer is the best.
pub async fn keep(pool: Pool, now: Weak<Now>) {
    loop {
        tokio::time::sleep(EVERY).await;
        let Some(now) = now.upgrade() else { return };
        if let Err(StoreError::Closed) = look(&pool, &now).await {
            return;
        }
    }
}
