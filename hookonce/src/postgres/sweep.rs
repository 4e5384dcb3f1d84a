//! The slow audit of invariant 5: an open lane whose first delivery nobody has. It must never find one.
//!
//! What it finds it does not mend: it asks the router to look at the lane, which has the locks for it.

use std::sync::{Mutex, PoisonError};

use super::conn::Conn;
use super::store::Base;
use crate::sql::call::{Arg, Row};
use crate::sql::postgres as sql;
use crate::store::{StoreError, Swept};

/// Delivery rows that one sweep walks.
const ROWS: i64 = 20_000;

/// A place in the walk over all deliveries: (lane, seq).
type Place = (i64, i64);
const FIRST: Place = (i64::MIN, i64::MIN);
const LAST: Place = (i64::MAX, i64::MAX);

/// Where the next sweep goes on.
#[derive(Debug, Default)]
pub struct Walk(Mutex<Option<Place>>);

/// A stretch of the walk.
pub async fn sweep(base: &Base) -> Result<Swept, StoreError> {
    let place = || base.swept.0.lock().unwrap_or_else(PoisonError::into_inner);
    let after = place().unwrap_or(FIRST);
    let (swept, end) = stretch(&*base.work.get().await?, after).await?;
    *place() = end;
    Ok(swept)
}

/// What was found behind `after`, and where it ended before the last of all deliveries.
async fn stretch(conn: &Conn, after: Place) -> Result<(Swept, Option<Place>), StoreError> {
    let args = [Arg::Int(after.0), Arg::Int(after.1), Arg::Int(ROWS)];
    let end = conn.row(sql::SWEEP_STRETCH, &args).await?.map(|row| place(&row)).transpose()?;
    let upto = end.unwrap_or(LAST);
    let args = [Arg::Int(after.0), Arg::Int(after.1), Arg::Int(upto.0), Arg::Int(upto.1)];
    let found = conn.rows(sql::SWEEP_LANES, &args).await?;
    let headless: Vec<i64> = found.iter().map(|row| row.int(0)).collect::<Result<_, _>>()?;
    if !headless.is_empty() {
        conn.exec(sql::SWEEP_CHECK, &[Arg::Ints(&headless)]).await?;
    }
    Ok((Swept { headless }, end))
}

fn place(row: &Row) -> Result<Place, StoreError> {
    Ok((row.int(0)?, row.int(1)?))
}
