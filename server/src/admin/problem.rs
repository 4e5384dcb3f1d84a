//! Errors of the API: problem details (RFC 9457). A code and what to do, never SQL, paths or stack traces.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hookonce::store::StoreError;
use hookonce_core::command::Refused;
use serde::{Deserialize, Serialize};

const PROBLEM: &str = "application/problem+json";

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Problem {
    /// Stable code, listed in `docs/ERRORS.md`.
    #[serde(rename = "type")]
    pub code: String,
    pub title: String,
    pub status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Problem {
    pub fn new(status: StatusCode, code: &str, title: &str) -> Problem {
        Problem { code: code.into(), title: title.into(), status: status.as_u16(), detail: None, hint: None }
    }

    pub fn detail(mut self, detail: impl Into<String>) -> Problem {
        self.detail = Some(detail.into());
        self
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Problem {
        self.hint = Some(hint.into());
        self
    }

    pub fn not_found(what: &str) -> Problem {
        Problem::new(StatusCode::NOT_FOUND, "not-found", &format!("there is no such {what}"))
    }

    pub fn bad_request(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, "bad-request", "the request cannot be read").detail(detail)
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Problem {
        match error {
            StoreError::Refused(why) => {
                Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "store-refused", "the store refuses this value")
                    .detail(why)
            }
            StoreError::Busy(_) | StoreError::Failed(_) | StoreError::Closed => {
                Problem::new(StatusCode::SERVICE_UNAVAILABLE, "store-unavailable", "the store cannot answer now")
            }
        }
    }
}

impl From<Refused> for Problem {
    fn from(refused: Refused) -> Problem {
        match refused {
            Refused::NotFound => Problem::not_found("item"),
            Refused::State => {
                Problem::new(StatusCode::CONFLICT, "wrong-state", "it is not in the state for this command")
                    .detail("it was decided before, or it is not what this command is for")
            }
        }
    }
}

/// Bytes of a plain refusal that are shown.
const PLAIN_MAX: usize = 1_024;

/// What the router refuses by itself (a filter that it does not know, a body that is no JSON) in the form of all others.
pub async fn shaped(response: Response) -> Response {
    let status = response.status();
    let kind = response.headers().get(header::CONTENT_TYPE);
    if !status.is_client_error() || kind.is_some_and(|k| k == PROBLEM) {
        return response;
    }
    let text = axum::body::to_bytes(response.into_body(), PLAIN_MAX).await.unwrap_or_default();
    let problem = Problem::bad_request(String::from_utf8_lossy(&text).trim());
    Problem { status: status.as_u16(), ..problem }.into_response()
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, axum::Json(self)).into_response();
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(PROBLEM));
        if status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}
