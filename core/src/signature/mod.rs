//! Signatures: bytes → [`Verified`].
//!
//! A [`Scheme`] is data (`scheme`), the known ones stand with their providers in `catalog`. [`Keys`] are a scheme's keys
//! made ready once (`keys`), [`verify`](verify()) reads the header by the scheme's grammar (`grammar`), puts the signed
//! bytes together (`content`) and compares. What data cannot say is one function in `special`, what a sender does is in
//! `sign`, what an endpoint must answer before it is trusted in `handshake`.
//!
//! Not here: fetching keys, reading secrets, clocks. A fetched key arrives as a [`Secret`], the time as an argument.
//! Start at `verify.rs`.

mod bound;
mod content;
mod encoding;
mod grammar;
mod keys;
mod material;
mod refusal;
mod scheme;
mod sign;
mod special;
mod verify;

pub mod catalog;
pub mod handshake;

pub use content::Parts;
pub use keys::{KeyError, Keys, MAX_SECRETS, Secret, Use};
pub use refusal::Refusal;
pub use scheme::{
    Algorithm, Carrier, Encoding, Hash, KeyForm, MAX_PARTS, Place, Scheme, SchemeError, Selector, Signed, Text,
    Timestamp, Unit, Variant,
};
pub use sign::{SignError, sign};
pub use special::Prepared;
pub use verify::{MAX_SIGNATURES, Matched, Options, Verified, signed, verify};
