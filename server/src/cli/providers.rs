//! `hookonce providers`: what is known of the senders, and how sure we are of it.

use hookonce_core::provider::{Confidence, Fallback, IdGuard, Provider};
use hookonce_core::signature::{
    Algorithm, Carrier, Encoding, Hash, KeyForm, Place, Scheme, Signed, Timestamp, catalog,
};
use serde_json::{Value, json};

use super::output::{Cell, Column, Listing};
use super::{Context, Exit, Failure};

/// List the providers whose webhooks are understood, or say everything about one
#[derive(Debug, clap::Args)]
#[command(before_help = "Examples:
  hookonce providers            one line each
  hookonce providers stripe     signature, identity, retries, what to look out for
  hookonce providers -o json    for programs")]
pub struct Args {
    /// One of them
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

pub fn run(args: Args, ctx: &Context) -> Result<(), Failure> {
    match &args.name {
        None => ctx.output.list(&listing()),
        Some(name) => {
            let provider = catalog::provider(name).ok_or_else(|| unknown(name))?;
            ctx.output.thing(&value(provider), || screen(provider))
        }
    }
}

pub fn unknown(name: &str) -> Failure {
    let known: Vec<&str> = catalog::all().iter().map(|provider| provider.id).collect();
    Failure::new(Exit::NotFound, format!("unknown provider `{name}`")).next(format!("known: {}", known.join(", ")))
}

fn listing() -> Listing {
    let shown = ["provider", "name", "signature", "timestamp", "retries_for", "confidence"].map(Column::shown);
    let mut listing = Listing::new(shown);
    for provider in catalog::all() {
        let scheme = provider.schemes.first().copied();
        listing.push(vec![
            Cell::text(provider.id),
            Cell::text(provider.name),
            Cell::maybe(scheme.map(algorithms)),
            Cell::text(scheme.and_then(|s| s.timestamp.as_ref()).map_or("not signed".to_owned(), tolerance)),
            Cell::text(retries_for(provider)),
            Cell::text(format!("{} / {}", sure(provider.confidence.0), sure(provider.confidence.1))),
        ]);
    }
    listing
}

fn screen(provider: &Provider) -> String {
    let mut lines = vec![("provider", format!("{} ({})", provider.name, provider.id))];
    let confidence = [sure(provider.confidence.0), sure(provider.confidence.1)];
    lines.push(("confidence", format!("signature {}, delivery {}", confidence[0], confidence[1])));
    for (at, scheme) in provider.schemes.iter().enumerate() {
        let default = if at == 0 { ", the default" } else { ", only where `scheme` names it" };
        lines.push(("scheme", format!("{}{default}", scheme.name)));
        lines.extend(scheme_lines(scheme));
    }
    lines.extend(provider.handshakes.iter().map(|name| ("handshake", (*name).to_owned())));
    lines.extend(
        identity(provider).into_iter().flat_map(|(name, forms)| forms.iter().map(move |f| (name, (*f).to_owned()))),
    );
    lines.push(("fallback", fallback(provider).to_owned()));
    lines.extend(
        id_guard(provider).map(|guard| ("id guard", format!("{guard}: equal signed content under another id"))),
    );
    lines.push(("methods", provider.methods.join(", ")));
    lines.extend(provider.max_body.map(|most| ("body", format!("at most {most} bytes"))));
    let answer = provider.timeout_seconds.map_or("time-out not known".to_owned(), |s| format!("within {}", seconds(s)));
    lines.push(("answer", answer));
    lines.push(("retries", format!("{}; for {}", provider.retry_text, retries_for(provider))));
    lines.extend(provider.manual_window_seconds.map(|s| ("redelivery", format!("by hand, for {}", seconds(s)))));
    lines.extend(provider.notes.iter().map(|note| ("note", (*note).to_owned())));
    named(&lines)
}

/// The name of a line only where it changes.
fn named(lines: &[(&str, String)]) -> String {
    let before = std::iter::once("").chain(lines.iter().map(|(name, _)| *name));
    lines
        .iter()
        .zip(before)
        .map(|((name, text), last)| format!("{:<11} {text}\n", if *name == last { "" } else { name }))
        .collect()
}

fn scheme_lines(scheme: &Scheme) -> Vec<(&'static str, String)> {
    let at = match &scheme.carrier {
        Carrier::Header(name) => format!("header {name}"),
        Carrier::Query(name) => format!("query parameter {name}"),
    };
    let list = scheme.list.as_deref().map_or(String::new(), |separator| format!(", a list separated by {separator:?}"));
    let mut lines = vec![("", format!("  {at}{list}"))];
    for variant in scheme.variants.iter().chain(scheme.selector.as_ref().map(|selector| &selector.variant)) {
        let text = match variant.encoding {
            Encoding::Hex => "<hex>",
            Encoding::Base64 | Encoding::Base64Url => "<base64>",
        };
        lines.push((
            "",
            format!("  {}{text}  {}, {}", variant.prefix, algorithm(variant.algorithm), key_form(variant.key)),
        ));
    }
    let signed = match &scheme.signed {
        Signed::Template(template) => template.to_string(),
        Signed::Special(_) => "the URL and what the body says; see the notes".to_owned(),
    };
    lines.push(("", format!("  signed: {signed}")));
    let stamp = scheme.timestamp.as_ref().map_or("no timestamp is signed".to_owned(), |stamp| {
        let at = match &stamp.place {
            Place::Header(name) => format!("header {name}"),
            Place::Entry(prefix) => format!("`{prefix}` in the list"),
        };
        format!("timestamp: {at}, {}", tolerance(stamp))
    });
    lines.push(("", format!("  {stamp}")));
    lines
}

fn algorithms(scheme: &Scheme) -> String {
    let mut names: Vec<String> = scheme.variants.iter().map(|variant| algorithm(variant.algorithm)).collect();
    names.extend(scheme.selector.as_ref().map(|selector| algorithm(selector.variant.algorithm)));
    names.dedup();
    names.join(", ")
}

fn algorithm(algorithm: Algorithm) -> String {
    match algorithm {
        Algorithm::Hmac(Hash::Sha1) => "HMAC-SHA1".to_owned(),
        Algorithm::Hmac(Hash::Sha256) => "HMAC-SHA256".to_owned(),
        Algorithm::Hmac(Hash::Sha384) => "HMAC-SHA384".to_owned(),
        Algorithm::Hmac(Hash::Sha512) => "HMAC-SHA512".to_owned(),
        other => format!("{other:?}"),
    }
}

fn key_form(form: KeyForm) -> String {
    match form {
        KeyForm::Text => "keyed with the secret's text as it is".to_owned(),
        KeyForm::Hex => "keyed with the bytes that the secret is the hex of".to_owned(),
        KeyForm::Base64 { prefix } => format!("keyed with the bytes behind {prefix} (base64)"),
        KeyForm::Tagged { public, .. } => format!("verified with the public key {public}<base64>"),
    }
}

fn tolerance(stamp: &Timestamp) -> String {
    match (stamp.past, stamp.future) {
        (None, _) => "signed, age not limited".to_owned(),
        (Some(past), future) if future.unwrap_or(past) == past => format!("±{past} s"),
        (Some(past), future) => format!("-{past} s, +{} s", future.unwrap_or(past)),
    }
}

fn sure(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::High => "high",
        Confidence::Medium => "medium",
        Confidence::Low => "low",
    }
}

fn retries_for(provider: &Provider) -> String {
    match (provider.retries, provider.retry_window_seconds) {
        (Some(false), _) => "no retries".to_owned(),
        (_, Some(window)) => seconds(window),
        (_, None) => "not known".to_owned(),
    }
}

/// Whole days, hours or minutes where it is that.
fn seconds(seconds: u64) -> String {
    let units = [(86_400, "d"), (3_600, "h"), (60, "min")];
    let fit = units.iter().find(|(length, _)| seconds >= *length && seconds.is_multiple_of(*length));
    fit.map_or(format!("{seconds} s"), |(length, unit)| format!("{} {unit}", seconds / length))
}

fn identity(provider: &Provider) -> [(&'static str, &'static [&'static str]); 9] {
    let known = &provider.identity;
    [
        ("key", known.key),
        ("type", known.kind),
        ("aggregate", known.aggregate),
        ("time", known.time),
        ("version", known.version),
        ("delivery", known.delivery_id),
        ("attempt", known.attempt_mark),
        ("volatile", known.volatile),
        ("items", known.items),
    ]
}

fn fallback(provider: &Provider) -> &'static str {
    match provider.fallback {
        Fallback::Body => "body",
        Fallback::Unmapped => "unmapped",
    }
}

fn id_guard(provider: &Provider) -> Option<&'static str> {
    provider.id_guard.map(|guard| match guard {
        IdGuard::Hold => "hold",
        IdGuard::Duplicate => "duplicate",
        IdGuard::Accept => "accept",
    })
}

fn value(provider: &Provider) -> Value {
    let identity: serde_json::Map<String, Value> =
        identity(provider).into_iter().map(|(name, forms)| (name.to_owned(), json!(forms))).collect();
    json!({
        "provider": provider.id,
        "name": provider.name,
        "confidence": { "signature": sure(provider.confidence.0), "delivery": sure(provider.confidence.1) },
        "schemes": provider.schemes.iter().map(|scheme| scheme_value(scheme)).collect::<Vec<_>>(),
        "handshakes": provider.handshakes,
        "identity": identity,
        "fallback": fallback(provider),
        "id_guard": id_guard(provider),
        "methods": provider.methods,
        "max_body": provider.max_body,
        "timeout_seconds": provider.timeout_seconds,
        "retry": {
            "automatic": provider.retries,
            "text": provider.retry_text,
            "delays_seconds": provider.retry_delays_seconds,
            "window_seconds": provider.retry_window_seconds,
            "retry_429": provider.retry_429,
        },
        "manual_window_seconds": provider.manual_window_seconds,
        "notes": provider.notes,
    })
}

fn scheme_value(scheme: &Scheme) -> Value {
    let (header, query) = match &scheme.carrier {
        Carrier::Header(name) => (Some(name), None),
        Carrier::Query(name) => (None, Some(name)),
    };
    let signed = match &scheme.signed {
        Signed::Template(template) => Some(template),
        Signed::Special(_) => None,
    };
    json!({
        "name": scheme.name,
        "algorithms": algorithms(scheme),
        "header": header,
        "query": query,
        "signed": signed,
        "timestamp": scheme.timestamp.as_ref().map(|stamp| json!({ "past": stamp.past, "future": stamp.future })),
    })
}
