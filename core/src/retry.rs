//! When a failed delivery is tried again. Capped exponential back-off with jitter; the result is persisted, so that a
//! restart neither hurries nor forgets it.

use crate::consumer::Policy;
use crate::time::Micros;

/// The longest delay that the other side's `Retry-After` is believed.
pub const RETRY_AFTER_MAX: Micros = 24 * crate::time::HOUR;

/// The n-th rung (from 1) without jitter: first, doubled each time, capped.
pub fn ladder(policy: &Policy, n: i64) -> Micros {
    let doublings = n.clamp(1, 63) - 1;
    let factor = 1i64.checked_shl(doublings as u32).unwrap_or(i64::MAX);
    policy.first.saturating_mul(factor.max(1)).min(policy.max)
}

/// The delay before the next try. The dice decide between half and the whole of the rung, so that a crowd that failed
/// together does not come back together; what the other side asked for is the least.
pub fn delay(policy: &Policy, n: i64, after: Option<Micros>, dice: u64) -> Micros {
    let rung = ladder(policy, n);
    let half = rung / 2;
    let spread = (rung - half).max(1) as u64;
    let jittered = half.saturating_add((dice % (spread + 1)) as i64);
    jittered.max(after.unwrap_or(0).clamp(0, RETRY_AFTER_MAX))
}

/// The least delay of a deferral: a receiver that asks for nothing must not be asked without a pause.
pub const DEFER_MIN: Micros = crate::time::SECOND;

/// The delay that the other side asked for, and up to a tenth more: it said the same to everybody.
pub fn deferred(after: Micros, dice: u64) -> Micros {
    let asked = after.clamp(DEFER_MIN, RETRY_AFTER_MAX);
    let spread = (asked / 10) as u64;
    asked.saturating_add((dice % (spread + 1)) as i64)
}

/// Whether the failure just counted was the last: `attempts` and `elapsed` (since the first failure) include it.
pub fn exhausted(policy: &Policy, attempts: i64, elapsed: Micros) -> bool {
    policy.attempts.is_some_and(|limit| attempts >= limit) || out_of_time(policy, elapsed)
}

/// Whether it has been failing, or put off, for as long as anybody waits.
pub fn out_of_time(policy: &Policy, elapsed: Micros) -> bool {
    elapsed >= policy.give_up_after
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{HOUR, SECOND};

    #[test]
    fn the_ladder_doubles_and_is_capped() {
        let policy = Policy { first: 5 * SECOND, max: HOUR, ..Policy::default() };
        let rungs: Vec<i64> =
            [1, 2, 3, 10, 11, 63, i64::MAX, 0, -4].iter().map(|n| ladder(&policy, *n) / SECOND).collect();
        assert_eq!(rungs, [5, 10, 20, 2_560, 3_600, 3_600, 3_600, 5, 5]);
    }

    #[test]
    fn jitter_stays_within_half_and_whole_and_retry_after_is_the_least() {
        let policy = Policy { first: 4 * SECOND, max: HOUR, ..Policy::default() };
        for dice in [0, 1, 1_999_999, 2_000_000, u64::MAX] {
            let d = delay(&policy, 1, None, dice);
            assert!((2 * SECOND..=4 * SECOND).contains(&d), "{d}");
        }
        assert_eq!(delay(&policy, 1, Some(60 * SECOND), 0), 60 * SECOND);
        assert_eq!(delay(&policy, 1, Some(i64::MAX), 0), RETRY_AFTER_MAX);
    }

    #[test]
    fn a_deferral_is_never_earlier_than_asked_nor_without_a_pause() {
        for (after, least, most) in [
            (i64::MIN, DEFER_MIN, DEFER_MIN + DEFER_MIN / 10),
            (0, DEFER_MIN, DEFER_MIN + DEFER_MIN / 10),
            (60 * SECOND, 60 * SECOND, 66 * SECOND),
            (i64::MAX, RETRY_AFTER_MAX, RETRY_AFTER_MAX + RETRY_AFTER_MAX / 10),
        ] {
            let delays: Vec<i64> = [0, 1, 77_777_777_777, u64::MAX].iter().map(|dice| deferred(after, *dice)).collect();
            assert!(delays.iter().all(|d| (least..=most).contains(d)), "{after}: {delays:?}");
            assert!(delays.windows(2).any(|w| w[0] != w[1]), "{after}: {delays:?} is no spread");
        }
    }
}
