//! What the dialects share: the shape of a call ([`call`]) and the forms in which they store what is no plain value
//! ([`headers`], [`stored`]). The statements stand in files beside this one, one a file; only the backend of that dialect
//! reads them.

pub mod audit;
pub mod call;
pub(crate) mod cursor;
pub mod definition;
pub mod headers;
pub mod place;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(crate) mod retain;
pub mod schema;
#[cfg(feature = "sqlite")]
pub mod sqlite;
pub mod stored;
