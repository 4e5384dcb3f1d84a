//! What a node is for. Nodes of one store may share the work in any way, as long as each role is somewhere.

use hookonce::engine::Loops;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Roles {
    /// It takes webhooks.
    pub ingest: bool,
    /// It routes and hands on.
    pub worker: bool,
    /// It answers commands. Health and numbers are there without it.
    pub admin: bool,
    /// It looks after what is left lying.
    pub janitor: bool,
}

impl Roles {
    pub const ALL: Roles = Roles { ingest: true, worker: true, admin: true, janitor: true };

    pub fn loops(self) -> Loops {
        Loops { worker: self.worker, janitor: self.janitor }
    }
}
