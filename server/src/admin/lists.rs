//! Reads: lists with a cursor, one item, raw bytes.

use std::fmt::Display;
use std::str::FromStr;

use axum::extract::{Path, Query as Params};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use hookonce::view::{self, PAGE_MAX, Page, Query};
use hookonce_core::delivery::State;
use hookonce_core::id;
use serde::{Deserialize, Serialize};

use super::wire::{self, List};
use super::{Admin, Problem, sentence};

/// Items of a list where nobody said how many.
const PAGE_DEFAULT: usize = 50;

/// What a list may be asked for. Unknown names are refused: a filter that is ignored shows too much.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    source: Option<String>,
    status: Option<String>,
    verdict: Option<String>,
    consumer: Option<String>,
    state: Option<String>,
    event: Option<String>,
    after: Option<String>,
    limit: Option<usize>,
}

impl Ask {
    fn limit(&self) -> usize {
        self.limit.unwrap_or(PAGE_DEFAULT).clamp(1, PAGE_MAX)
    }

    fn after<C: FromStr>(&self) -> Result<Option<C>, Problem> {
        let cursor =
            |text: &String| text.parse().map_err(|_| Problem::bad_request(format!("`after={text}` is no cursor")));
        self.after.as_ref().map(cursor).transpose()
    }
}

/// The words that a filter may be, as `design` has them: any other would give an empty list that says nothing.
const STATUSES: &[&str] = &["received", "held", "unmatched", "in_progress", "done", "needs_attention"];
const VERDICTS: &[&str] = &["accepted", "duplicate", "conflict", "refused", "unmapped"];

fn word(name: &str, value: Option<&String>, known: &[&str]) -> Result<Option<String>, Problem> {
    match value {
        Some(value) if !known.contains(&value.as_str()) => {
            Err(Problem::bad_request(format!("`{name}` is one of {}, not `{value}`", known.join(", "))))
        }
        value => Ok(value.cloned()),
    }
}

type Answer<T> = Result<Json<T>, Problem>;

/// A page with the cursor of the next one: there is one if this page is full.
fn list<R, T: From<R>, C: Display>(rows: Vec<R>, limit: usize, cursor: impl Fn(&R) -> C) -> Json<List<T>> {
    let next = rows.last().filter(|_| rows.len() >= limit).map(cursor);
    part(rows, next)
}

/// A page of which the store knows where it goes on.
fn part<R, T: From<R>, C: Display>(rows: Vec<R>, next: Option<C>) -> Json<List<T>> {
    Json(List { items: rows.into_iter().map(T::from).collect(), next: next.map(|next| next.to_string()) })
}

pub(super) fn event_no(text: &str) -> Result<i64, Problem> {
    id::parse(id::Named::Event, text).map_err(|e| Problem::bad_request(e.to_string()))
}

/// The store answered another kind of page than was asked for: a defect of ours, said without detail.
fn unexpected() -> Problem {
    Problem::not_found("item")
}

pub async fn events(Extension(admin): Extension<Admin>, Params(ask): Params<Ask>) -> Answer<List<wire::Event>> {
    let query = Query::Events {
        source: ask.source.clone(),
        status: word("status", ask.status.as_ref(), STATUSES)?,
        after: ask.after()?,
        limit: ask.limit(),
    };
    match admin.store.read(query).await? {
        Page::Events(rows, next) => Ok(part(rows, next)),
        _ => Err(unexpected()),
    }
}

pub async fn event(Extension(admin): Extension<Admin>, Path(event): Path<String>) -> Answer<wire::Event> {
    match admin.store.read(Query::Event { id: event_no(&event)? }).await? {
        Page::Events(rows, _) => {
            rows.into_iter().next().map(|r| Json(r.into())).ok_or_else(|| Problem::not_found("event"))
        }
        _ => Err(Problem::not_found("event")),
    }
}

pub async fn event_raw(Extension(admin): Extension<Admin>, Path(event): Path<String>) -> Result<Response, Problem> {
    let id = event_no(&event)?;
    match admin.store.read(Query::EventRaw { id }).await? {
        Page::None => Err(purged(&event, &admin.store.read(Query::Event { id }).await?)),
        page => raw(page),
    }
}

/// Why an event has no bytes.
fn purged(event: &str, page: &Page) -> Problem {
    if !matches!(page, Page::Events(rows, _) if !rows.is_empty()) {
        return Problem::not_found("event");
    }
    Problem::new(StatusCode::NOT_FOUND, "payload-purged", &format!("the bytes of {event} are not kept any more"))
        .detail("retention deleted them when its work was done; key, hashes and history are there")
        .hint(format!(
            "`hookonce events get {event}` shows what is left; `retain` of its source says how long bytes are kept"
        ))
}

/// Original bytes, as a download of neutral type: whatever they are, no browser runs them (S30).
fn raw(page: Page) -> Result<Response, Problem> {
    let Page::Raw(raw) = page else { return Err(Problem::not_found("payload")) };
    let head = [
        (CONTENT_TYPE, "application/octet-stream"),
        (CONTENT_DISPOSITION, "attachment"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    Ok((head, raw.body).into_response())
}

pub async fn why(Extension(admin): Extension<Admin>, Path(event): Path<String>) -> Answer<wire::Why> {
    match admin.store.read(Query::Why { event: event_no(&event)? }).await? {
        Page::Why(why) => {
            let consumers = match admin.store.read(Query::Consumers).await? {
                Page::Consumers(rows) => rows,
                _ => Vec::new(),
            };
            let sentence = sentence::of(&why, &consumers);
            Ok(Json(wire::Why {
                id: event,
                sentence,
                event: why.event.into(),
                requests: why.requests.into_iter().map(Into::into).collect(),
                deliveries: why.deliveries.into_iter().map(Into::into).collect(),
                hold: why.hold.map(Into::into),
            }))
        }
        _ => Err(Problem::not_found("event")),
    }
}

pub async fn requests(Extension(admin): Extension<Admin>, Params(ask): Params<Ask>) -> Answer<List<wire::Request>> {
    let query = Query::Requests {
        source: ask.source.clone(),
        verdict: word("verdict", ask.verdict.as_ref(), VERDICTS)?,
        after: ask.after()?,
        limit: ask.limit(),
    };
    match admin.store.read(query).await? {
        Page::Requests(rows) => Ok(list(rows, ask.limit(), |r: &view::RequestRow| r.cursor)),
        _ => Err(unexpected()),
    }
}

pub(super) fn request_no(text: &str) -> Result<i64, Problem> {
    id::parse(id::Named::Request, text).map_err(|e| Problem::bad_request(e.to_string()))
}

pub async fn request(Extension(admin): Extension<Admin>, Path(request): Path<String>) -> Answer<wire::Request> {
    match admin.store.read(Query::Request { id: request_no(&request)? }).await? {
        Page::Requests(rows) => {
            rows.into_iter().next().map(|r| Json(r.into())).ok_or_else(|| Problem::not_found("request"))
        }
        _ => Err(Problem::not_found("request")),
    }
}

pub async fn request_raw(Extension(admin): Extension<Admin>, Path(request): Path<String>) -> Result<Response, Problem> {
    let id = request_no(&request)?;
    match admin.store.read(Query::RequestRaw { id }).await? {
        Page::None => Err(not_stored(&request, admin.store.read(Query::Request { id }).await?)),
        page => raw(page),
    }
}

/// Why there are no bytes of a request: most often it was a copy, of which only the fact is kept.
fn not_stored(request: &str, page: Page) -> Problem {
    let Page::Requests(rows) = page else { return Problem::not_found("request") };
    let Some(row) = rows.first() else { return Problem::not_found("request") };
    let problem = Problem::new(StatusCode::NOT_FOUND, "not-stored", &format!("the bytes of {request} were not stored"));
    match (row.verdict.as_str(), row.event.map(id::event)) {
        ("duplicate", Some(event)) => problem
            .detail(format!("it was a duplicate: its content is that of {event}, and is stored once"))
            .hint(format!("`hookonce events raw {event}` gives the bytes")),
        ("conflict", Some(event)) => problem
            .detail(format!("it came under the key of {event} with other content that was kept before, or too often"))
            .hint(format!("`hookonce why {event}` lists what came under this key")),
        _ => problem.detail("they are not kept any more"),
    }
}

pub async fn deliveries(Extension(admin): Extension<Admin>, Params(ask): Params<Ask>) -> Answer<List<wire::Delivery>> {
    let query = Query::Deliveries {
        consumer: ask.consumer.clone(),
        state: word("state", ask.state.as_ref(), &State::ALL.map(State::name))?,
        event: ask.event.as_deref().map(event_no).transpose()?,
        after: ask.after()?,
        limit: ask.limit(),
    };
    match admin.store.read(query).await? {
        Page::Deliveries(rows, next) => Ok(part(rows, next)),
        _ => Err(unexpected()),
    }
}

/// event, consumer, generation: what names a delivery outside.
pub type Named = Path<(String, String, i64)>;

/// Finds a delivery by its public name.
pub(super) async fn find(admin: &Admin, name: Named) -> Result<view::DeliveryRow, Problem> {
    let Path((event, consumer, generation)) = name;
    let query = Query::Deliveries {
        consumer: Some(consumer),
        state: None,
        event: Some(event_no(&event)?),
        after: None,
        limit: PAGE_MAX,
    };
    match admin.store.read(query).await? {
        Page::Deliveries(rows, _) => {
            let found = rows.into_iter().find(|row| row.generation == generation);
            found.ok_or_else(|| Problem::not_found("delivery"))
        }
        _ => Err(Problem::not_found("delivery")),
    }
}

pub async fn delivery(Extension(admin): Extension<Admin>, name: Named) -> Answer<wire::Delivery> {
    let row = find(&admin, name).await?;
    match admin.store.read(Query::Delivery { id: row.id }).await? {
        Page::Deliveries(rows, _) => {
            rows.into_iter().next().map(|r| Json(r.into())).ok_or_else(|| Problem::not_found("delivery"))
        }
        _ => Err(Problem::not_found("delivery")),
    }
}

pub async fn dead(Extension(admin): Extension<Admin>, Params(ask): Params<Ask>) -> Answer<List<wire::Delivery>> {
    match admin.store.read(Query::Dead { after: ask.after()?, limit: ask.limit() }).await? {
        Page::Deliveries(rows, next) => Ok(part(rows, next)),
        _ => Err(unexpected()),
    }
}

pub async fn held(Extension(admin): Extension<Admin>, Params(ask): Params<Ask>) -> Answer<List<wire::Held>> {
    match admin.store.read(Query::Held { after: ask.after()?, limit: ask.limit() }).await? {
        Page::Held(rows) => Ok(list(rows, ask.limit(), |r: &view::HeldRow| r.event)),
        _ => Err(unexpected()),
    }
}

pub async fn consumers(Extension(admin): Extension<Admin>) -> Answer<List<wire::Consumer>> {
    match admin.store.read(Query::Consumers).await? {
        Page::Consumers(rows) => Ok(list(rows, usize::MAX, |r: &view::ConsumerRow| r.id)),
        _ => Err(unexpected()),
    }
}

/// One counter: requests of a source by verdict. It survives a crash.
#[derive(Debug, Serialize)]
pub struct Count {
    source: String,
    verdict: String,
    count: i64,
}

pub async fn tally(Extension(admin): Extension<Admin>) -> Answer<List<Count>> {
    match admin.store.read(Query::Tally).await? {
        Page::Tally(rows) => {
            let items = rows.into_iter().map(|(source, verdict, count)| Count { source, verdict, count }).collect();
            Ok(Json(List { items, next: None }))
        }
        _ => Err(unexpected()),
    }
}
