//! A row of the chain of people's decisions: what it says, what it stands on, and how both dialects write it.

use hookonce_core::audit::{Entry, link};
use hookonce_core::event::Hash;
use hookonce_core::time::Micros;

use super::call::Arg;

/// What was decided, by whom and why.
#[derive(Clone, Copy, Debug)]
pub struct Decision<'a> {
    pub actor: &'a str,
    pub action: &'a str,
    pub target: &'a str,
    pub reason: &'a str,
    pub detail: &'a str,
}

/// The row behind the last one, and its hash.
pub fn entry<'a>(before: i64, at: Micros, decision: &Decision<'a>, prev: &Hash) -> (Entry<'a>, Hash) {
    let Decision { actor, action, target, reason, detail } = *decision;
    let entry = Entry { id: before + 1, at, actor, action, target, reason, detail };
    let hash = link(prev, &entry);
    (entry, hash)
}

pub fn args<'a>(entry: &Entry<'a>, prev: &'a Hash, hash: &'a Hash) -> [Arg<'a>; 9] {
    [
        Arg::Int(entry.id),
        Arg::Int(entry.at),
        Arg::Text(entry.actor),
        Arg::Text(entry.action),
        Arg::Text(entry.target),
        Arg::Text(entry.reason),
        Arg::Text(entry.detail),
        Arg::Blob(prev),
        Arg::Blob(hash),
    ]
}
