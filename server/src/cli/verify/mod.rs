//! `hookonce verify`: one request, or a file of test vectors, checked without a server. It calls the very function that
//! ingest calls; here is only what reads its input (`form`) and compares a vector with what came out (`vectors`).

mod form;
mod judge;
mod vectors;

use std::path::PathBuf;

use clap::ValueHint;
use serde_json::json;

use super::{Context, Exit, Failure};
pub use form::{Defaults, Form, secrets, text};
pub use judge::{Verdict, judge, keys, scheme};

/// Check the signature of a request, given as JSON, with the code that the server uses
#[derive(Debug, clap::Args)]
#[command(before_help = "Examples:
  hookonce verify --provider stripe --secret-file live.secret --request request.json
  hookonce verify --provider github --secret-file old --secret-file new --now 1767225600 < request.json
  hookonce verify --vectors vectors.json --provider slack")]
pub struct Args {
    /// Whose scheme it is: a name of `hookonce providers`
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// Read the secret from standard input
    #[arg(long, requires = "request", conflicts_with = "secret_file")]
    secret_stdin: bool,
    /// A file with one secret (PEM too); one trailing newline is not part of it. May be repeated
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    secret_file: Vec<PathBuf>,
    /// The time to verify at, in Unix seconds; else the request's own `now`, else the clock
    #[arg(long, value_name = "UNIX", allow_negative_numbers = true)]
    now: Option<i64>,
    /// The request as JSON: method, url, headers, body, body_encoding, config; else standard input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    request: Option<PathBuf>,
    /// Run a file of test vectors instead: one line each, exit 0 if every one came out as expected
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath,
          conflicts_with_all = ["request", "secret_stdin", "secret_file", "now"])]
    vectors: Option<PathBuf>,
}

pub fn run(args: Args, ctx: &Context) -> Result<(), Failure> {
    if let Some(file) = &args.vectors {
        return vectors::run(file, args.provider.as_deref(), ctx);
    }
    let json = text(args.request.as_deref())?;
    let given = secrets(args.secret_stdin, &args.secret_file)?;
    let form = Form::parse(&json, &Defaults { provider: args.provider, secrets: given, now: args.now })?;
    let verdict = judge(&form).map_err(|error| error.failure())?;
    ctx.output.bytes(format!("{}\n", super::output::escape::json(&verdict.value().to_string())).as_bytes())?;
    if verdict.valid() { Ok(()) } else { Err(Failure::quiet(Exit::Failed)) }
}

impl Verdict {
    fn value(&self) -> serde_json::Value {
        let mut value = match self.reason() {
            None => json!({ "valid": true }),
            Some(reason) => json!({ "valid": false, "reason": reason }),
        };
        let more = [("secret", self.secret.clone().map(Into::into)), ("response", self.response.clone())];
        if let serde_json::Value::Object(map) = &mut value {
            map.extend(more.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
        }
        value
    }
}
