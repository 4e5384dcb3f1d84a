//! What a test puts at the seam between the store and its database: a gate that holds a writer, and a fault at the
//! n-th statement.

use std::sync::{Condvar, Mutex};

use hookonce::sql::call::Tap;
use hookonce::store::StoreError;

/// Holds whoever comes to a statement until it is opened.
#[derive(Debug, Default)]
pub struct Gate {
    state: Mutex<Held>,
    moved: Condvar,
}

#[derive(Debug, Default)]
struct Held {
    at: Option<&'static str>,
    somebody: bool,
}

impl Gate {
    pub fn close(&self, at: &'static str) {
        self.state.lock().unwrap().at = Some(at);
    }

    /// Waits until a writer stands at the gate.
    pub fn reached(&self) {
        let state = self.state.lock().unwrap();
        drop(self.moved.wait_while(state, |held| !held.somebody).unwrap());
    }

    pub fn open(&self) {
        let mut state = self.state.lock().unwrap();
        (state.at, state.somebody) = (None, false);
        self.moved.notify_all();
    }
}

impl Tap for Gate {
    fn before(&self, statement: &'static str) -> Result<(), StoreError> {
        let mut state = self.state.lock().unwrap();
        if state.at == Some(statement) {
            state.somebody = true;
            self.moved.notify_all();
            drop(self.moved.wait_while(state, |held| held.at == Some(statement)).unwrap());
        }
        Ok(())
    }
}

/// Fails once, at the n-th statement from when it was set.
#[derive(Debug, Default)]
pub struct Fault(Mutex<Option<Due>>);

#[derive(Debug)]
struct Due {
    left: usize,
    error: StoreError,
    /// The statement has run, only its answer is lost.
    after: bool,
    at: Option<&'static str>,
    met: &'static str,
}

impl Fault {
    pub fn set(&self, nth: usize, error: StoreError, after: bool) {
        *self.0.lock().unwrap() = Some(Due { left: nth, error, after, at: None, met: "" });
    }

    /// At the next statement of that name.
    pub fn at(&self, name: &'static str, error: StoreError, after: bool) {
        *self.0.lock().unwrap() = Some(Due { left: 1, error, after, at: Some(name), met: "" });
    }

    /// The statement that it struck; `None`: it did not happen.
    pub fn struck(&self) -> Option<&'static str> {
        self.0.lock().unwrap().take().filter(|due| due.left == 0).map(|due| due.met)
    }

    fn strike(&self, statement: &'static str, after: bool) -> Result<(), StoreError> {
        let mut due = self.0.lock().unwrap();
        let Some(due) = due.as_mut().filter(|due| due.left > 0 && due.after == after) else { return Ok(()) };
        // A rollback is no step of a verb.
        if statement == "rollback" || due.at.is_some_and(|at| at != statement) {
            return Ok(());
        }
        due.left -= 1;
        due.met = statement;
        if due.left == 0 { Err(due.error.clone()) } else { Ok(()) }
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
