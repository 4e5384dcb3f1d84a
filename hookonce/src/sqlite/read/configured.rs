//! What was configured last: what a new configuration is compared with before it is in force.

use hookonce_core::consumer::Standing;

use crate::sql::sqlite as sql;
use crate::sqlite::reader::Reader;
use crate::store::StoreError;
use crate::view::{Configured, Defined, Page};

pub fn all(reader: &Reader) -> Result<Page, StoreError> {
    let consumers = reader.work.rows(sql::READ_DEFINED, &[])?.into_iter().map(|mut row| {
        let (name, state, definition) = (row.text(0)?, row.text(1)?, row.text(2)?);
        Ok(Defined { name, listed: Standing::parse(&state).is_none_or(|standing| standing.listed), definition })
    });
    let rules = reader.inbox.rows(sql::READ_RULES, &[])?.into_iter().map(|mut row| Ok((row.text(0)?, row.text(1)?)));
    let configured = Configured {
        consumers: consumers.collect::<Result<_, StoreError>>()?,
        rules: rules.collect::<Result<_, StoreError>>()?,
        newest: reader.inbox.row(sql::READ_NEWEST, &[])?.unwrap_or_default().opt_int(0)?,
    };
    Ok(Page::Configured(configured))
}
