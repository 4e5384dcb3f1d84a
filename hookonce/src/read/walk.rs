//! A filtered list walks back in stretches. It ends where its page is full or nothing is left, and also after so many
//! rows that it looked at: a filter that finds little gives a short page at once instead of none after a long time.

use crate::view::WALK_MAX;

/// Rows looked at in one flight.
pub const STRETCH: usize = 500;

#[derive(Debug)]
pub struct Walk<T> {
    rows: Vec<T>,
    limit: usize,
    looked: usize,
    next: Option<i64>,
}

impl<T> Walk<T> {
    pub fn new(limit: usize) -> Walk<T> {
        Walk { rows: Vec::new(), limit, looked: 0, next: None }
    }

    /// How many are still wanted.
    pub fn wanted(&self) -> usize {
        self.limit.saturating_sub(self.rows.len())
    }

    /// Takes what a stretch of at most `size` rows brought: how many there were, the cursor of the last of them, and
    /// those that are wanted. Whether the walk is over.
    pub fn take(
        &mut self,
        size: usize,
        looked: usize,
        last: Option<i64>,
        kept: Vec<T>,
        cursor: impl Fn(&T) -> i64,
    ) -> bool {
        self.looked += looked;
        self.rows.extend(kept);
        let full = self.rows.len() >= self.limit;
        self.rows.truncate(self.limit);
        self.next = match full {
            true => self.rows.last().map(cursor),
            false => last.filter(|_| looked >= size),
        };
        full || self.next.is_none() || self.looked >= WALK_MAX
    }

    /// The page, and behind which row the next one begins.
    pub fn page(self) -> (Vec<T>, Option<i64>) {
        (self.rows, self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Walks the numbers from `from` down to 1 and keeps those that `takes`; answers the page and how many were seen.
    fn walked(from: i64, limit: usize, takes: fn(i64) -> bool) -> (Vec<i64>, Option<i64>, usize) {
        let (mut walk, mut below, mut seen) = (Walk::new(limit), from + 1, 0);
        loop {
            let found: Vec<i64> = (1..below).rev().take(STRETCH).collect();
            let last = found.last().copied();
            seen += found.len();
            below = last.unwrap_or(below);
            let kept = found.iter().copied().filter(|n| takes(*n)).collect();
            if walk.take(STRETCH, found.len(), last, kept, |n| *n) {
                let (rows, next) = walk.page();
                return (rows, next, seen);
            }
        }
    }

    #[test]
    fn a_page_is_full_or_says_how_far_it_looked() {
        let walk = i64::try_from(WALK_MAX).expect("a small number");
        assert_eq!(walked(20_000, 2, |_| true), (vec![20_000, 19_999], Some(19_999), STRETCH));
        assert_eq!(walked(20_000, 2, |_| false), (vec![], Some(20_000 - walk + 1), WALK_MAX));
        assert_eq!(walked(20_000, 2, |n| n == 15_500), (vec![15_500], Some(20_000 - walk + 1), WALK_MAX));
        assert_eq!(walked(700, 2, |n| n == 1), (vec![1], None, 700));
        assert_eq!(walked(0, 2, |_| true), (vec![], None, 0));
    }

    #[test]
    fn pages_together_are_the_list() {
        let (mut all, mut from) = (Vec::new(), 23_456);
        loop {
            let (rows, next, _) = walked(from, 7, |n| n % 1_000 == 0);
            all.extend(rows);
            let Some(next) = next else { break };
            from = next - 1;
        }
        assert_eq!(all, (1..=23).rev().map(|n| n * 1_000).collect::<Vec<_>>());
    }
}
