//! `requests admit`: an unmapped request goes through identification again, by today's rule, and through the ordinary
//! admission; its mark and the audit row commit with the event.

use axum::extract::Path;
use axum::http::StatusCode;
use axum::{Extension, Json};
use hookonce::view::{Page, Query, Raw, RequestRow};
use hookonce_core::admit::{Admission, Origin, Submission, Verdict};
use hookonce_core::coding;
use hookonce_core::event::Mapped;
use hookonce_core::id;
use hookonce_core::identify::{Rule, items};
use hookonce_core::request::Request;
use serde::Serialize;

use super::commands::Decision;
use super::lists::request_no;
use super::{Admin, Problem};

/// What became of its items.
#[derive(Debug, Serialize)]
pub struct Admitted {
    pub id: String,
    pub verdicts: Vec<Said>,
}

#[derive(Debug, Serialize)]
pub struct Said {
    pub verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
}

pub async fn admit(
    Extension(admin): Extension<Admin>,
    Path(request): Path<String>,
    Json(decision): Json<Decision>,
) -> Result<Json<Admitted>, Problem> {
    let number = request_no(&request)?;
    let who = decision.who()?;
    let row = undecided(&admin, number).await?;
    let Page::Raw(raw) = admin.store.read(Query::RequestRaw { id: number }).await? else {
        return Err(Problem::not_found("payload"));
    };
    let rules = admin.rules.load();
    let rule = rules.get(&row.source).ok_or_else(|| Problem::not_found("source"))?;
    let rule = rule.clone();
    let mapped = mapped_again(&rule, &row, &raw)?;
    let submission = Submission {
        source: rule.source.clone(),
        namespace: rule.namespace.clone(),
        received: row.at,
        target: raw.target,
        headers: raw.headers,
        body: raw.body,
        secret: row.secret.as_deref().map(Into::into),
        mapped,
        origin: Origin::Admit { unmapped: number, actor: who.actor, reason: who.reason },
    };
    let admission = admin.store.admit(submission).await?;
    admin.commands.hub().arrived();
    Ok(Json(Admitted { id: request, verdicts: said(&admission) }))
}

async fn undecided(admin: &Admin, number: i64) -> Result<RequestRow, Problem> {
    let page = admin.store.read(Query::Request { id: number }).await?;
    let Page::Requests(rows) = page else { return Err(Problem::not_found("request")) };
    let row = rows.into_iter().next().ok_or_else(|| Problem::not_found("request"))?;
    if row.verdict != "unmapped" || row.decided.is_some() {
        return Err(Problem::new(
            StatusCode::CONFLICT,
            "wrong-state",
            "only an undecided unmapped request is admitted",
        ));
    }
    Ok(row)
}

/// Of a batch only the element that this row stands for: its neighbours were admitted when they came.
fn mapped_again(rule: &Rule, row: &RequestRow, raw: &Raw) -> Result<Vec<Mapped>, Problem> {
    let (method, target) = raw.target.split_once(' ').unwrap_or(("POST", &raw.target));
    let request = Request {
        received: row.at,
        method: method.parse().unwrap_or_default(),
        target: target.to_owned(),
        url: String::new(),
        headers: raw.headers.clone(),
        body: raw.body.clone(),
        decoded: coding::decoded(&raw.headers, &raw.body).ok_or_else(|| still("its body cannot be decoded"))?,
    };
    let wanted = row.item.and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
    let all = items(rule, &request).map_err(|e| still(&e.to_string()))?;
    let mine: Vec<Mapped> = all.into_iter().filter(|m| position(m) == wanted).collect();
    match mine.first() {
        None => Err(still("the rule finds no such element any more")),
        Some(Mapped::Unmapped { reason, .. }) => Err(still(reason)),
        Some(Mapped::Item(_)) => Ok(mine),
    }
}

fn position(mapped: &Mapped) -> u32 {
    match mapped {
        Mapped::Item(item) => item.item,
        Mapped::Unmapped { item, .. } => *item,
    }
}

fn still(reason: &str) -> Problem {
    Problem::new(StatusCode::CONFLICT, "still-unmapped", "today's rules cannot map it either").detail(reason)
}

fn said(admission: &Admission) -> Vec<Said> {
    let one = |verdict: &Verdict| Said {
        verdict: verdict.name(),
        event: match verdict {
            Verdict::Accepted { event, .. } => Some(id::event(*event)),
            Verdict::Duplicate { of } => Some(id::event(*of)),
            Verdict::Conflict { with, .. } => Some(id::event(*with)),
            Verdict::Unmapped { .. } => None,
        },
    };
    admission.verdicts.iter().map(one).collect()
}
