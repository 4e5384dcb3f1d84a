//! A file of test vectors: each is judged, and what came out is compared with what it expects.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use super::form::{self, Written};
use super::{Defaults, Form, Verdict, judge};
use crate::cli::output::escape;
use crate::cli::{Context, Exit, Failure};

#[derive(Debug, Deserialize)]
struct Vector {
    id: String,
    provider: String,
    expect: String,
    #[serde(default)]
    reason_alternatives: Vec<String>,
    response: Option<Value>,
}

/// What came of one vector.
#[derive(Debug)]
struct Outcome {
    line: Value,
    held: bool,
}

pub fn run(file: &Path, only: Option<&str>, ctx: &Context) -> Result<(), Failure> {
    let list: Vec<Value> = serde_json::from_slice(&form::text(Some(file))?)
        .map_err(|error| Failure::usage(format!("`{}` is no list of vectors: {error}", file.display())))?;
    let mut outcomes = Vec::new();
    for entry in list {
        let vector: Vector = serde_json::from_value(entry.clone())
            .map_err(|error| Failure::usage(format!("`{}` has an entry that is no vector: {error}", file.display())))?;
        if only.is_none_or(|provider| provider == vector.provider) {
            outcomes.push(outcome(&vector, entry));
        }
    }
    let lines: String =
        outcomes.iter().map(|outcome| format!("{}\n", escape::json(&outcome.line.to_string()))).collect();
    ctx.output.bytes(lines.as_bytes())?;
    let held = outcomes.iter().filter(|outcome| outcome.held).count();
    ctx.output.say(&format!("{held} of {} vectors came out as expected", outcomes.len()));
    // A file of which nothing was run has proved nothing.
    if held == outcomes.len() && held > 0 { Ok(()) } else { Err(Failure::quiet(Exit::Failed)) }
}

fn outcome(vector: &Vector, entry: Value) -> Outcome {
    let written: Result<Written, String> = serde_json::from_value(entry).map_err(|error| error.to_string());
    let form = written.and_then(|written| Form::of(written, &Defaults::default()));
    let verdict = form.and_then(|form| judge(&form).map_err(|error| error.to_string()));
    match verdict {
        Ok(verdict) => Outcome {
            held: holds(vector, &verdict),
            line: json!({
                "id": vector.id,
                "valid": verdict.valid(),
                "reason": verdict.reason(),
                "response": verdict.response,
            }),
        },
        // Refusing what it cannot judge is no success, whatever the vector expects.
        Err(why) => {
            Outcome { held: false, line: json!({ "id": vector.id, "valid": false, "reason": why, "response": null }) }
        }
    }
}

fn holds(vector: &Vector, verdict: &Verdict) -> bool {
    let answered = || match (&vector.response, &verdict.response) {
        (None, _) => true,
        (Some(expected), found) => found.as_ref().is_some_and(|found| same_response(expected, found)),
    };
    match (verdict.reason(), vector.expect.strip_prefix("invalid:")) {
        (None, None) => vector.expect == "valid" && answered(),
        (Some(reason), Some(main)) => reason == main || vector.reason_alternatives.iter().any(|other| other == reason),
        _ => false,
    }
}

/// The status, and then whatever the vector names: the exact body, the body as JSON, headers that must be there.
fn same_response(expected: &Value, found: &Value) -> bool {
    let body = expected.get("body").is_none_or(|body| *body == found["body"]);
    let json = expected.get("json").is_none_or(|json| {
        let text = found["body"].as_str().unwrap_or_default();
        serde_json::from_str::<Value>(text).is_ok_and(|found| found == *json)
    });
    let listed = expected["headers"].as_array().into_iter().flatten();
    let headers = listed.into_iter().all(|header| {
        let same = |own: &Value| {
            let name = |pair: &Value| pair[0].as_str().unwrap_or_default().to_ascii_lowercase();
            name(own) == name(header) && own[1] == header[1]
        };
        found["headers"].as_array().into_iter().flatten().any(same)
    });
    expected["status"] == found["status"] && body && json && headers
}
