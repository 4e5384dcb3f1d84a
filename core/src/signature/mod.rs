//! Signature schemes as data.

/// A verification scheme: a value, not a branch.
#[derive(Clone, Copy, Debug)]
pub struct Scheme {
    pub name: &'static str,
}
