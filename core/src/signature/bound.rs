//! Secrets that are bound to content: one tenant's key must not sign for another. The conditions are read behind the
//! signature, from bytes that are authentic by then.

use crate::identify::{Path, PathError, Plan, Root, text};

use super::refusal::Refusal;

/// Conditions that all have to hold; none of them: the secret holds for everything.
#[derive(Clone, Debug, Default)]
pub(super) struct Bound {
    plan: Plan,
    wanted: Vec<(usize, Vec<u8>)>,
}

impl Bound {
    /// Pairs of a path and the text that stands there.
    pub(super) fn new(when: &[(String, String)]) -> Result<Bound, PathError> {
        let mut bound = Bound::default();
        for (path, text) in when {
            let path = Path::parse(path)?;
            if path.is_many() || path.root == Root::Parent {
                return Err(PathError { offset: 0, message: "one value of the document is needed".to_owned() });
            }
            bound.wanted.push((bound.plan.slot(&path), text.as_bytes().to_vec()));
        }
        Ok(bound)
    }

    /// Holds for every document.
    pub(super) fn is_free(&self) -> bool {
        self.wanted.is_empty()
    }

    pub(super) fn hold(&self, document: &[u8]) -> Result<(), Refusal> {
        if self.is_free() {
            return Ok(());
        }
        let found = self.plan.document(document).map_err(|_| Refusal::ClaimMismatch)?;
        let holds = |(slot, wanted): &(usize, Vec<u8>)| {
            let value = found.slots.get(*slot).copied().flatten();
            value.and_then(|value| text::of(&value, document)).is_some_and(|text| *text == **wanted)
        };
        if self.wanted.iter().all(holds) { Ok(()) } else { Err(Refusal::ClaimMismatch) }
    }
}
