//! Chance, drawn outside of the decisions: lease tokens and the dice of the jitter. A trait, so that a test with a seed
//! gives the same run again.

use std::fmt;

use hookonce_core::lease::Token;

pub trait Chance: Send + Sync + fmt::Debug {
    fn fill(&self, bytes: &mut [u8]);
}

pub fn token(chance: &dyn Chance) -> Token {
    let mut token = Token::default();
    chance.fill(&mut token);
    token
}

pub fn dice(chance: &dyn Chance) -> u64 {
    let mut bytes = [0; 8];
    chance.fill(&mut bytes);
    u64::from_le_bytes(bytes)
}

/// The system's.
#[derive(Clone, Copy, Debug, Default)]
pub struct System;

impl Chance for System {
    fn fill(&self, bytes: &mut [u8]) {
        // A token that can be guessed is a lease that can be forged: no substitute.
        getrandom::fill(bytes).expect("the system has a source of random numbers");
    }
}

/// The same sequence for the same seed.
#[cfg(feature = "testkit")]
#[derive(Debug)]
pub struct Seeded(std::sync::Mutex<u64>);

#[cfg(feature = "testkit")]
impl Seeded {
    pub fn new(seed: u64) -> Seeded {
        Seeded(std::sync::Mutex::new(seed))
    }
}

#[cfg(feature = "testkit")]
impl Chance for Seeded {
    fn fill(&self, bytes: &mut [u8]) {
        let mut state = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        for byte in bytes {
            // SplitMix64.
            *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = *state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            *byte = (z ^ (z >> 31)) as u8;
        }
    }
}
