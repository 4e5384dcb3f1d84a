//! `hookonce sign`: the headers that a provider would add to a request. For tests of one's own, and to send by hand.

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::ValueHint;
use hookonce_core::provider::Provider;
use hookonce_core::signature::{Keys, Parts, Refusal, SignError, catalog, sign};
use http::{HeaderName, HeaderValue};
use serde_json::{Value, json};

use super::output::Format;
use super::verify::{self, Defaults, Form};
use super::{Context, Exit, Failure};

/// Print the headers that sign a request as a provider would
#[derive(Debug, clap::Args)]
#[command(before_help = "Examples:
  hookonce sign --provider github --secret-file live.secret --body event.json
  hookonce sign --provider stripe --secret-file live.secret --request request.json -o json
  hookonce sign --provider standard-webhooks --secret-file s --header 'webhook-id: msg_1' --body event.json")]
pub struct Args {
    /// Whose scheme it is: a name of `hookonce providers`
    #[arg(long, value_name = "NAME")]
    provider: String,
    /// One of its schemes instead of the default
    #[arg(long, value_name = "NAME")]
    scheme: Option<String>,
    /// Read the secret from standard input
    #[arg(long, conflicts_with = "secret_file")]
    secret_stdin: bool,
    /// A file with one secret; one trailing newline is not part of it. May be repeated
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    secret_file: Vec<PathBuf>,
    /// The time to sign at, in Unix seconds; else the request's own `now`, else the clock
    #[arg(long, value_name = "UNIX")]
    now: Option<i64>,
    /// The request as JSON: method, url, headers, body, body_encoding; else standard input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    request: Option<PathBuf>,
    /// Only a body, as it will be sent
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "request")]
    body: Option<PathBuf>,
    /// Where the body will be sent, for schemes that sign it
    #[arg(long, requires = "body", default_value = "http://127.0.0.1:8080/", value_hint = ValueHint::Url)]
    url: String,
    /// A header of the request, for schemes that sign it: `name: value`. May be repeated
    #[arg(long, requires = "body", value_name = "HEADER")]
    header: Vec<String>,
}

pub fn run(args: Args, ctx: &Context) -> Result<(), Failure> {
    if args.secret_stdin && args.request.is_none() && args.body.is_none() {
        return Err(Failure::usage("standard input cannot be both secret and request").next("give `--request FILE`"));
    }
    let provider = catalog::provider(&args.provider).ok_or_else(|| super::providers::unknown(&args.provider))?;
    let form = form(&args)?;
    let named = args.scheme.as_deref().or(form.scheme.as_deref());
    let scheme = verify::scheme(Some(provider), named).map_err(|error| error.failure())?;
    let keys = verify::keys(&form, scheme).map_err(|error| error.failure())?;
    let headers = signed(provider, &keys, &form)?;
    match ctx.output.format() {
        Format::Json | Format::Jsonl => ctx.output.thing(&value(&headers), String::new),
        _ => ctx.output.bytes(lines(&headers).as_bytes()),
    }
}

fn form(args: &Args) -> Result<Form, Failure> {
    let text = match &args.body {
        None => verify::text(args.request.as_deref())?,
        Some(file) => {
            let pairs: Result<Vec<(&str, &str)>, Failure> = args.header.iter().map(|header| pair(header)).collect();
            let body = STANDARD.encode(verify::text(Some(file))?);
            json!({ "url": args.url, "headers": pairs?, "body": body, "body_encoding": "base64" }).to_string().into()
        }
    };
    let secrets = verify::secrets(args.secret_stdin, &args.secret_file)?;
    Form::parse(&text, &Defaults { provider: None, secrets, now: args.now })
}

fn pair(header: &str) -> Result<(&str, &str), Failure> {
    let (name, value) = header
        .split_once(':')
        .ok_or_else(|| Failure::usage(format!("`{header}` is no header")).next("write `--header 'name: value'`"))?;
    Ok((name.trim(), value.trim()))
}

fn signed(provider: &Provider, keys: &Keys, form: &Form) -> Result<Vec<(HeaderName, HeaderValue)>, Failure> {
    sign(keys, &Parts::of(&form.request), form.now).map_err(|error| {
        let failure = Failure::new(Exit::Failed, error.to_string());
        match error {
            SignError::Request(Refusal::MissingHeader) => {
                failure.next("the scheme signs a header of the request: `--header 'webhook-id: msg_1'`")
            }
            SignError::Request(Refusal::MissingField) => {
                failure.next(format!("see `hookonce providers {}`: the URL has to carry the body's hash", provider.id))
            }
            _ => failure,
        }
    })
}

fn lines(headers: &[(HeaderName, HeaderValue)]) -> String {
    headers.iter().map(|(name, value)| format!("{name}: {}\n", String::from_utf8_lossy(value.as_bytes()))).collect()
}

fn value(headers: &[(HeaderName, HeaderValue)]) -> Value {
    let pairs = headers.iter().map(|(name, value)| json!([name.as_str(), String::from_utf8_lossy(value.as_bytes())]));
    json!({ "headers": pairs.collect::<Vec<Value>>() })
}
