//! What an `http` consumer's configuration means.

use std::time::Duration;

use hookonce_core::signature::Keys;

/// One try, connecting and reading the answer included.
pub const TIMEOUT: Duration = Duration::from_secs(10);
/// Tries at once.
pub const CONCURRENCY: usize = 32;
/// A connect that takes longer says nothing about the receiver's work: it has not begun.
pub const CONNECT_MAX: Duration = Duration::from_secs(5);
/// An idle connection is closed before most receivers' own limit, and while its address is still the name's.
pub const IDLE: Duration = Duration::from_secs(20);

#[derive(Clone, Debug)]
pub struct Config {
    pub url: String,
    /// Opens loopback and private addresses, and every port.
    pub allow_private: bool,
    pub timeout: Duration,
    /// As many connections are kept open.
    pub concurrency: usize,
    /// Status codes that end the delivery at once; every other failure is tried again.
    pub permanent: Vec<u16>,
    /// Keys of the Standard Webhooks scheme, ready to sign. `Debug` shows their names alone.
    pub sign: Option<Keys>,
}

impl Config {
    pub fn new(url: impl Into<String>) -> Config {
        Config {
            url: url.into(),
            allow_private: false,
            timeout: TIMEOUT,
            concurrency: CONCURRENCY,
            permanent: Vec::new(),
            sign: None,
        }
    }
}
