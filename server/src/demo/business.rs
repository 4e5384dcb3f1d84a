//! The business behind the inbox: what must happen once. It checks our signature, recognises repeats by their message
//! id, and writes down everything, so that the story can count.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use anyhow::Result;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use hookonce_core::request::{Headers, Request};
use hookonce_core::signature::catalog::STANDARD_WEBHOOKS_SCHEME;
use hookonce_core::signature::{Keys, Options, Secret, verify};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::FORWARD;

#[derive(Debug, Default)]
pub struct Books {
    /// Clinic and patient → the row as it stands: its revision, and whether it is there.
    pub patients: BTreeMap<String, i64>,
    /// One line for each event that changed something.
    pub audit: Vec<String>,
    /// Invoice → what was charged, in cents.
    pub charged: BTreeMap<String, i64>,
    pub issues: Vec<String>,
    /// Message id → digest of its bytes.
    seen: BTreeMap<String, [u8; 32]>,
    /// Repeats that were recognised by their id.
    pub repeats: usize,
    /// A patient's revision that came before an older one.
    pub disorder: usize,
    /// A known id with other bytes: must never be.
    pub altered: usize,
    /// Calls whose signature is not ours: must never be.
    pub unsigned: usize,
}

pub struct Business {
    books: Arc<Mutex<Books>>,
    url: String,
}

#[derive(Clone)]
struct Desk {
    books: Arc<Mutex<Books>>,
    keys: Arc<Keys>,
}

impl Business {
    pub async fn open() -> Result<Business> {
        let keys = Keys::new(&STANDARD_WEBHOOKS_SCHEME, &[Secret::new("forward", FORWARD.to_owned())])?;
        let books = Arc::new(Mutex::new(Books::default()));
        let desk = Desk { books: books.clone(), keys: Arc::new(keys) };
        let app = axum::Router::new().route("/hook", post(take)).with_state(desk);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/hook", listener.local_addr()?);
        tokio::spawn(async move { axum::serve(listener, app).await });
        Ok(Business { books, url })
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn books(&self) -> MutexGuard<'_, Books> {
        locked(&self.books)
    }
}

/// A panic of one call leaves the books as they are: they are only counted.
fn locked(books: &Mutex<Books>) -> MutexGuard<'_, Books> {
    books.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

async fn take(State(desk): State<Desk>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let now = jiff::Timestamp::now();
    let text = |name: &str| headers.get(name).and_then(|v| v.to_str().ok()).unwrap_or_default().to_owned();
    let (id, source) = (text("webhook-id"), text("hookonce-source"));
    let request = Request {
        received: now.as_microsecond(),
        method: http::Method::POST,
        target: "/hook".to_owned(),
        url: String::new(),
        headers: Headers(headers.iter().map(|(n, v)| (n.clone(), v.clone())).collect()),
        body: body.clone(),
        decoded: body.clone(),
    };
    let mut books = locked(&desk.books);
    if verify(&desk.keys, &request, &Options::default(), now.as_second()).is_err() {
        books.unsigned += 1;
        return StatusCode::UNAUTHORIZED;
    }
    books.take(id, &source, &body);
    StatusCode::NO_CONTENT
}

impl Books {
    fn take(&mut self, id: String, source: &str, body: &[u8]) {
        let digest: [u8; 32] = Sha256::digest(body).into();
        match self.seen.insert(id, digest) {
            Some(before) if before == digest => self.repeats += 1,
            Some(_) => self.altered += 1,
            None => self.apply(source, &serde_json::from_slice(body).unwrap_or_default()),
        }
    }

    fn apply(&mut self, source: &str, event: &Value) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match source {
            "crm" => self.patient(event),
            "billing" => {
                let object = &event["data"]["object"];
                *self.charged.entry(text(&object["id"])).or_default() += object["amount_paid"].as_i64().unwrap_or(0);
            }
            _ => self.issues.push(text(&event["issue"]["title"])),
        }
    }

    fn patient(&mut self, event: &Value) {
        let of = |name: &str| event[name].as_str().unwrap_or_default();
        let key = format!("{}/{}", of("Business"), of("PrimaryKey"));
        let revision = event["Data"]["Revision"].as_i64().unwrap_or(0);
        self.audit.push(format!("{key} {} {revision}", of("Action")));
        let row = self.patients.entry(key).or_insert(-1);
        if revision < *row {
            self.disorder += 1;
        }
        *row = revision;
    }
}
