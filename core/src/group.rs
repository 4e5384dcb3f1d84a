//! Groups: many requests share one commit. A group that fails is halved until the culprit stands alone.

/// Items in one commit of the SQLite inbox writer. A larger request is a group of its own.
pub const GROUP_ITEMS: usize = 1_024;

/// How many of the waiting requests go into the next group: as many as fit, always at least one, never a part of one.
pub fn cut(items: impl Iterator<Item = usize>) -> usize {
    let mut total = 0usize;
    let mut taken = 0usize;
    for n in items {
        if taken > 0 && !fits(total, n, GROUP_ITEMS) {
            break;
        }
        total = total.saturating_add(n);
        taken += 1;
    }
    taken
}

/// Whether a request with so many items still goes into a group that has some.
pub fn fits(have: usize, more: usize, limit: usize) -> bool {
    have.saturating_add(more) <= limit
}

/// The two halves of a failed group; `None`: it is one request, and that one is the culprit.
pub fn halve(len: usize) -> Option<usize> {
    (len > 1).then_some(len / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_cut_between_requests() {
        assert_eq!(cut([1, 1, 1].into_iter()), 3);
        assert_eq!(cut([5_000, 1].into_iter()), 1);
        assert_eq!(cut([1_000, 24, 1].into_iter()), 2);
        assert_eq!(cut([].into_iter()), 0);
        assert_eq!(halve(5), Some(2));
        assert_eq!(halve(1), None);
    }
}
