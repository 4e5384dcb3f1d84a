//! The signature engine against the vectors of the providers, against what can be derived from them, and against
//! hostile input. Start at `vectors.rs`; `case.rs` reads them.

mod case;
mod field_cases;
mod generic;
mod handshakes;
mod hostile;
mod key_errors;
mod named_keys;
mod negatives;
mod profiles;
mod signing;
mod vectors;
