//! Claims: what may run now, and what a claimed row that was lost before is to be given.

use crate::lease::{Lease, Token};
use crate::time::Micros;

/// Leases that ended without an outcome, from which a row is run with nothing beside it on its node.
pub const LOST_QUIET: i64 = 3;
/// Dead after five losses alone: 3 + 5.
pub const LOST_DEAD: i64 = 8;

/// The question of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    pub consumer: i64,
    /// How many rows at the most; one random token for each.
    pub tokens: Vec<Token>,
    pub lease: Micros,
    /// The process instance, so that a restart can give back at once what its predecessor held.
    pub owner: i64,
    /// Claim one row that must run with nothing beside it (`lost` ≥ 3) instead of the ordinary ones.
    pub quiet: bool,
}

/// A work row as the claim left it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Claimed {
    pub lease: Lease,
    /// Of the delivery, which a move to the tail keeps.
    pub id: i64,
    pub lane: i64,
    pub event: i64,
    pub consumer: i64,
    pub generation: i64,
    /// Outcomes so far.
    pub attempts: i64,
    /// Leases that ended without an outcome, the one just found included.
    pub lost: i64,
    /// First failure, or the first time that it was put off.
    pub since: Option<Micros>,
    /// Audit row of a person's decision, carried into this run.
    pub decided: Option<i64>,
    /// The delivery's cancel mark.
    pub cancel: bool,
    /// The store's clock at the claim.
    pub now: Micros,
}

/// Mirror M3: due, and whether the set token counts as lost.
pub fn due(at: Micros, now: Micros) -> bool {
    at <= now
}

/// Mirror M3: what a claim makes of `lost`.
pub fn lost(before: i64, token: Option<Token>) -> i64 {
    before + i64::from(token.is_some())
}

/// What to do with a claimed row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Triage {
    Run,
    /// In a transaction of its own; others may run beside it.
    Alone,
    /// With nothing beside it on this node.
    Quiet,
    /// Not run at all: a crash loop ends here (X18).
    Dead,
    Cancelled,
}

pub fn triage(claimed: &Claimed) -> Triage {
    match claimed.lost {
        _ if claimed.cancel => Triage::Cancelled,
        LOST_DEAD.. => Triage::Dead,
        LOST_QUIET.. => Triage::Quiet,
        1.. => Triage::Alone,
        _ => Triage::Run,
    }
}
