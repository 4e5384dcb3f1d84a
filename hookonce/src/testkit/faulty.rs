//! A fault at the seam of a database: the n-th statement from when it is armed fails, once.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::sql::call::Tap;
use crate::store::StoreError;

/// What the error says, so that a verdict shows where it came from.
pub const SAYS: &str = "a fault";

#[derive(Debug, Default)]
pub struct Fault(Mutex<Option<Due>>);

#[derive(Debug)]
struct Due {
    left: usize,
    behind: bool,
}

impl Fault {
    pub fn arm(&self, nth: usize, behind: bool) {
        *self.due() = Some(Due { left: nth.max(1), behind });
    }

    /// Whether it has happened; it is over with this.
    pub fn struck(&self) -> bool {
        self.due().take().is_some_and(|due| due.left == 0)
    }

    fn due(&self) -> MutexGuard<'_, Option<Due>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn strike(&self, statement: &str, behind: bool) -> Result<(), StoreError> {
        let mut due = self.due();
        // A rollback is no step of a verb.
        let counts = |due: &&mut Due| due.left > 0 && due.behind == behind && statement != "rollback";
        let Some(due) = due.as_mut().filter(counts) else { return Ok(()) };
        due.left -= 1;
        if due.left == 0 { Err(StoreError::Busy(SAYS.to_owned())) } else { Ok(()) }
    }
}

impl Tap for Fault {
    fn before(&self, statement: &'static str) -> Result<(), StoreError> {
        self.strike(statement, false)
    }

    fn after(&self, statement: &'static str) -> Result<(), StoreError> {
        self.strike(statement, true)
    }
}
