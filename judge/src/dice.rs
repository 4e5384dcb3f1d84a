//! Seeded chance: the same seed gives the same run plan. Not cryptographic, and not shared with the engine.

/// SplitMix64.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// An independent stream for a task or a cycle, so that threads do not disturb each other's draws.
    pub fn fork(&self, stream: u64) -> Self {
        let mut child = Self(self.0 ^ stream.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        child.draw();
        child
    }

    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform enough below `bound`; 0 for a bound of 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.draw().checked_rem(bound).unwrap_or(0)
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.below(from.len() as u64) as usize)
    }

    /// A true random seed, to be printed by whoever uses it.
    pub fn seed() -> anyhow::Result<u64> {
        Ok(getrandom::u64()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_draws_and_forks_differ() {
        let draws = |mut d: Dice| (0..5).map(|_| d.below(1000)).collect::<Vec<_>>();
        assert_eq!(draws(Dice::new(7)), draws(Dice::new(7)));
        assert_ne!(draws(Dice::new(7).fork(1)), draws(Dice::new(7).fork(2)));
        assert_eq!(Dice::new(1).pick::<u8>(&[]), None);
    }
}
