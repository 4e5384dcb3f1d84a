//! The right to work until a time. While it holds, nobody else writes that work row.

/// What a settle must show. Epochs can repeat after a restore or a fail-over, so a lease is epoch *and* a random
/// token *and* the store's generation (trap T2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lease {
    pub seq: i64,
    pub epoch: i64,
    pub token: Token,
    /// Generation of the store, raised by restore and promotion.
    pub store: i64,
}

/// 128 random bits, drawn by the claimer.
pub type Token = [u8; 16];

/// Mirror M4: the fence, as SQL tests it.
pub fn holds(lease: &Lease, seq: i64, epoch: i64, token: Option<Token>, store: i64) -> bool {
    lease.seq == seq && lease.epoch == epoch && token == Some(lease.token) && lease.store == store
}
