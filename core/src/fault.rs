//! Places where a test may end the process, and bugs that a test may plant: the judge must find each of them.
//!
//! Without the features `failpoints` and `planted` both functions are constants that the compiler removes; a test looks
//! into the released binary for their names. Core reads no environment: whoever runs the process installs the hooks.

#[cfg(any(feature = "failpoints", feature = "planted"))]
use std::sync::OnceLock;

#[cfg(feature = "failpoints")]
static POINT: OnceLock<fn(&str)> = OnceLock::new();
#[cfg(feature = "planted")]
static PLANTED: OnceLock<fn(&str) -> bool> = OnceLock::new();

/// Installs what happens at a kill point; the first one stays.
#[cfg(feature = "failpoints")]
pub fn on_point(hook: fn(&str)) {
    let _ = POINT.set(hook);
}

/// Installs the question which bug is planted; the first one stays.
#[cfg(feature = "planted")]
pub fn on_planted(hook: fn(&str) -> bool) {
    let _ = PLANTED.set(hook);
}

/// A named step of the path of one webhook (`reliability.md` 1.3).
#[cfg(feature = "failpoints")]
#[macro_export]
macro_rules! kill_point {
    ($name:literal) => {
        $crate::fault::point($name)
    };
}

/// A named step of the path of one webhook: nothing in this build, not even its name.
#[cfg(not(feature = "failpoints"))]
#[macro_export]
macro_rules! kill_point {
    ($name:literal) => {};
}

/// Whether this bug is planted in this process.
#[cfg(feature = "planted")]
#[macro_export]
macro_rules! planted {
    ($name:literal) => {
        $crate::fault::is_planted($name)
    };
}

/// Whether this bug is planted: never in this build, not even its name.
#[cfg(not(feature = "planted"))]
#[macro_export]
macro_rules! planted {
    ($name:literal) => {
        false
    };
}

#[cfg(feature = "failpoints")]
pub fn point(name: &str) {
    if let Some(hook) = POINT.get() {
        hook(name);
    }
}

#[cfg(feature = "planted")]
pub fn is_planted(name: &str) -> bool {
    PLANTED.get().is_some_and(|hook| hook(name))
}
