//! The bounded queue before a writer: values go in without waiting, the writer takes as many as fit in its next group.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Why a value was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotTaken {
    Full,
    Closed,
}

#[derive(Debug)]
pub struct Queue<T> {
    state: Mutex<State<T>>,
    filled: Condvar,
    limit: usize,
}

#[derive(Debug)]
struct State<T> {
    waiting: VecDeque<T>,
    /// Takers that sleep and have not been called. A call is a system call, and a busy writer needs none.
    asleep: usize,
    closed: bool,
}

impl<T> Queue<T> {
    pub fn new(limit: usize) -> Self {
        let state = State { waiting: VecDeque::new(), asleep: 0, closed: false };
        Queue { state: Mutex::new(state), filled: Condvar::new(), limit }
    }

    pub fn push(&self, value: T) -> Result<(), NotTaken> {
        let mut state = self.lock();
        if state.closed {
            return Err(NotTaken::Closed);
        }
        if state.waiting.len() >= self.limit {
            return Err(NotTaken::Full);
        }
        state.waiting.push_back(value);
        let call = state.asleep > 0;
        state.asleep -= usize::from(call);
        drop(state);
        if call {
            self.filled.notify_one();
        }
        Ok(())
    }

    /// Waits until there is something; `choose` takes out what goes into the next group. `None`: closed and empty.
    pub fn take(&self, choose: impl FnOnce(&mut VecDeque<T>) -> Vec<T>) -> Option<Vec<T>> {
        let mut state = self.lock();
        while state.waiting.is_empty() {
            if state.closed {
                return None;
            }
            // Woken by nobody, it counts itself once more: that is a call too many, never one too few.
            state.asleep += 1;
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        Some(choose(&mut state.waiting))
    }

    /// Nothing more comes in; what is waiting is still worked off.
    pub fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_all();
    }

    pub fn len(&self) -> usize {
        self.lock().waiting.len()
    }

    /// A poisoned lock means that a thread died between two whole steps: the queue itself is sound.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(waiting: &mut VecDeque<i32>) -> Vec<i32> {
        waiting.drain(..).collect()
    }

    #[test]
    fn it_is_bounded_and_worked_off_after_it_was_closed() {
        let queue = Queue::new(2);
        assert_eq!((queue.push(1), queue.push(2), queue.push(3)), (Ok(()), Ok(()), Err(NotTaken::Full)));
        assert_eq!(queue.take(|w| w.drain(..1).collect()), Some(vec![1]));
        assert_eq!(queue.push(4), Ok(()));
        queue.close();
        assert_eq!(queue.push(5), Err(NotTaken::Closed));
        assert_eq!(queue.take(all), Some(vec![2, 4]));
        assert_eq!(queue.take(all), None);
    }
}
