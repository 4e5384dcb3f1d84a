//! The shortest way to say what is sent, and who takes it.

#![allow(dead_code, reason = "each test takes what it needs")]

use hookonce_core::admit::{Origin, Submission};
use hookonce_core::consumer::{Consumer, From, OnDead, Order, Pattern, Policy};
use hookonce_core::event::{Hash, Item, Key, KeyKind, Mapped};
use hookonce_core::request::Headers;
use hookonce_core::time::{Micros, SECOND};

pub const T0: Micros = 1_800_000_000 * SECOND;

pub fn consumer(name: &str, order: Order) -> Consumer {
    Consumer {
        id: 0,
        name: name.into(),
        on: vec![Pattern::parse("crm/*").unwrap()],
        order,
        on_dead: OnDead::Hold,
        retry: Policy::default(),
        from: From::Beginning,
        key_name: name.into(),
        pulled: false,
    }
}

/// One event of source `crm`; the aggregate is what stands before the first dash of the key.
pub fn sent(key: &str, body: &str) -> Submission {
    of_items(body.as_bytes(), vec![Mapped::Item(Box::new(item(key, body.as_bytes())))])
}

pub fn of_items(body: &[u8], mapped: Vec<Mapped>) -> Submission {
    Submission {
        source: "crm".into(),
        namespace: "crm".into(),
        received: T0,
        target: "POST /in/crm".into(),
        headers: Headers::default(),
        body: bytes::Bytes::copy_from_slice(body),
        secret: Some("main".into()),
        mapped,
        origin: Origin::Receive,
    }
}

pub fn item(key: &str, body: &[u8]) -> Item {
    let aggregate = key.split_once('-').map(|(aggregate, _)| aggregate.to_owned());
    let hash = hash(body);
    Item {
        source: "crm".into(),
        namespace: "crm".into(),
        rule: 1,
        key: Key { kind: KeyKind::Provider, bytes: key.as_bytes().to_vec(), text: key.to_owned() },
        digest: first(&hash_of(b"key", key.as_bytes())),
        fingerprint: hash,
        body_hash: hash,
        kind: "t".into(),
        aggregate,
        version: None,
        event_time: None,
        schema_version: None,
        span: None,
        item: 0,
        provider_delivery: None,
        attempt_mark: None,
        guard: None,
        hold: None,
    }
}

pub fn hash(bytes: &[u8]) -> Hash {
    hash_of(b"body", bytes)
}

fn hash_of(kind: &[u8], bytes: &[u8]) -> Hash {
    let entry = hookonce_core::audit::Entry {
        id: 0,
        at: 0,
        actor: std::str::from_utf8(kind).unwrap(),
        action: "",
        target: "",
        reason: "",
        detail: &String::from_utf8_lossy(bytes),
    };
    hookonce_core::audit::link(&hookonce_core::audit::FIRST, &entry)
}

fn first(hash: &Hash) -> [u8; 16] {
    hash[..16].try_into().unwrap()
}
