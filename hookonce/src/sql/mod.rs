//! What the dialects share: the shape of a call ([`call`]) and the form in which headers are stored ([`headers`]).
//! The statements stand in files beside this one, one a file; only the backend of that dialect reads them.

pub mod audit;
pub mod call;
pub mod definition;
pub mod headers;
pub mod place;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(feature = "sqlite")]
pub mod sqlite;
pub mod stored;
