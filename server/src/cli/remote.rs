//! Talking to the server that holds the store. A command never opens the files of a served store itself: another
//! handle in another process would not see its locks, and closing one drops SQLite's own (trap T5).

use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use reqwest::{Method, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Context, Exit, Failure};
use crate::admin::Problem;
use crate::config::Flags;

/// A server on this machine that has not answered by then will not.
const PATIENCE: Duration = Duration::from_secs(30);

pub struct Remote {
    base: String,
    token: Option<SecretString>,
    client: reqwest::Client,
    runtime: tokio::runtime::Runtime,
}

/// What a person says with a command; the server writes it into the audit row.
#[derive(Clone, Debug, clap::Args)]
pub struct Reason {
    /// Why: stands in the audit for ever
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    reason: String,
    /// Who decides (default: the user's name)
    #[arg(long, value_name = "NAME")]
    actor: Option<String>,
}

impl Reason {
    fn body(&self, ctx: &Context) -> Value {
        let user = || ctx.env.get("USER").filter(|u| !u.is_empty()).unwrap_or("cli").to_owned();
        json!({ "actor": self.actor.clone().unwrap_or_else(user), "reason": self.reason })
    }
}

impl Remote {
    /// The server of the configuration that would be served here. Secrets are not needed to talk to it.
    pub fn of(ctx: &Context) -> Result<Remote, Failure> {
        let flags = Flags { dev: true, env: ctx.env.clone(), ..Flags::default() };
        let (config, _) = ctx.load(&ctx.config_path()?, &flags)?;
        let token = std::fs::read_to_string(config.token_file()).ok();
        let client = reqwest::Client::builder().no_proxy().timeout(PATIENCE).build().map_err(anyhow::Error::from)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let token = token.map(|t| SecretString::from(t.trim().to_owned()));
        Ok(Remote { base: format!("http://{}", config.admin.listen), token, client, runtime })
    }

    pub fn get<T: DeserializeOwned>(&self, path: &str, query: &[(&str, String)]) -> Result<T, Failure> {
        decoded(&self.answer(Method::GET, path, query, None)?)
    }

    pub fn bytes(&self, path: &str) -> Result<Vec<u8>, Failure> {
        self.answer(Method::GET, path, &[], None)
    }

    pub fn post<T: DeserializeOwned>(&self, path: &str, why: &Reason, ctx: &Context) -> Result<T, Failure> {
        decoded(&self.answer(Method::POST, path, &[], Some(why.body(ctx)))?)
    }

    fn answer(
        &self,
        method: Method,
        path: &str,
        query: &[(&str, String)],
        body: Option<Value>,
    ) -> Result<Vec<u8>, Failure> {
        let mut url =
            reqwest::Url::parse(&format!("{}{path}", self.base)).map_err(|e| Failure::usage(e.to_string()))?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let mut request = self.client.request(method, url);
        if let Some(token) = &self.token {
            request = request.bearer_auth(token.expose_secret());
        }
        if let Some(body) = body {
            request = request.header(http::header::CONTENT_TYPE, "application/json").body(body.to_string());
        }
        let (status, bytes) = self
            .runtime
            .block_on(async {
                let answer = request.send().await?;
                let status = answer.status();
                Ok::<_, reqwest::Error>((status, answer.bytes().await?.to_vec()))
            })
            .map_err(|error| self.unreachable(&error))?;
        if status.is_success() { Ok(bytes) } else { Err(refused(status, &bytes)) }
    }

    fn unreachable(&self, error: &reqwest::Error) -> Failure {
        let exit = if error.is_timeout() { Exit::TimedOut } else { Exit::Unreachable };
        Failure::new(exit, format!("no server answers at {}", self.base))
            .why("commands on a store go through the server that has it open")
            .next("start it with `hookonce serve`, then ask again")
    }
}

fn decoded<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Failure> {
    serde_json::from_slice(bytes)
        .map_err(|e| Failure::new(Exit::Failed, "the server's answer cannot be read").why(e.to_string()))
}

fn refused(status: StatusCode, bytes: &[u8]) -> Failure {
    let problem: Option<Problem> = serde_json::from_slice(bytes).ok();
    let exit = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Exit::NotAuthorised,
        StatusCode::NOT_FOUND => Exit::NotFound,
        StatusCode::CONFLICT | StatusCode::UNPROCESSABLE_ENTITY => Exit::Precondition,
        StatusCode::BAD_REQUEST => Exit::Usage,
        StatusCode::SERVICE_UNAVAILABLE => Exit::Unreachable,
        _ => Exit::Failed,
    };
    let title = problem.as_ref().map_or_else(|| format!("the server answered {status}"), |p| p.title.clone());
    let (detail, hint) = problem.map_or((None, None), |p| (p.detail, p.hint));
    let failure = Failure::new(exit, title);
    let failure = detail.into_iter().fold(failure, Failure::why);
    hint.into_iter().fold(failure, Failure::next)
}
