//! What may be taken out of a world, to prove that the explorer would find it missing. Switches of the world, not of
//! core: the engine cannot be built without its guards.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mutation {
    /// A settle asks only whether the row is leased, not by whom.
    NoLeaseGuard,
    /// Every delivery gets its work row at once.
    NoLaneRule,
    /// A pass does not ask whether another router was faster, and no unique key stands behind it.
    NoPassFence,
    /// 2xx first, commit later.
    AnswerBeforeCommit,
    /// Whether a key is known is asked in one step and written in another.
    LookThenInsert,
    /// An effect commits by itself, before its settle.
    EffectApart,
    /// A pass lists every consumer of the configuration, however far it has got.
    NoCursors,
    /// A mark to cancel closes the delivery where it stands, head or not.
    CancelInTheMiddle,
    /// A dead letter that holds its lane comes back through the router instead of in place.
    RetryThroughRouter,
    /// Cleaning asks only whether a delivery has left its lane.
    PurgeByOpen,
}
