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
