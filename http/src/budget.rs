//! Bytes of bodies that are in memory, counted as they arrive. A declared length reserves nothing: whoever announces
//! much and sends little would keep the others out.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Debug)]
pub struct Budget {
    used: AtomicUsize,
    limit: usize,
}

impl Budget {
    pub fn new(limit: usize) -> Arc<Budget> {
        Arc::new(Budget { used: AtomicUsize::new(0), limit })
    }

    #[cfg(test)]
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    fn take(&self, bytes: usize) -> bool {
        let room = |used: usize| used.checked_add(bytes).filter(|sum| *sum <= self.limit);
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, room).is_ok()
    }

    fn give(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// What one request holds of both budgets, until its commit is over.
#[derive(Debug)]
pub struct Held {
    all: Arc<Budget>,
    source: Arc<Budget>,
    bytes: usize,
}

impl Held {
    pub fn new(all: &Arc<Budget>, source: &Arc<Budget>) -> Held {
        Held { all: all.clone(), source: source.clone(), bytes: 0 }
    }

    /// Whether there is room for so much more; if not, nothing is taken.
    #[must_use]
    pub fn grow(&mut self, bytes: usize) -> bool {
        if !self.source.take(bytes) {
            return false;
        }
        if !self.all.take(bytes) {
            self.source.give(bytes);
            return false;
        }
        self.bytes += bytes;
        true
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.source.give(self.bytes);
        self.all.give(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_takes_nothing_and_what_ends_gives_all_back() {
        let (all, small, large) = (Budget::new(10), Budget::new(4), Budget::new(100));
        let mut first = Held::new(&all, &small);
        assert!(first.grow(4));
        assert!(!first.grow(1), "the source's share is full");
        let mut second = Held::new(&all, &large);
        assert!(!second.grow(7), "the total is full");
        assert_eq!((all.used(), small.used(), large.used()), (4, 4, 0));
        assert!(second.grow(6));
        assert!(!second.grow(usize::MAX), "no sum wraps around");
        drop((first, second));
        assert_eq!((all.used(), small.used(), large.used()), (0, 0, 0));
    }
}
