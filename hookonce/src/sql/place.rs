//! What sets an event apart from an ordinary one.

use hookonce_core::admit::{Origin, Submission};
use hookonce_core::event::{Digest, EventNo, HoldReason, Item};

#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    pub hold: Option<HoldReason>,
    pub variant: i64,
    /// The event that this one is a copy of.
    pub parent: Option<EventNo>,
}

impl Place {
    pub fn origin(&self, submission: &Submission) -> &'static str {
        match (self.parent, &submission.origin) {
            (Some(_), _) => "copy",
            (None, Origin::Receive) => "receive",
            (None, Origin::Admit { .. }) => "admit",
        }
    }

    /// The guard row that the item has tried: a further content of a known key tries none.
    pub fn guard<'i>(&self, item: &'i Item) -> Option<&'i Digest> {
        item.guard.as_ref().filter(|_| self.variant == 0).map(|guard| &guard.digest)
    }
}
