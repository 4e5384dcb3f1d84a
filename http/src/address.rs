//! A rate for each address, off unless it is set. A table of bounded size: who has more addresses than it has rows
//! shares the last one with all the others.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};

use tokio::time::Instant;

use crate::answer::Declined;

/// Addresses that have a bucket of their own.
const MAX_ADDRESSES: usize = 16_384;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    pub per_second: f64,
    pub burst: f64,
}

#[derive(Debug)]
pub struct Addresses {
    rate: Rate,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    own: HashMap<IpAddr, Bucket>,
    shared: Option<Bucket>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    tokens: f64,
    at: Instant,
}

impl Bucket {
    fn refill(&mut self, rate: Rate, now: Instant) {
        self.tokens = (self.tokens + now.duration_since(self.at).as_secs_f64() * rate.per_second).min(rate.burst);
        self.at = now;
    }

    fn take(&mut self, rate: Rate, now: Instant) -> bool {
        self.refill(rate, now);
        let enough = self.tokens >= 1.0;
        if enough {
            self.tokens -= 1.0;
        }
        enough
    }
}

impl Addresses {
    pub fn new(rate: Rate) -> Addresses {
        Addresses { rate, table: Mutex::default() }
    }

    pub fn allow(&self, from: IpAddr) -> Result<(), Declined> {
        let now = Instant::now();
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        if table.bucket(whole(from), self.rate, now).take(self.rate, now) { Ok(()) } else { Err(Declined::Limited) }
    }
}

impl Table {
    fn bucket(&mut self, from: IpAddr, rate: Rate, now: Instant) -> &mut Bucket {
        let full = Bucket { tokens: rate.burst, at: now };
        if self.own.len() >= MAX_ADDRESSES && !self.own.contains_key(&from) {
            self.forget(rate, now);
        }
        if self.own.len() >= MAX_ADDRESSES && !self.own.contains_key(&from) {
            return self.shared.get_or_insert(full);
        }
        self.own.entry(from).or_insert(full)
    }

    /// A bucket that is full again says the same as none.
    fn forget(&mut self, rate: Rate, now: Instant) {
        self.own.retain(|_, bucket| {
            bucket.refill(rate, now);
            bucket.tokens < rate.burst
        });
    }
}

/// Whoever has one address of version 6 has the 2^64 beside it.
fn whole(from: IpAddr) -> IpAddr {
    match from {
        IpAddr::V4(_) => from,
        IpAddr::V6(six) => match six.to_ipv4_mapped() {
            Some(four) => IpAddr::V4(four),
            None => IpAddr::V6(Ipv6Addr::from_bits(six.to_bits() & !u128::from(u64::MAX))),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_bucket_runs_dry_and_fills_again_and_the_table_has_an_end() {
        let addresses = Addresses::new(Rate { per_second: 1.0, burst: 2.0 });
        let at = |n: u32| IpAddr::from(n.to_be_bytes());
        assert!(addresses.allow(at(1)).is_ok() && addresses.allow(at(1)).is_ok());
        assert!(addresses.allow(at(1)).is_err());
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(addresses.allow(at(1)).is_ok());
        for n in 2..=MAX_ADDRESSES as u32 {
            assert!(addresses.allow(at(n)).is_ok());
        }
        let shared = |n| addresses.allow(at(n)).is_ok();
        assert_eq!([shared(90_001), shared(90_002), shared(90_003)], [true, true, false]);
        tokio::time::advance(Duration::from_secs(2)).await;
        assert!(shared(90_004), "full buckets made room");
        assert_eq!(addresses.table.lock().map(|t| t.own.len()).ok(), Some(1));
    }

    #[test]
    fn neighbours_of_version_6_are_one() {
        let six = |text: &str| text.parse::<IpAddr>().ok().map(whole);
        assert_eq!(six("2001:db8::1"), six("2001:db8::ffff:1"));
        assert_ne!(six("2001:db8::1"), six("2001:db8:0:1::1"));
        assert_eq!(six("::ffff:10.0.0.1"), six("10.0.0.1"));
    }
}
