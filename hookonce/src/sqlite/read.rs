//! Reads for people.

use hookonce_core::time::Micros;

use super::bodies::{part, span, stored_headers};
use super::inbox::read_tally;
use super::reader::Reader;
use crate::sql::call::Arg;
use crate::sql::sqlite as sql;
use crate::store::StoreError;
use crate::view::{Page, Query, Raw};

pub fn page(reader: &Reader, query: &Query, _now: Micros) -> Result<Page, StoreError> {
    match query {
        Query::EventRaw { id } => event_raw(reader, *id),
        Query::Tally => tally(reader),
        _ => Ok(Page::None),
    }
}

fn event_raw(reader: &Reader, id: i64) -> Result<Page, StoreError> {
    let Some(mut row) = reader.inbox.row(sql::READ_EVENT_RAW, &[Arg::Int(id)])? else { return Ok(Page::None) };
    let span = span(row.opt_int(3)?, row.opt_int(4)?);
    let headers = stored_headers(&row.blob(1)?)?;
    Ok(Page::Raw(Raw { target: row.text(0)?, headers, body: part(row.blob(2)?.into(), span) }))
}

fn tally(reader: &Reader) -> Result<Page, StoreError> {
    let mut sums = std::collections::BTreeMap::new();
    for (source, verdict, count) in read_tally(&reader.inbox)? {
        *sums.entry((source, verdict)).or_insert(0i64) += i64::try_from(count).unwrap_or(i64::MAX);
    }
    Ok(Page::Tally(sums.into_iter().map(|((source, verdict), count)| (source, verdict, count)).collect()))
}
