//! What people read, asked of the bed and of the model: lists in every filter, single rows, and what `why` tells.

use hookonce_core::id::{self, Named};

use super::bed::wait;
use crate::store::{SAMPLE_BASE, Store};
use crate::testkit::model::Rows;
use crate::view::{Configured, ConsumerRow, DeliveryRow, EventRow, HeldRow, Page, Query, Reached, RequestRow, Why};

const STATUSES: [&str; 6] = ["received", "held", "unmatched", "in_progress", "done", "needs_attention"];
const STATES: [&str; 5] = ["waiting", "ready", "retryable_failed", "permanently_failed", "succeeded"];

/// The first page that is not the model's, and what it says in each. Both have the same rows, under numbers of their own.
pub fn difference(here: (&Rows, &dyn Store), there: (&Rows, &dyn Store)) -> Option<String> {
    queries(here.0).into_iter().zip(queries(there.0)).find_map(|(query, model)| {
        let (here, there) = (said(here, &query), said(there, &model));
        (here != there).then(|| format!("{query:?}\n  here:  {here}\n  model: {there}"))
    })
}

fn said((rows, store): (&Rows, &dyn Store), query: &Query) -> String {
    let page = wait(store.read(query.clone())).map(|page| Ranks(rows).page(page));
    format!("{page:?}")
}

/// Every number by its rank among those of its table.
struct Ranks<'r>(&'r Rows);

impl Ranks<'_> {
    fn page(&self, page: Page) -> Page {
        match page {
            Page::Events(rows, next) => Page::Events(self.each(rows, Self::event), next.map(|n| self.event_no(n))),
            Page::Requests(rows) => Page::Requests(self.each(rows, Self::request)),
            Page::Deliveries(rows, next) => Page::Deliveries(self.each(rows, Self::delivery), next),
            Page::Held(rows) => Page::Held(self.each(rows, Self::held)),
            Page::Consumers(rows) => Page::Consumers(self.each(rows, Self::consumer)),
            Page::Configured(known) => {
                let newest = known.newest.map(|event| self.event_no(event));
                Page::Configured(Configured { newest, ..known })
            }
            Page::Why(why) => Page::Why(Box::new(self.why(*why))),
            page => page,
        }
    }

    fn each<T>(&self, rows: Vec<T>, rank: impl Fn(&Self, T) -> T) -> Vec<T> {
        rows.into_iter().map(|row| rank(self, row)).collect()
    }

    fn event_no(&self, number: i64) -> i64 {
        self.0.event.range(..=number).count() as i64
    }

    fn request_no(&self, number: i64) -> i64 {
        self.0.request.range(..=number).count() as i64
    }

    fn sample_no(&self, number: i64) -> i64 {
        self.0.sample.range(..=number).count() as i64
    }

    fn event(&self, row: EventRow) -> EventRow {
        EventRow { id: self.event_no(row.id), ..row }
    }

    fn request(&self, row: RequestRow) -> RequestRow {
        let cursor = Reached {
            event: self.event_no(row.cursor.event),
            request: self.request_no(row.cursor.request),
            sample: self.sample_no(row.cursor.sample),
        };
        let id = match id::parse(Named::Event, &row.id) {
            Ok(event) => format!("event {}", self.event_no(event)),
            Err(_) => match id::parse(Named::Request, &row.id) {
                Ok(sample) if sample >= SAMPLE_BASE => format!("sample {}", self.sample_no(sample)),
                Ok(request) => format!("request {}", self.request_no(request)),
                Err(_) => row.id,
            },
        };
        RequestRow { id, cursor, event: row.event.map(|event| self.event_no(event)), ..row }
    }

    fn delivery(&self, row: DeliveryRow) -> DeliveryRow {
        DeliveryRow { event: self.event_no(row.event), ..row }
    }

    fn held(&self, row: HeldRow) -> HeldRow {
        HeldRow { event: self.event_no(row.event), ..row }
    }

    fn consumer(&self, row: ConsumerRow) -> ConsumerRow {
        ConsumerRow { pos: self.event_no(row.pos), ..row }
    }

    fn why(&self, why: Why) -> Why {
        Why {
            event: self.event(why.event),
            requests: self.each(why.requests, Self::request),
            deliveries: self.each(why.deliveries, Self::delivery),
            hold: why.hold.map(|hold| self.held(hold)),
            routed: why.routed,
        }
    }
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
    let unmapped = rows.unmapped.keys().next().copied().unwrap_or(1);
    let request = rows.request.keys().next_back().copied().unwrap_or(1);
    let delivery = rows.delivery.values().next_back().map_or(1, |d| d.id);
    let mut all = vec![events(None, None), events(None, Some(event)), deliveries(None, None, None)];
    all.extend(STATUSES.map(|status| events(Some(status), None)));
    all.extend(STATES.map(|state| deliveries(Some(state), None, None)));
    all.extend([deliveries(None, Some(event), None), deliveries(None, None, Some(delivery))]);
    all.extend([Query::Event { id: event }, Query::EventRaw { id: event }, Query::Delivery { id: delivery }]);
    all.extend([
        Query::Why { event },
        Query::Consumers,
        Query::Configured,
        Query::Tally,
        Query::Unmapped { id: unmapped },
    ]);
    all.push(Query::Request { id: request });
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
