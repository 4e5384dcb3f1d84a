//! `hookonce send SOURCE TYPE`: one sample event, truly signed with the source's own secret, as often as wanted.

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use bytes::Bytes;
use hookonce_core::signature::{self, Parts};
use http::{HeaderName, HeaderValue};
use serde_json::{Value, json};

use super::samples::{self, Wish};
use super::{Context, Exit, Failure};
use crate::config::meant::{self, Verification};
use crate::config::{Config, Flags};

/// Copies of one event that one command sends.
const TIMES_MAX: u32 = 1_000;

/// Send a sample event, truly signed, and say what each copy was answered
#[derive(Debug, clap::Args)]
#[command(before_help = "Examples:
  hookonce send stripe invoice.paid                   one new event
  hookonce send stripe invoice.paid --times 3         the same event three times
  hookonce send crm Patient.Update --raw body.json    your own body, signed")]
pub struct Args {
    /// A source of the configuration
    source: String,
    /// The event's type, as the provider writes it
    #[arg(value_name = "TYPE")]
    kind: String,
    /// How many copies of the one event
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(TIMES_MAX)))]
    times: u32,
    /// All copies at the same time
    #[arg(long)]
    parallel: bool,
    /// This body instead of a sample, byte for byte
    #[arg(long, value_name = "FILE")]
    raw: Option<PathBuf>,
    /// Another place than the configured server
    #[arg(long, value_name = "URL")]
    to: Option<String>,
}

/// One answer, and how long it took.
struct Answered {
    status: u16,
    verdict: Option<String>,
    event: Option<String>,
    took_ms: f64,
}

pub fn run(args: Args, ctx: &Context) -> Result<(), Failure> {
    let flags = Flags { dev: true, env: ctx.env.clone(), ..Flags::default() };
    let (config, _) = ctx.load(&ctx.config_path()?, &flags)?;
    let source = config.source(&args.source).ok_or_else(|| unknown(&args.source, &config))?;
    let url = args.to.clone().unwrap_or_else(|| format!("http://{}/in/{}", config.ingest.listen, source.name));
    let (signed, request) = request(&args, source, &url)?;
    ctx.output.say(&signed);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let answers = runtime.block_on(send(&args, &url, request)).map_err(|error| unreachable(&url, &error))?;
    report(ctx, &answers)
}

fn unknown(name: &str, config: &Config) -> Failure {
    let names: Vec<&str> = config.sources.iter().map(|s| s.name.as_str()).collect();
    Failure::new(Exit::NotFound, format!("there is no source `{name}`"))
        .next(format!("there are: {}", names.join(", ")))
}

type Headers = Vec<(HeaderName, HeaderValue)>;

/// The one request that all copies are.
fn request(args: &Args, source: &meant::Source, url: &str) -> Result<(String, (Headers, Bytes)), Failure> {
    let now = jiff::Timestamp::now();
    let unique = format!("{:x}", now.as_nanosecond());
    let wish = Wish { kind: &args.kind, unique: &unique, now_seconds: now.as_second() };
    let sample = samples::of(source.provider.map(|p| p.id), wish);
    let body =
        match &args.raw {
            Some(file) => Bytes::from(fs::read(file).map_err(|e| {
                Failure::new(Exit::Failed, format!("cannot read `{}`", file.display())).why(e.to_string())
            })?),
            None => Bytes::from(sample.body),
        };
    let mut headers = sample.headers;
    headers.push((http::header::CONTENT_TYPE, HeaderValue::from_static(sample.content_type)));
    let said = sign(source, url, &mut headers, &body, now.as_second())?;
    Ok((said, (headers, body)))
}

fn sign(source: &meant::Source, url: &str, headers: &mut Headers, body: &Bytes, now: i64) -> Result<String, Failure> {
    let keys = match &source.verification {
        Verification::None => return Ok("not signed: the source says `verify = \"none\"`".to_owned()),
        Verification::Missing { why, .. } => {
            return Err(Failure::new(Exit::Config, format!("cannot sign for source `{}`", source.name)).why(why));
        }
        Verification::Keys(keys) => keys,
    };
    let seen = source.public_url.clone().unwrap_or_else(|| url.to_owned());
    let all = hookonce_core::request::Headers(headers.clone());
    let target = seen.splitn(4, '/').nth(3).map_or_else(|| "/".to_owned(), |path| format!("/{path}"));
    let parts = Parts { method: "POST", target: &target, url: &seen, headers: &all, body };
    let added = signature::sign(keys, &parts, now).map_err(|e| Failure::new(Exit::Failed, e.to_string()))?;
    headers.extend(added);
    let names: Vec<&str> = source.secrets.0.iter().map(|s| s.name.as_str()).collect();
    Ok(format!("signed with secret \"{}\" (scheme {})", names.join("\", \""), keys.scheme().name))
}

async fn send(args: &Args, url: &str, request: (Headers, Bytes)) -> Result<Vec<Answered>, reqwest::Error> {
    let client = reqwest::Client::builder().no_proxy().build()?;
    let copies = (0..args.times).map(|_| one(client.clone(), url.to_owned(), request.clone()));
    if args.parallel {
        return futures_util::future::try_join_all(copies).await;
    }
    let mut answers = Vec::new();
    for copy in copies {
        answers.push(copy.await?);
    }
    Ok(answers)
}

async fn one(
    client: reqwest::Client,
    url: String,
    (headers, body): (Headers, Bytes),
) -> Result<Answered, reqwest::Error> {
    let began = Instant::now();
    let answer = client.post(url).headers(headers.into_iter().collect()).body(body).send().await?;
    let header = |name: &str| answer.headers().get(name).and_then(|v| v.to_str().ok()).map(str::to_owned);
    let (verdict, event) = (header("hookonce-verdict"), header("hookonce-event"));
    Ok(Answered { status: answer.status().as_u16(), verdict, event, took_ms: began.elapsed().as_secs_f64() * 1_000.0 })
}

fn unreachable(url: &str, error: &reqwest::Error) -> Failure {
    Failure::new(Exit::Unreachable, format!("nothing answers at {url}"))
        .why(error.to_string())
        .next("start the server with `hookonce serve --dev`")
}

fn report(ctx: &Context, answers: &[Answered]) -> Result<(), Failure> {
    let copies: Vec<Value> = answers
        .iter()
        .enumerate()
        .map(|(n, a)| json!({ "copy": n + 1, "status": a.status, "verdict": a.verdict, "event": a.event, "took_ms": a.took_ms }))
        .collect();
    let count = |verdict: &str| answers.iter().filter(|a| a.verdict.as_deref() == Some(verdict)).count();
    let (stored, absorbed) = (count("accepted"), count("duplicate"));
    let value = json!({ "stored": stored, "duplicates": absorbed, "answers": copies });
    ctx.output.thing(&value, || {
        let mut lines: Vec<String> = answers.iter().enumerate().map(|(n, a)| line(n + 1, a)).collect();
        let see = answers.iter().find_map(|a| a.event.as_deref()).map(|e| format!("     see: hookonce events get {e}"));
        lines.push(format!(
            "{} stored, {} absorbed.{}",
            counted(stored, "event"),
            counted(absorbed, "duplicate"),
            see.unwrap_or_default()
        ));
        lines.join("\n")
    })?;
    if answers.iter().all(|a| (200..300).contains(&a.status)) {
        return Ok(());
    }
    Err(Failure::new(Exit::Failed, "not every copy was taken")
        .next("`hookonce requests list --verdict refused` says why"))
}

fn line(n: usize, a: &Answered) -> String {
    let event = a.event.as_deref().unwrap_or_default();
    let verdict = a.verdict.as_deref().unwrap_or("refused");
    let tail = match verdict {
        "accepted" => format!("{event}   stored in {:.1} ms", a.took_ms),
        "duplicate" => format!("of {event}"),
        "conflict" => format!("with {event}: same key, other content"),
        _ => String::new(),
    };
    format!("{n:>3}  {}  {verdict:<10}  {tail}", a.status).trim_end().to_owned()
}

fn counted(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}
