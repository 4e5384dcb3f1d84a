//! What people read, asked of the bed and of the model: lists in every filter, single rows, and what `why` tells.

use super::bed::wait;
use crate::store::Store;
use crate::testkit::model::Rows;
use crate::view::{Page, Query};

const STATUSES: [&str; 6] = ["received", "held", "unmatched", "in_progress", "done", "needs_attention"];
const STATES: [&str; 5] = ["waiting", "ready", "retryable_failed", "permanently_failed", "succeeded"];

/// The first page that is not the model's, and what it says in each.
pub fn difference(rows: &Rows, here: &dyn Store, there: &dyn Store) -> Option<String> {
    queries(rows).into_iter().find_map(|query| {
        let (here, there) = (said(here, &query), said(there, &query));
        (here != there).then(|| format!("{query:?}\n  here:  {here}\n  model: {there}"))
    })
}

fn said(store: &dyn Store, query: &Query) -> String {
    format!("{:?}", wait(store.read(query.clone())))
}

fn queries(rows: &Rows) -> Vec<Query> {
    let events = |status: Option<&str>, after| Query::Events {
        source: None,
        status: status.map(str::to_owned),
        after,
        limit: 5,
    };
    let deliveries = |state: Option<&str>, event, after| Query::Deliveries {
        consumer: None,
        state: state.map(str::to_owned),
        event,
        after,
        limit: 5,
    };
    let event = rows.event.keys().next_back().copied().unwrap_or(1);
    let delivery = rows.delivery.values().next_back().map_or(1, |d| d.id);
    let mut all = vec![events(None, None), events(None, Some(event)), deliveries(None, None, None)];
    all.extend(STATUSES.map(|status| events(Some(status), None)));
    all.extend(STATES.map(|state| deliveries(Some(state), None, None)));
    all.extend([deliveries(None, Some(event), None), deliveries(None, None, Some(delivery))]);
    all.extend([Query::Event { id: event }, Query::EventRaw { id: event }, Query::Delivery { id: delivery }]);
    all.extend([Query::Why { event }, Query::Consumers, Query::Configured, Query::Tally, Query::Unmapped { id: 1 }]);
    all.extend([Query::Dead { after: None, limit: 5 }, Query::Held { after: None, limit: 5 }]);
    all.extend(rows.request.keys().rev().take(5).map(|id| Query::RequestRaw { id: *id }));
    all.push(Query::Requests { source: None, verdict: None, after: None, limit: 20 });
    all.push(Query::Requests { source: Some("gh".into()), verdict: Some("duplicate".into()), after: None, limit: 5 });
    all
}

/// Pages behind pages: together they are the list, each row once.
pub fn pages_are_the_list(store: &dyn Store) -> Result<(), String> {
    let (mut ids, mut after) = (Vec::new(), None);
    loop {
        let query = Query::Requests { source: None, verdict: None, after, limit: 3 };
        let Ok(Page::Requests(page)) = wait(store.read(query)) else { return Err("no list of requests".into()) };
        let Some(last) = page.last() else { break };
        after = Some(last.cursor);
        ids.extend(page.into_iter().map(|row| row.id));
    }
    let whole = Query::Requests { source: None, verdict: None, after: None, limit: 500 };
    let Ok(Page::Requests(whole)) = wait(store.read(whole)) else { return Err("no list of requests".into()) };
    let whole: Vec<String> = whole.into_iter().map(|row| row.id).collect();
    if ids == whole { Ok(()) } else { Err(format!("pages {ids:?}\n  list  {whole:?}")) }
}
