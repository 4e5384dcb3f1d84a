//! What a person decides. The store writes the change and its audit row in one commit; a refusal has a code.

use axum::extract::Path;
use axum::{Extension, Json};
use hookonce::view::{Page, Query};
use hookonce_core::command::{Command, Who};
use serde::Deserialize;

use super::lists::{Named, event_no, find, request_no};
use super::wire::Done;
use super::{Admin, Problem};

/// Who and why. The token says that it is an operator; the name is what they call themselves.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    #[serde(default)]
    actor: String,
    #[serde(default)]
    reason: String,
}

impl Decision {
    pub fn who(self) -> Result<Who, Problem> {
        Who::new(&self.actor, &self.reason).map_err(|unsaid| Problem::bad_request(unsaid.to_string()))
    }
}

type Answer = Result<Json<Done>, Problem>;

async fn carry(admin: &Admin, command: Command, target: String, decision: Decision) -> Answer {
    let done = command.name().to_owned();
    let audit = admin.commands.command(command, decision.who()?).await??;
    Ok(Json(Done { done, target, audit }))
}

pub async fn retry(Extension(admin): Extension<Admin>, name: Named, Json(decision): Json<Decision>) -> Answer {
    let Path((event, consumer, generation)) = &name;
    let target = format!("{event}/{consumer}/{generation}");
    let row = find(&admin, name).await?;
    carry(&admin, Command::DeadRetry { delivery: row.id }, target, decision).await
}

pub async fn release(Extension(admin): Extension<Admin>, Path(event): Path<String>, Json(d): Json<Decision>) -> Answer {
    carry(&admin, Command::HeldRelease { event: event_no(&event)? }, event, d).await
}

pub async fn drop_held(
    Extension(admin): Extension<Admin>,
    Path(event): Path<String>,
    Json(d): Json<Decision>,
) -> Answer {
    carry(&admin, Command::HeldDrop { event: event_no(&event)? }, event, d).await
}

pub async fn drop_unmapped(
    Extension(admin): Extension<Admin>,
    Path(id): Path<String>,
    Json(d): Json<Decision>,
) -> Answer {
    carry(&admin, Command::UnmappedDrop { id: request_no(&id)? }, id, d).await
}

pub async fn pause(Extension(admin): Extension<Admin>, Path(name): Path<String>, Json(d): Json<Decision>) -> Answer {
    let consumer = consumer(&admin, &name).await?;
    carry(&admin, Command::ConsumerPause { consumer }, name, d).await
}

pub async fn resume(Extension(admin): Extension<Admin>, Path(name): Path<String>, Json(d): Json<Decision>) -> Answer {
    let consumer = consumer(&admin, &name).await?;
    carry(&admin, Command::ConsumerResume { consumer }, name, d).await
}

async fn consumer(admin: &Admin, name: &str) -> Result<i64, Problem> {
    let Page::Consumers(rows) = admin.store.read(Query::Consumers).await? else {
        return Err(Problem::not_found("consumer"));
    };
    rows.iter().find(|row| row.name == name).map(|row| row.id).ok_or_else(|| Problem::not_found("consumer"))
}
