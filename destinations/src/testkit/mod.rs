//! What proves a destination: a [`receiver`] that keeps what arrives and answers as told, and the [`suite`] that every
//! kind of destination passes. A destination brings a maker of itself and nothing else.

pub mod receiver;
pub mod suite;
