//! What an `admit` line says, as a submission: `gh/evt-1 body=A agg=repo-7 + gh/evt-2 body=B`.

use std::sync::Arc;

use bytes::Bytes;
use hookonce_core::admit::{Origin, Submission};
use hookonce_core::event::{Digest, Guard, Hash, Item, Key, KeyKind, Mapped};
use hookonce_core::provider::IdGuard;
use hookonce_core::request::Headers;
use hookonce_core::time::Micros;
use sha2::{Digest as _, Sha256};

use super::words::{self, Line};

/// The submission of a line. Several items share one body; each has its own span of it.
pub fn submission(line: &Line, now: Micros) -> Result<Submission, String> {
    let said = line.text.split_once("->").map_or(line.text.as_str(), |(said, _)| said);
    let parts: Vec<Line> = said.split(" + ").map(|part| words::line(line.number, &with_verb(part))).collect();
    let (mut body, mut mapped) = (Vec::new(), Vec::new());
    for (at, part) in parts.iter().enumerate() {
        let bytes = part.option("body").unwrap_or("A").as_bytes();
        let start = body.len() as u64;
        body.extend_from_slice(bytes);
        let span = (parts.len() > 1).then_some((start, body.len() as u64));
        mapped.push(one(part, at as u32, span, now)?);
    }
    let (source, _) = name(parts.first().ok_or("an item is missing")?)?;
    Ok(Submission {
        source: source.into(),
        namespace: line.option("ns").unwrap_or(source).into(),
        received: now,
        target: format!("POST /in/{source}"),
        headers: Headers::default(),
        body: Bytes::from(body),
        secret: Some("main".into()),
        mapped,
        origin: origin(line)?,
    })
}

/// A part behind a `+` has no verb of its own.
fn with_verb(part: &str) -> String {
    if part.trim_start().starts_with("admit ") { part.to_owned() } else { format!("admit {part}") }
}

fn origin(line: &Line) -> Result<Origin, String> {
    Ok(match line.number("unmapped_row")? {
        Some(unmapped) => Origin::Admit { unmapped, actor: "ann".into(), reason: "mapped".into() },
        None => Origin::Receive,
    })
}

fn name(line: &Line) -> Result<(&str, &str), String> {
    line.word(0)?.split_once('/').ok_or_else(|| "an event is named `source/key`".to_owned())
}

fn one(line: &Line, at: u32, span: Option<(u64, u64)>, now: Micros) -> Result<Mapped, String> {
    let (source, key) = name(line)?;
    if let Some(reason) = line.option("unmapped") {
        return Ok(Mapped::Unmapped { item: at, span, reason: reason.to_owned() });
    }
    Ok(Mapped::Item(Box::new(item(line, source, key, at, span, now)?)))
}

/// What stands behind `~` in a body is a volatile value: the fingerprint leaves it out, the body hash does not.
fn item(line: &Line, source: &str, key: &str, at: u32, span: Option<(u64, u64)>, now: Micros) -> Result<Item, String> {
    let namespace: Arc<str> = line.option("ns").unwrap_or(source).into();
    let body = line.option("body").unwrap_or("A");
    let kind = line.option("type").unwrap_or("thing");
    let aggregate = line.option("agg");
    let fixed = body.split('~').next().unwrap_or_default();
    let time = line.duration("time")?;
    Ok(Item {
        source: source.into(),
        digest: digest(&namespace, "provider", key.as_bytes()),
        namespace,
        rule: line.number("rule")?.unwrap_or(1),
        key: Key { kind: KeyKind::Provider, bytes: key.as_bytes().to_vec(), text: key.to_owned() },
        // Type and aggregate are read from unsigned headers here, which the fingerprint covers.
        fingerprint: hash(&[fixed, kind, aggregate.unwrap_or_default()]),
        body_hash: hash(&[body]),
        kind: kind.to_owned(),
        aggregate: aggregate.map(str::to_owned),
        version: line.option("version").map(str::to_owned),
        event_time: time.map(|offset| now.saturating_add(offset)),
        schema_version: None,
        span,
        item: at,
        provider_delivery: line.option("mark").map(str::to_owned),
        attempt_mark: None,
        guard: line.option("guard").map(|text| guard(text, source)).transpose()?,
        hold: line.option("hold").and_then(hookonce_core::event::HoldReason::parse),
    })
}

/// `hold:S`: signed content `S`, and what equal signed content under another id means.
fn guard(text: &str, namespace: &str) -> Result<Guard, String> {
    let (then, content) = text.split_once(':').ok_or("a guard is written `hold:CONTENT`")?;
    let then = match then {
        "hold" => IdGuard::Hold,
        "duplicate" => IdGuard::Duplicate,
        "accept" => IdGuard::Accept,
        other => return Err(format!("`{other}` is no guard")),
    };
    Ok(Guard { digest: digest(namespace, "guard", content.as_bytes()), then })
}

fn hash(parts: &[&str]) -> Hash {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().into()
}

/// Of a namespace, the kind of a key and the key: what the ledger is keyed by.
pub fn digest(namespace: &str, kind: &str, key: &[u8]) -> Digest {
    let whole = hash(&[namespace, kind, &String::from_utf8_lossy(key)]);
    let mut digest = [0; 16];
    digest.copy_from_slice(&whole[..16]);
    digest
}
