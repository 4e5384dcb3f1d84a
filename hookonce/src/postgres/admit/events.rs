//! Events as columns: the one wide table.

use hookonce_core::admit::Submission;
use hookonce_core::event::{HoldReason, Item};

use crate::sql::call::Arg;
use crate::sql::place::Place;

#[derive(Debug, Default)]
pub struct Events<'a> {
    id: Vec<i64>,
    namespace: Vec<&'a str>,
    key_kind: Vec<&'a str>,
    key: Vec<&'a [u8]>,
    key_text: Vec<&'a str>,
    variant: Vec<i64>,
    rule: Vec<i64>,
    source: Vec<&'a str>,
    kind: Vec<&'a str>,
    aggregate: Vec<Option<&'a str>>,
    version: Vec<Option<&'a str>>,
    event_time: Vec<Option<i64>>,
    schema_version: Vec<Option<&'a str>>,
    received: Vec<i64>,
    payload: Vec<i64>,
    span: Spans,
    item: Vec<i64>,
    digest: Vec<&'a [u8]>,
    fingerprint: Vec<&'a [u8]>,
    body_hash: Vec<&'a [u8]>,
    secret: Vec<Option<&'a str>>,
    provider_delivery: Vec<Option<&'a str>>,
    attempt_mark: Vec<Option<&'a str>>,
    origin: Vec<&'a str>,
    parent: Vec<Option<i64>>,
    hold: Vec<Option<&'a str>>,
    guard: Vec<Option<&'a [u8]>>,
}

/// Ranges of bytes.
#[derive(Debug, Default)]
pub struct Spans {
    pub start: Vec<Option<i64>>,
    pub end: Vec<Option<i64>>,
}

impl Spans {
    pub fn push(&mut self, span: Option<(u64, u64)>) {
        self.start.push(span.and_then(|(start, _)| i64::try_from(start).ok()));
        self.end.push(span.and_then(|(_, end)| i64::try_from(end).ok()));
    }
}

impl<'a> Events<'a> {
    pub fn push(&mut self, s: &'a Submission, id: i64, payload: i64, item: &'a Item, place: &Place) {
        self.id.push(id);
        self.namespace.push(&item.namespace);
        self.key_kind.push(item.key.kind.name());
        self.key.push(&item.key.bytes);
        self.key_text.push(&item.key.text);
        self.variant.push(place.variant);
        self.rule.push(item.rule);
        self.source.push(&item.source);
        self.kind.push(&item.kind);
        self.aggregate.push(item.aggregate.as_deref());
        self.version.push(item.version.as_deref());
        self.event_time.push(item.event_time);
        self.schema_version.push(item.schema_version.as_deref());
        self.received.push(s.received);
        self.payload.push(payload);
        self.span.push(item.span);
        self.item.push(item.item.into());
        self.digest.push(&item.digest);
        self.fingerprint.push(&item.fingerprint);
        self.body_hash.push(&item.body_hash);
        self.secret.push(s.secret.as_deref());
        self.provider_delivery.push(item.provider_delivery.as_deref());
        self.attempt_mark.push(item.attempt_mark.as_deref());
        self.origin.push(place.origin(s));
        self.parent.push(place.parent);
        self.hold.push(place.hold.map(HoldReason::name));
        self.guard.push(place.guard(item).map(|digest| &digest[..]));
    }

    pub fn args(&self) -> Vec<Arg<'_>> {
        vec![
            Arg::Ints(&self.id),
            Arg::Texts(&self.namespace),
            Arg::Texts(&self.key_kind),
            Arg::Blobs(&self.key),
            Arg::Texts(&self.key_text),
            Arg::Ints(&self.variant),
            Arg::Ints(&self.rule),
            Arg::Texts(&self.source),
            Arg::Texts(&self.kind),
            Arg::OptTexts(&self.aggregate),
            Arg::OptTexts(&self.version),
            Arg::OptInts(&self.event_time),
            Arg::OptTexts(&self.schema_version),
            Arg::Ints(&self.received),
            Arg::Ints(&self.payload),
            Arg::OptInts(&self.span.start),
            Arg::OptInts(&self.span.end),
            Arg::Ints(&self.item),
            Arg::Blobs(&self.digest),
            Arg::Blobs(&self.fingerprint),
            Arg::Blobs(&self.body_hash),
            Arg::OptTexts(&self.secret),
            Arg::OptTexts(&self.provider_delivery),
            Arg::OptTexts(&self.attempt_mark),
            Arg::Texts(&self.origin),
            Arg::OptInts(&self.parent),
            Arg::OptTexts(&self.hold),
            Arg::OptBlobs(&self.guard),
        ]
    }
}
