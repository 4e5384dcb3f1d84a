//! The audit chain: each row is bound to the one before it, so that a row edited, dropped or moved shows.

use sha2::{Digest as _, Sha256};

use crate::event::Hash;
use crate::time::Micros;

/// The hash that the first row of a chain stands on.
pub const FIRST: Hash = [0; 32];

/// One decision of a person, as it is hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    pub id: i64,
    pub at: Micros,
    pub actor: &'a str,
    pub action: &'a str,
    pub target: &'a str,
    pub reason: &'a str,
    pub detail: &'a str,
}

/// The hash of a row: over the one before and every field, each with its length, so that no two rows read alike.
pub fn link(prev: &Hash, entry: &Entry<'_>) -> Hash {
    let mut hash = Sha256::new();
    hash.update(prev);
    hash.update(entry.id.to_be_bytes());
    hash.update(entry.at.to_be_bytes());
    for field in [entry.actor, entry.action, entry.target, entry.reason, entry.detail] {
        hash.update((field.len() as u64).to_be_bytes());
        hash.update(field.as_bytes());
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_and_its_place_changes_the_hash() {
        let entry = Entry { id: 1, at: 2, actor: "ann", action: "held.drop", target: "3", reason: "spam", detail: "" };
        let base = link(&FIRST, &entry);
        let others = [
            link(&base, &entry),
            link(&FIRST, &Entry { id: 2, ..entry }),
            link(&FIRST, &Entry { at: 3, ..entry }),
            link(&FIRST, &Entry { actor: "annh", action: "eld.drop", ..entry }),
            link(&FIRST, &Entry { reason: "", detail: "spam", ..entry }),
        ];
        assert!(others.iter().all(|other| *other != base));
    }
}
