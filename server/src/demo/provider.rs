//! A provider as providers are: it sends at least once, keeps to its retry schedule on a fast clock, and sometimes does
//! not hear the answer.

use std::time::Duration;

use anyhow::{Context as _, Result};
use bytes::Bytes;
use hookonce_core::request::Headers;
use hookonce_core::signature::catalog;
use hookonce_core::signature::{Keys, Parts, Secret, sign};
use http::{HeaderName, HeaderValue};
use tokio::time::sleep;

/// A minute of the provider's retry schedule takes so long here.
const MINUTE: Duration = Duration::from_millis(60);
/// The schedule of the CRM: after 1, 2, 4 and 8 minutes; then it goes on with the last step, for the demo's sake.
const SCHEDULE: [u32; 4] = [1, 2, 4, 8];
/// A provider that is not heard after so many tries has a reason that the demo must show.
const TRIES: usize = 400;

/// One signed request, ready to be sent as often as the story wants.
#[derive(Clone, Debug)]
pub struct Letter {
    pub url: String,
    pub headers: Vec<(HeaderName, HeaderValue)>,
    pub body: Bytes,
}

/// What one copy was answered.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub verdict: String,
    pub event: String,
    pub text: String,
}

/// How the tries of one letter went.
#[derive(Clone, Debug, Default)]
pub struct Delivered {
    /// Copies that reached the server, the lost answers included.
    pub copies: usize,
    /// Tries that met a closed door: the server was down.
    pub refused: usize,
    pub verdicts: Vec<String>,
}

#[derive(Clone)]
pub struct Provider {
    keys: Keys,
    url: String,
    client: reqwest::Client,
}

impl Provider {
    pub fn new(client: &reqwest::Client, provider: &str, secret: &str, url: String) -> Result<Provider> {
        let scheme = catalog::provider(provider).and_then(|p| p.schemes.first()).context("a provider with a scheme")?;
        let keys = Keys::new(scheme, &[Secret::new("demo", secret.to_owned())])?;
        Ok(Provider { keys, url, client: client.clone() })
    }

    /// Signs a body at that time.
    pub fn letter(&self, headers: &[(&'static str, &str)], body: String, at_seconds: i64) -> Result<Letter> {
        let mut all = vec![(http::header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
        for (name, value) in headers {
            all.push((HeaderName::from_static(name), HeaderValue::from_str(value)?));
        }
        let body = Bytes::from(body);
        let signed = Headers(all.clone());
        let parts = Parts { method: "POST", target: "/", url: &self.url, headers: &signed, body: &body };
        all.extend(sign(&self.keys, &parts, at_seconds)?);
        Ok(Letter { url: self.url.clone(), headers: all, body })
    }

    /// One copy, one answer.
    pub async fn post(&self, letter: &Letter) -> Result<Answer> {
        let request = self.client.post(&letter.url).headers(letter.headers.iter().cloned().collect());
        let answer = request.body(letter.body.clone()).send().await?;
        let header = |name: &str| answer.headers().get(name).and_then(|v| v.to_str().ok()).unwrap_or("").to_owned();
        let (verdict, event) = (header("hookonce-verdict"), header("hookonce-event"));
        Ok(Answer { status: answer.status().as_u16(), verdict, event, text: answer.text().await? })
    }

    /// Sends until it hears a 2xx. `deaf` answers are lost on the way back, whatever they said.
    pub async fn deliver(&self, letter: &Letter, mut deaf: usize) -> Result<Delivered> {
        let mut done = Delivered::default();
        for attempt in 0..TRIES {
            match self.post(letter).await {
                Ok(answer) => {
                    done.copies += 1;
                    let heard = (200..300).contains(&answer.status) && deaf == 0;
                    done.verdicts.push(answer.verdict);
                    if heard {
                        return Ok(done);
                    }
                    deaf = deaf.saturating_sub(1);
                }
                Err(_) => done.refused += 1,
            }
            sleep(pause(attempt)).await;
        }
        anyhow::bail!("a provider gave up after {TRIES} tries")
    }
}

fn pause(attempt: usize) -> Duration {
    MINUTE * SCHEDULE[attempt.min(SCHEDULE.len() - 1)]
}
