//! The key that a receiver of ours sees: `Idempotency-Key` of a gate, `webhook-id` of a message.
//!
//! Made of what the event *is*, never of our row numbers, a clock or chance: after a restore, or with an empty ledger,
//! the same webhook makes the same key, so that a receiver which has seen it knows it again. For that reason nothing
//! in here may ever change; a new form would get a new version word in place of `hk1`.

use crate::event::{Key, KeyKind, Variant};
use crate::frame::Framed;
use crate::id;

const VERSION: &[u8] = b"hk1";

/// The event as its key says it.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    pub namespace: &'a str,
    pub kind: KeyKind,
    pub key: &'a [u8],
    pub variant: Variant,
}

impl<'a> Subject<'a> {
    pub fn of(namespace: &'a str, key: &'a Key, variant: Variant) -> Self {
        Subject { namespace, kind: key.kind, key: &key.bytes, variant }
    }
}

/// The key of one effect of one consumer. `effect` is empty for a delivery itself; `repeat` counts the repetitions that
/// a person has ordered, each of which is meant to be new to the receiver.
pub fn message_key(subject: Subject<'_>, consumer: &str, effect: &str, repeat: i64) -> String {
    let hash = Framed::new()
        .part(VERSION)
        .part(subject.namespace.as_bytes())
        .part(subject.kind.name().as_bytes())
        .part(subject.key)
        .part(&subject.variant.to_be_bytes())
        .part(consumer.as_bytes())
        .part(effect.as_bytes())
        .part(&repeat.to_be_bytes())
        .hash();
    id::base32(&hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject() -> Subject<'static> {
        Subject { namespace: "stripe-main", kind: KeyKind::Provider, key: b"evt_1", variant: 0 }
    }

    /// Computed outside this program. Receivers keep these keys for ever: a change here makes them act twice.
    #[test]
    fn keys_are_pinned() {
        assert_eq!(message_key(subject(), "app", "", 0), "wjsxmggd8a6fzggjg7jkxfvpag18kaewzcepfktrjetkb2pyz3rg");
        let released = Subject { namespace: "crm", kind: KeyKind::Template, key: b"x", variant: -5 };
        assert_eq!(message_key(released, "app", "charge", 2), "hrf1s36n5hfaqq38g1vdnqtn9nsce6xys1j7yhqj6664fyr040jg");
    }

    #[test]
    fn every_part_makes_another_key() {
        let base = subject();
        let keys = [
            message_key(base, "app", "", 0),
            message_key(base, "app", "", 1),
            message_key(base, "app", "mail", 0),
            message_key(base, "ap", "pmail", 0),
            message_key(base, "web", "", 0),
            message_key(Subject { variant: 1, ..base }, "app", "", 0),
            message_key(Subject { key: b"evt_2", ..base }, "app", "", 0),
            message_key(Subject { kind: KeyKind::Body, ..base }, "app", "", 0),
            message_key(Subject { namespace: "stripe", ..base }, "app", "", 0),
        ];
        let apart: std::collections::HashSet<_> = keys.iter().collect();
        assert_eq!(apart.len(), keys.len());
    }
}
