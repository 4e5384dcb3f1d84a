//! The slow audit of invariant 5: an open lane whose first delivery nobody has. It must never find one.
//!
//! A reader walks a stretch of deliveries and names suspects; the writer looks at each again and mends it.

use hookonce_core::time::Micros;

use super::conn::Conn;
use crate::sql::call::Arg;
use crate::sql::sqlite as sql;
use crate::store::{StoreError, Swept};

/// Delivery rows that one sweep walks.
pub const SWEEP_ROWS: i64 = 20_000;

/// Suspects behind `after`, and where the next stretch begins (0: from the start again).
pub fn suspects(reader: &Conn, after: i64) -> Result<(Vec<i64>, i64), StoreError> {
    let stretch = reader.row(sql::SWEEP_STRETCH, &[Arg::Int(after), Arg::Int(SWEEP_ROWS)])?.unwrap_or_default();
    let (Some(until), walked) = (stretch.opt_int(0)?, stretch.int(1)?) else { return Ok((Vec::new(), 0)) };
    let found = reader.rows(sql::SWEEP_LANES, &[Arg::Int(after), Arg::Int(until)])?;
    let next = if walked < SWEEP_ROWS { 0 } else { until };
    Ok((found.iter().map(|row| row.int(0)).collect::<Result<_, _>>()?, next))
}

/// Gives each head that is still nobody's its work row.
pub fn mend(conn: &Conn, now: Micros, suspects: &[i64]) -> Result<Swept, StoreError> {
    let mut headless = Vec::new();
    for seq in suspects {
        let found = conn.rows(sql::SWEEP_LANES, &[Arg::Int(seq - 1), Arg::Int(*seq)])?;
        for row in found {
            let lane = row.int(1)?;
            conn.exec(sql::COMMAND_WORK, &[Arg::Int(*seq), Arg::Int(now), Arg::Int(0)])?;
            headless.push(lane);
        }
    }
    Ok(Swept { headless })
}
