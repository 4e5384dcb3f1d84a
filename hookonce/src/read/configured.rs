//! What was configured last: what a new configuration is compared with before it is in force.

use hookonce_core::consumer::Standing;

use super::tables::{Look, Question, Tables};
use crate::sql::call::Row;
use crate::store::StoreError;
use crate::view::{Configured, Defined, Page};

pub async fn all(tables: &impl Tables) -> Result<Page, StoreError> {
    let questions = [Look::Defined, Look::Rules, Look::Newest].map(|look| Question { look, args: &[] });
    let mut answers = tables.ask(&questions).await?.into_iter();
    let mut next = || answers.next().unwrap_or_default().into_iter();
    let consumers = next().map(defined).collect::<Result<_, _>>()?;
    let rules = next().map(|mut row| Ok((row.text(0)?, row.text(1)?))).collect::<Result<_, StoreError>>()?;
    let newest = next().next().unwrap_or_default().opt_int(0)?;
    Ok(Page::Configured(Configured { consumers, rules, newest }))
}

fn defined(mut row: Row) -> Result<Defined, StoreError> {
    let (name, state, definition) = (row.text(0)?, row.text(1)?, row.text(2)?);
    Ok(Defined { name, listed: Standing::parse(&state).is_none_or(|standing| standing.listed), definition })
}
